// A request type: its verdict, where its time goes, and what the requests that somebody picks have in common.
import {compareValues, distribution, histogram, icicle, isInBin, largestDifference} from "./charts.js";
import {el} from "./dom.js";
import {clock, count, duration, name, percent, serviceOf, shortName, things, value} from "./format.js";
import {explanationOf, groupsOf} from "./model.js";
import {causes, choice, heading, when} from "./pieces.js";
import {linkTo, linkWith, matches} from "./state.js";

const KEYS_SHOWN = 8, REQUESTS_SHOWN = 100;

/** A key is shown where the distributions differ by a tenth, and by three times what chance makes on average of
 * samples of these sizes: of ten keys that make no difference hardly one is shown. */
const DISTANCE_MIN = .1, CHANCES_MIN = 3;

/** No selection, for links that make another one. */
const NONE = {from: undefined, to: undefined, key: undefined, value: undefined, low: undefined, high: undefined, none: undefined};

// ---- what is selected ----

/** The ranges of the modes, the fastest first; the last ends at infinity. */
function modesOf(group) {
    const cuts = group.modes.cuts_ns;
    if (!cuts.length)
        return [];
    return [0, ...cuts].map((from, i) => ({from: Math.round(from), to: i < cuts.length ? Math.round(cuts[i]) : undefined,
                                           weight: group.modes.weights[i]}));
}

/** Requests from here on are slow unless something else is selected: those of the slowest mode, or the slowest tenth. */
function slowFrom(group) {
    const modes = modesOf(group);
    return modes.length ? modes[modes.length - 1].from : group.p90_ns;
}

/** What the address selects: {test(request), words, isDefault}. */
function selectionOf(state, group, keys) {
    const column = state.key === undefined ? -1 : keys.indexOf(state.key);
    if (column >= 0) {
        const bin = state.none ? {none: true} : state.value !== undefined ? {value: state.value} :
            {low: Number(state.low), high: Number(state.high)};
        const says = state.none ? "missing" : state.value ?? (state.low === state.high ? state.low : `${state.low} – ${state.high}`);
        return {test: request => isInBin(bin, request.values[column]), words: `with ${state.key} ${says}`};
    }
    const from = Number(state.from ?? NaN), to = Number(state.to ?? Infinity);
    if (Number.isFinite(from))
        return {from, to, test: request => request.duration_ns >= from && request.duration_ns < to,
                words: Number.isFinite(to) ? from > 0 ? `of ${duration(from)} to ${duration(to)}` : `below ${duration(to)}` :
                    `of ${duration(from)} or more`};
    const slow = slowFrom(group);
    return {from: slow, to: Infinity, isDefault: true, test: request => request.duration_ns >= slow,
            words: `of ${duration(slow)} or more`};
}

// ---- latency ----

function modeLinks(state, group) {
    const modes = modesOf(group);
    return modes.length > 0 && el("ul", {class: "modes", "data-key": "modes"}, modes.map((mode, i) =>
        el("li", {}, el("a", {href: linkWith(state, {...NONE, from: mode.from, to: mode.to}),
                              "aria-current": Number(state.from) === mode.from && String(state.to) === String(mode.to) && "true"},
                       el("b", {}, i === 0 ? "Fast" : i === modes.length - 1 ? "Slow" : "Medium"), ` ${percent(mode.weight)} · about `,
                       duration(group.modes.centers_ns[i])))));
}

function latency(state, group, selection) {
    const isSelected = (low, high) => selection.from !== undefined && Math.sqrt(low * high) >= selection.from &&
        Math.sqrt(low * high) < selection.to;
    return el("figure", {"data-key": "latency"},
        el("figcaption", {}, "Latency ", el("span", {class: "dim"},
           `${things(group.count, "request")} · p50 ${duration(group.p50_ns)} · p90 ${duration(group.p90_ns)} · p99 ${duration(group.p99_ns)}`)),
        histogram(group.histogram, "Latency; pick a bar to select its requests", {
            height: 110, part: innerWidth > 1200 ? .45 : .8, isSelected,
            linkOf: (from, to) => linkWith(state, {...NONE, from: Math.floor(from), to: Math.ceil(to)})}),
        modeLinks(state, group));
}

// ---- what the selected requests have in common ----

function binLink(state, key, bin) {
    if (bin.others)
        return null;
    return linkWith(state, {...NONE, key, ...(bin.none ? {none: 1} : bin.value !== undefined ? {value: bin.value} :
                                              {low: bin.low, high: bin.high})});
}

/** "75 % have 12 or more; of the others 3 %": where both differ most. */
function difference(compared) {
    const {selected, rest, words} = largestDifference(compared);
    return [el("b", {}, percent(selected)), ` have ${words}; of the others ${percent(rest)}`];
}

function keyFigure(state, {key, compared, explains}) {
    const id = `key-${key}`;
    return el("figure", {class: "key", "data-key": key, "aria-labelledby": id},
        el("figcaption", {}, el("code", {id}, key), explains && [" ", el("span", {class: "badge"}, "explains it"), " "],
           el("span", {class: "says"}, difference(compared))),
        distribution(compared, `${key}: selected requests against the others`, bin => binLink(state, key, bin)));
}

/** For each key the distribution among selected requests over that among the others, the most different first. */
function inCommon(state, verdict, table, selected, rest) {
    const rows = table.keys.map((key, i) => ({
        key, explains: verdict.explanation?.key === key,
        compared: compareValues(selected.map(request => request.values[i]), rest.map(request => request.values[i]))}));
    const differing = rows.filter(row => row.compared && (row.explains ||
        row.compared.distance >= Math.max(DISTANCE_MIN, CHANCES_MIN * row.compared.byChance)));
    const shown = differing.filter(row => matches(state.q, row.key)), list = shown.length ? shown : differing;
    list.sort((a, b) => b.explains - a.explains || b.compared.distance - a.compared.distance);
    const alike = rows.filter(row => row.compared).length - differing.length;
    return el("section", {"data-key": "common", "aria-labelledby": "common"},
        el("h2", {id: "common"}, "What the selected requests have in common"),
        el("p", {class: "legend"}, el("span", {class: "swatch selected"}), `${things(selected.length, "selected request")} `,
           el("span", {class: "swatch rest"}), `${things(rest.length, "other")}`,
           el("span", {class: "dim"}, " Each column is the share of requests with that value.")),
        list.length ? el("div", {class: "keys"}, list.slice(0, KEYS_SHOWN).map(row => keyFigure(state, row))) :
            el("p", {class: "empty"}, selected.length && rest.length ? "No key distinguishes them." :
                "Nothing to compare; select some of the requests."),
        alike > 0 && el("p", {class: "dim"}, `${things(alike, "other key")} ${alike === 1 ? "is" : "are"} about the same in both.`));
}

// ---- requests ----

/** The id of a trace: its beginning where that leads to the whole, else all of it, to be copied. */
function traceCell(request, url) {
    const id = request.trace_id;
    return el("th", {scope: "row"}, url ?
        el("a", {href: url.replaceAll("{trace_id}", encodeURIComponent(id)), rel: "noreferrer", title: id}, el("code", {}, id.slice(0, 8))) :
        el("code", {}, id));
}

function requestTable(state, table, selected, selection, url) {
    const columns = table.keys.map((key, i) => [key, i]).filter(([, i]) => new Set(selected.map(r => value(r.values[i]))).size > 1 ||
                                                                     table.keys[i] === state.key).slice(0, 6);
    const most = Math.max(...selected.map(request => request.duration_ns), 1);
    return el("section", {"data-key": "requests", "aria-labelledby": "requests"},
        el("h2", {id: "requests"}, `${things(selected.length, "request")} ${selection.words}`),
        !url && el("p", {class: "dim"}, "Start pythiad with ", el("code", {}, "--trace-url"), " to link them to your tracing tool."),
        el("div", {class: "wide", tabindex: 0, role: "region", "aria-label": "Table of requests"}, el("table", {class: "requests"},
           el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "Trace"), el("th", {scope: "col", colspan: 2}, "Duration"),
                              el("th", {scope: "col"}, "Began"),
                              columns.map(([key]) => el("th", {scope: "col"}, el("code", {}, key))))),
           el("tbody", {}, selected.slice(0, REQUESTS_SHOWN).map(request =>
               el("tr", {"data-key": request.trace_id}, traceCell(request, url),
                  el("td", {class: "n"}, duration(request.duration_ns)),
                  el("td", {class: "bar"}, el("svg", {width: "100%", height: 10, "aria-hidden": true},
                                              el("rect", {class: "rest", width: `${100 * request.duration_ns / most}%`, height: 10, rx: 2}))),
                  el("td", {}, clock(request.start_unix_ns)),
                  columns.map(([, i]) => el("td", {}, value(request.values[i])))))))),
        selected.length > REQUESTS_SHOWN && el("p", {class: "dim"}, `The slowest ${REQUESTS_SHOWN} are listed.`));
}

// ---- the view ----

/** Two groups of one type never share a title. */
function groupTitle(group, i) {
    if (!group.unlike)
        return i === 0 || group.level === 0 ? "Most common path" : `Path ${i + 1}`;
    const passes = (group.unlike.passes || []).map(shortName), lacks = (group.unlike.lacks || []).map(shortName);
    return passes.length ? `with ${passes[0]}` : lacks.length ? `without ${lacks[0]}` : `Path ${i + 1}`;
}

function story(verdict, group) {
    const explanation = explanationOf(verdict, group);
    return el("div", {class: "story", "data-key": "story"},
        causes(verdict),
        explanation ? el("p", {class: "when"}, when(explanation)) : verdict.why && el("p", {class: "when"}, verdict.why),
        verdict.instance && el("p", {class: "dim"}, verdict.instance),
        verdict.standing && el("p", {class: "dim"}, verdict.standing),
        verdict.also && el("p", {class: "dim"}, verdict.also), verdict.change && el("p", {class: "dim"}, verdict.change));
}

/** The group that a type's view shows; its requests are fetched. */
export function groupOfView(state, data) {
    const verdict = data.verdicts.find(one => one.request_type === state.id);
    if (!verdict)
        return undefined;
    const groups = groupsOf(data.groups, verdict);
    return groups.find(group => group.id === state.group) || groups[0];
}

export function typeView(state, data) {
    const verdict = data.verdicts.find(one => one.request_type === state.id), back = linkTo("findings", undefined);
    const crumb = el("p", {class: "crumb", "data-key": "crumb"}, el("a", {href: back}, "Findings"));
    if (!verdict)
        return [crumb, heading(data.verdicts.length ? "No such request type" : "No cycle has ended yet"),
                el("p", {class: "empty"}, state.id)];
    const groups = groupsOf(data.groups, verdict), group = groupOfView(state, data), table = group && data.requests.get(group.id);
    const title = heading(name(verdict.request_type), serviceOf(state.id) && el("p", {class: "eyebrow"}, serviceOf(state.id)));
    if (!group)
        return [crumb, title, story(verdict), el("p", {class: "empty"}, "The last cycle had no requests of this type.")];
    const selection = selectionOf(state, group, table?.keys || []), requests = table?.requests || [];
    const selected = requests.filter(selection.test), rest = requests.filter(request => !selection.test(request));
    return [
        crumb, title, story(verdict, group),
        groups.length > 1 && choice("Requests by their path", groups.map((one, i) => [one.id, `${groupTitle(one, i)} (${count(one.count)})`]),
                                    group.id, id => linkWith(state, {...NONE, group: id})),
        el("div", {class: "drawn wide-drawn", "data-key": "drawn"}, latency(state, group, selection),
           group.edges.length > 0 && el("figure", {"data-key": "time"},
              el("figcaption", {}, "Where the time goes ", el("span", {class: "dim"}, `mean ${duration(group.mean_ns)}; coloured by the share of the variance`)),
              icicle(group, "Where the time goes", point => linkTo("points", undefined, {q: point, type: state.id})))),
        !selection.isDefault && el("p", {class: "selection", "data-key": "selection"}, `Selected: requests ${selection.words} `,
                                   el("a", {href: linkWith(state, NONE)}, "Select the slow ones")),
        table ? [inCommon(state, verdict, table, selected, rest),
                 requestTable(state, table, selected, selection, data.status.trace_url)] :
            el("p", {class: "empty", "data-key": "loading"}, "Loading the requests…"),
    ];
}
