// The history of decisions with their reasons, and one decision: what it expected, and what came of it.
import {el, svgLink} from "./dom.js";
import {ago, clock, count, duration, name, percent, things, age} from "./format.js";
import {decisionId, decisionOf, decisionVerb, isDecisionInRange} from "./model.js";
import {choice, heading, nothingMatches, ranges} from "./pieces.js";
import {linkTo, linkWith, matches} from "./state.js";

const KINDS = [["all", "All"], ["opened", "Opened"], ["closed", "Closed"]];
const ROWS_MAX = 500;

const EFFECTS = {
    explains: "It explains a share of the latency variance.",
    does_not_pay: "It was not worth its cost.",
    not_passed: "No critical path hits it.",
    too_few: "Too few requests; it will be measured again.",
};

// ---- the timeline ----

function place(decision, begin, end) {
    return `${(100 * (end > begin ? (decision.unix_ns - begin) / (end - begin) : .5)).toFixed(2)}%`;
}

/** Every decision as a mark: what was opened above the line, what was closed below it. */
function strip(decisions) {
    const begin = decisions[decisions.length - 1].unix_ns, end = decisions[0].unix_ns;
    return el("figure", {class: "strip", "data-key": "strip"},
        el("svg", {width: "100%", height: 74, role: "group", "aria-label": "Decisions over time", "data-arrows": true},
           el("svg", {x: 10, y: 0, width: "100%", height: 74, class: "inset"},
              el("line", {x1: 0, x2: "100%", y1: 28, y2: 28}),
              decisions.slice(0, ROWS_MAX).reverse().map((decision, i) => {
                  const says = `${decisionVerb(decision)} ${decision.trace_point}, ${clock(decision.unix_ns)}`;
                  return svgLink({href: linkTo("decision", decisionId(decision)), "aria-label": says, tabindex: i ? -1 : 0},
                      el("title", {}, says),
                      el("svg", {x: place(decision, begin, end), class: "mark", overflow: "visible"},
                         el("path", {class: decision.open ? "opened" : "closed",
                                     d: decision.open ? "M-6 24 L0 12 L6 24 Z" : "M-6 32 L0 44 L6 32 Z"})));
              }),
              el("text", {x: 0, y: 68}, clock(begin)),
              end > begin && el("text", {x: "100%", y: 68, "text-anchor": "end"}, clock(end)))));
}

function row(decision) {
    return el("li", {class: decision.open ? "opened" : "closed", "data-key": decisionId(decision)},
        el("span", {class: "at dim"}, clock(decision.unix_ns), decision.cycle !== null && `, cycle ${count(decision.cycle)}`),
        el("div", {},
           el("p", {class: "what"}, el("a", {href: linkTo("decision", decisionId(decision))},
              `${decisionVerb(decision)} `, name(decision.trace_point, {class: "name strong"})),
              decision.request_type && [" for ", name(decision.request_type)]),
           el("p", {class: "dim"}, decision.reason)));
}

export function decisionsView(state, data) {
    const kind = state.kind || "all";
    const shown = data.decisions.filter(decision => isDecisionInRange(decision, state.range, data.status) &&
        (kind === "all" || (kind === "opened") === decision.open) &&
        matches(state.q, decision.trace_point, decision.request_type, decision.reason));
    const last = data.decisions[0];
    return [
        heading(last ? things(shown.length, "decision") : "No decision yet",
                last ? el("p", {class: "dim"}, "The last: ", decisionVerb(last), " ", name(last.trace_point), ", ", ago(last.unix_ns)) :
                    el("p", {class: "dim"}, "pythiad decides at the end of each cycle what to open and what to close."),
                ranges(state), choice("Kind", KINDS, kind, one => linkWith(state, {kind: one === "all" ? undefined : one}))),
        shown.length > 1 && strip(shown),
        el("ol", {class: "history", "data-key": "history"}, shown.slice(0, ROWS_MAX).map(row)),
        shown.length > ROWS_MAX && el("p", {class: "dim"}, `The last ${ROWS_MAX} are listed; search to see others.`),
        last && !shown.length && nothingMatches(state, {kind: undefined}),
    ];
}

// ---- one decision ----

function figure(title, ...text) {
    return text.flat(Infinity).some(Boolean) && el("div", {}, el("dt", {}, title), el("dd", {}, text));
}

/** What the cycle measured in which the opened point was seen first. */
function effectOf(decision, data) {
    if (!decision.open || decision.start_unix_ns !== data.status.started_unix_ns)
        return null;
    for (const cycle of data.cycles)
        for (const effect of cycle.effects || [])
            if (effect.trace_point === decision.trace_point && effect.opened_in === decision.cycle)
                return {...effect, cycle: cycle.cycle};
    return null;
}

/** The other decision about the same point that came next, or before. */
function neighbour(decision, data, open, isAfter) {
    const others = data.decisions.filter(one => one.trace_point === decision.trace_point && one.open === open &&
        (isAfter ? one.unix_ns > decision.unix_ns : one.unix_ns < decision.unix_ns));
    return isAfter ? others[others.length - 1] : others[0];
}

function expected(decision) {
    return el("section", {class: "half"}, el("h2", {}, decision.open ? "Expected" : "Why"),
        el("dl", {},
           figure("Reason", decision.reason),
           decision.open && figure("Probability that the cause is there", decision.inside !== null && percent(decision.inside)),
           figure("Cost", decision.cost_ns > 0 && `${duration(decision.cost_ns)} per request`),
           figure("Price of a hit", decision.price_ns &&
                  `${duration(decision.price_ns)} (${decision.price_known === "measured" ? "measured" : decision.price_known})`)));
}

function linkToDecision(decision) {
    return el("a", {href: linkTo("decision", decisionId(decision))}, decisionVerb(decision), " ", ago(decision.unix_ns));
}

function got(decision, data) {
    const effect = effectOf(decision, data), point = data.points.find(one => one.trace_point === decision.trace_point);
    const after = decision.open && neighbour(decision, data, false, true);
    const before = !decision.open && neighbour(decision, data, true, false);
    const seen = decision.open ? after || (point?.wanted ? point : null) : decision;
    return el("section", {class: "half"}, el("h2", {}, "Got"),
        el("dl", {},
           effect && figure("Result", EFFECTS[effect.verdict] || effect.verdict, ` Measured in cycle ${count(effect.cycle)}.`),
           effect && figure("Latency variance inside it", Number.isFinite(effect.inside) && effect.inside !== null &&
                            [percent(effect.inside), ` (${Math.round(100 * effect.inside_low)}–${Math.round(100 * effect.inside_high)} %)`]),
           effect && figure("Requests that hit it", effect.passed !== undefined && `${count(effect.passed)} of ${count(effect.requests)}`),
           seen && figure("While it was open", `${things(seen.spans ?? 0, "span")} of ${things(seen.requests ?? 0, "request")}`),
           after && figure("Closed again", linkToDecision(after), ` after ${age((after.unix_ns - decision.unix_ns) / 1e9)}: ${after.reason}`),
           before && figure("Opened", linkToDecision(before), `, ${age((decision.unix_ns - before.unix_ns) / 1e9)} earlier: ${before.reason}`),
           decision.open && !after && figure("Now", point ? point.wanted ? "still open" : "closed" : "no longer known")),
        !effect && !seen && !before && el("p", {class: "dim"}, "Not measured yet; that takes another cycle with enough requests."));
}

export function decisionView(state, data) {
    const decision = decisionOf(data.decisions, state.id);
    const crumb = el("p", {class: "crumb", "data-key": "crumb"}, el("a", {href: linkTo("decisions")}, "Decisions"));
    if (!decision)
        return [crumb, heading("No such decision"), el("p", {class: "empty"}, "It is not among the decisions still kept.")];
    const verb = decisionVerb(decision);
    return [
        crumb,
        heading([verb[0].toUpperCase() + verb.slice(1), " ", name(decision.trace_point)],
                el("p", {class: "dim"}, ago(decision.unix_ns), decision.cycle !== null && `, at the end of cycle ${count(decision.cycle)}`,
                   decision.request_type && [", for requests of ", el("a", {href: linkTo("type", decision.request_type)}, name(decision.request_type))])),
        el("div", {class: "halves", "data-key": "halves"}, expected(decision), got(decision, data)),
        el("p", {class: "foot"}, el("a", {href: linkTo("points", undefined, {q: decision.trace_point})}, "The trace point"), " · ",
           el("a", {href: linkTo("decisions", undefined, {q: decision.trace_point})}, "All decisions about it")),
    ];
}
