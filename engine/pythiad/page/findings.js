// What was found: a card for each request type with a cause, the worst first; the others in a list.
import {histogram, icicle} from "./charts.js";
import {el} from "./dom.js";
import {ago, count, duration, name, percent, serviceOf, shortName, things} from "./format.js";
import {explanationOf, isVerdictInRange, rankVerdicts} from "./model.js";
import {causes, heading, nothingMatches, ranges, when} from "./pieces.js";
import {linkTo, matches} from "./state.js";

const OTHERS = {
    searching: "Still searching",
    learning: "Learning the trace points",
    nothing: "Nothing stands out",
    too_few: "Too few requests",
};

/** The words by which a verdict is found. */
function textsOf({verdict, groups}) {
    return [verdict.request_type, verdict.sentence, ...groups.flatMap(group =>
        [...group.explanations.map(one => one.key), ...group.edges.flatMap(edge => edge.context)])];
}

/** The slow requests of a group, as its modes or its explanation part them. */
function isSlow(group, low) {
    const cuts = group.modes.cuts_ns;
    return cuts.length > 0 && low >= cuts[cuts.length - 1] * .97;
}

function card({verdict, groups, share}) {
    const group = groups[0], explanation = explanationOf(verdict, group);
    const title = verdict.request_type, link = linkTo("type", title);
    return el("article", {class: "card", "data-key": title, "aria-labelledby": `title-${title}`},
        el("div", {class: "told"},
           el("p", {class: "eyebrow"}, serviceOf(title) && [serviceOf(title), " · "],
              group ? `${percent(share)} of all latency variance` : "no requests in the last cycle"),
           el("h2", {id: `title-${title}`}, el("a", {href: link, title}, shortName(title))),
           causes(verdict),
           explanation ? el("p", {class: "when"}, when(explanation)) : verdict.why && el("p", {class: "when"}, verdict.why),
           el("p", {class: "meta"},
              el("span", {class: `confidence ${verdict.confidence}`}, `${verdict.confidence} confidence`),
              verdict.since_unix_ns && el("span", {}, "found ", ago(verdict.since_unix_ns)),
              group && el("span", {}, things(verdict.requests, "request"), " in the last cycle")),
           verdict.instance && el("p", {class: "dim"}, verdict.instance),
           verdict.also && el("p", {class: "dim"}, verdict.also),
           verdict.change && el("p", {class: "dim"}, verdict.change)),
        group && el("div", {class: "drawn"},
           el("figure", {},
              el("figcaption", {}, "Latency", el("span", {class: "dim"},
                 ` p50 ${duration(group.p50_ns)} · p90 ${duration(group.p90_ns)} · p99 ${duration(group.p99_ns)}`)),
              histogram(group.histogram, `Latency of ${title}`, {
                  height: 64, part: innerWidth > 1000 ? .5 : .8, isSelected: low => isSlow(group, low),
                  linkOf: (from, to) => linkTo("type", title, {from: Math.floor(from), to: Math.ceil(to)})})),
           group.edges.length > 0 && el("figure", {},
              el("figcaption", {}, "Where the time goes", el("span", {class: "dim"}, " mean; coloured by the share of the variance")),
              icicle(group, `Where the time of ${title} goes`, point => linkTo("points", undefined, {q: point, type: title})))));
}

function otherRow({verdict, groups, share}) {
    const group = groups[0];
    return el("tr", {"data-key": verdict.request_type},
              el("th", {scope: "row"}, el("a", {href: linkTo("type", verdict.request_type)}, name(verdict.request_type))),
              el("td", {}, OTHERS[verdict.state]),
              el("td", {class: "n", "data-label": "requests"}, count(verdict.requests)),
              el("td", {class: "n", "data-label": "mean"}, duration(group?.mean_ns)),
              el("td", {class: "n", "data-label": "of the variance"}, percent(share)));
}

function others(list) {
    return list.length > 0 && el("section", {"data-key": "others", "aria-labelledby": "others"},
        el("h2", {id: "others"}, "Other request types"),
        el("table", {class: "stack"},
           el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "Request type"), el("th", {scope: "col"}, "State"),
                              el("th", {scope: "col", class: "n"}, "Requests"), el("th", {scope: "col", class: "n"}, "Mean"),
                              el("th", {scope: "col", class: "n"}, "Of all variance"))),
           el("tbody", {}, list.map(otherRow))));
}

/** The answer in a sentence. */
function answer(status, verdicts, found) {
    if (status.doing === "stops")
        return "pythiad is stopping.";
    if (status.doing === "off")
        return "pythiad is off: all trace points are closed.";
    if (!verdicts.length)
        return status.learning ? "Learning the trace points…" : "Watching; no cycle has ended yet.";
    if (found)
        return `${found} of ${things(verdicts.length, "request type")} ${found === 1 ? "has" : "have"} a known cause`;
    return verdicts.some(verdict => verdict.state === "searching") ? "Searching; no cause is known yet" : "Nothing stands out";
}

function notes(status) {
    return [
        status.degraded && el("p", {class: "warn"},
            "The state cannot be written: decisions of this run would be lost by a restart."),
        status.doing === "observes" && el("p", {class: "warn"}, "pythiad only observes: it switches no trace point."),
        status.doing === "off" && el("p", {class: "warn"}, "Turn it on again with ", el("code", {}, "pythia ctl on"), "."),
    ];
}

export function findingsView(state, data) {
    const ranked = rankVerdicts(data.verdicts, data.groups).filter(one => isVerdictInRange(one.verdict, state.range));
    const shown = ranked.filter(one => matches(state.q, ...textsOf(one)));
    const found = data.verdicts.filter(verdict => verdict.state === "found").length, {status} = data;
    return [
        heading(answer(status, data.verdicts, found),
                el("p", {class: "dim"}, `${things(status.requests, "request")} of ${things(status.request_types, "type")}, `,
                   `${things(status.spans, "span")}, ${things(status.cycles, "cycle")} since pythiad started `, ago(status.started_unix_ns)),
                notes(status), ranges(state)),
        el("div", {class: "cards", "data-key": "cards"}, shown.filter(one => one.verdict.state === "found").map(card)),
        others(shown.filter(one => one.verdict.state !== "found")),
        data.verdicts.length > 0 && shown.length === 0 && nothingMatches(state),
        data.verdicts.length > 0 && el("p", {class: "foot", "data-key": "foot"},
            el("a", {href: "/report", "data-do": "report"}, "Full report of the last cycle")),
    ];
}
