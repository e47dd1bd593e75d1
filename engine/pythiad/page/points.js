// Trace points: what is open and why, as the tree of contexts in which a request type calls them.
import {el} from "./dom.js";
import {ago, count, duration, name, serviceOf, shortName, things} from "./format.js";
import {decisionId, decisionVerb} from "./model.js";
import {choice, heading, nothingMatches} from "./pieces.js";
import {linkTo, linkWith, matches} from "./state.js";

const STATES = [["all", "All"], ["open", "Open"], ["closed", "Closed"], ["pinned", "Pinned"], ["fixed", "Not switchable"]];
const ROWS_MAX = 2000;

/** Is it open or closed whatever the search decides: by hand, or because its program says so? */
function isPinned(point) {
    return Boolean(point.pin || point.pinned);
}

function isOpenAtSome(point) {
    return Boolean(point.places || point.closed_places) || (point.open_instances > 0 && point.open_instances < point.instances);
}

/** What a point is, in words; the first is its state. */
export function pointStates(point) {
    return [
        !point.switchable ? "not switchable" : point.wanted ? "open" : "closed",
        isPinned(point) && "pinned", point.quarantined && "quarantined", point.mute && "silent",
        point.switchable && point.result !== "applied" && point.result, point.note,
        point.wanted && isOpenAtSome(point) && `at ${point.open_instances} of ${things(point.instances, "instance")}`,
        point.types && `only for ${point.types.map(shortName).join(", ")}`,
    ].filter(Boolean);
}

function isOfState(point, state) {
    switch (state) {
    case "open": return point.switchable && point.wanted;
    case "closed": return point.switchable && !point.wanted;
    case "pinned": return isPinned(point);
    case "fixed": return !point.switchable;
    default: return true;
    }
}

function price(point) {
    if (!point.price_ns)
        return null;
    return el("span", {title: point.price_known === "measured" ? "measured in the program" : "assumed, or expected from other trace points"},
              `${point.price_known === "measured" ? "" : "about "}${duration(point.price_ns)} per hit`);
}

function buttons(point) {
    if (!point.switchable)
        return null;
    const id = point.trace_point;
    return el("span", {class: "buttons"},
        el("button", {type: "button", "data-do": point.wanted ? "close" : "open", "data-point": id,
                      "aria-label": `${point.wanted ? "Close" : "Open"} ${id}`}, point.wanted ? "Close" : "Open"),
        point.pin && el("button", {type: "button", "data-do": "unpin", "data-point": id, "aria-label": `Unpin ${id}`}, "Unpin"));
}

/** A point in a line: what it is, what it costs, and why it is so. */
function pointLine(point, id, decision, context) {
    if (!point)
        return el("div", {class: "point"}, el("span", {class: "who"}, el("span", {class: "dot unknown", "aria-hidden": true}), name(id),
                  el("span", {class: "state"}, " not seen since pythiad started")));
    const [first, ...more] = pointStates(point);
    return el("div", {class: "point"},
        el("span", {class: "who"}, el("span", {class: `dot ${point.switchable ? first : "fixed"}`, "aria-hidden": true}), name(id), " ", el("span", {class: "state"}, first), more.map(word => [" ", el("span", {class: "badge"}, word)])),
        el("span", {class: "figures dim"},
           el("span", {}, things(point.hits, "hit")), price(point),
           context && el("span", {}, `${(context.calls / Math.max(1, context.requests)).toFixed(1)} calls a request`),
           decision && el("a", {href: linkTo("decision", decisionId(decision)), title: decision.reason},
                          `${decisionVerb(decision)} `, ago(decision.unix_ns))),
        buttons(point));
}

// ---- as a tree ----

/** Contexts as a tree, without those that neither match nor have a match below them. */
function growContexts(list, keep) {
    const nodes = list.map((context, i) => ({context, key: `${i}-${context.trace_point}`, children: [], kept: keep(context.trace_point)}));
    for (let i = list.length - 1; i >= 0; i--) {
        const parent = list[i].parent;
        if (parent !== null) {
            nodes[parent].children.unshift(nodes[i]);
            nodes[parent].kept ||= nodes[i].kept;
        }
    }
    return nodes.filter((node, i) => list[i].parent === null);
}

function branch(node, lineOf) {
    const children = node.children.filter(child => child.kept);
    return el("li", {"data-key": node.key},
        children.length ? el("details", {open: true}, el("summary", {"aria-label": `Below ${node.context.trace_point}`}),
                             lineOf(node.context), el("ul", {}, children.map(child => branch(child, lineOf)))) :
            lineOf(node.context));
}

/** Points that are in no context of the type, by service. */
function byService(points) {
    const services = new Map();
    for (const point of points) {
        const service = serviceOf(point.trace_point) || point.target;
        services.set(service, [...(services.get(service) || []), point]);
    }
    return [...services].sort(([a], [b]) => a < b ? -1 : 1);
}

// ---- the view ----

/** The request type whose tree is shown; undefined: none. */
export function typeOfView(state, data) {
    return data.types.find(type => type.request_type === state.type)?.request_type;
}

function typePicker(state, data) {
    return data.types.length > 0 && el("p", {class: "picker", "data-key": "picker"},
        el("label", {for: "type"}, "Contexts of "),
        el("select", {id: "type", "data-pick": "type"},
           el("option", {value: "", selected: !state.type}, "all trace points, by service"),
           data.types.map(type => el("option", {value: type.request_type, selected: type.request_type === state.type},
                                     `${shortName(type.request_type)} (${count(type.contexts)})`))));
}

export function pointsView(state, data) {
    const points = new Map(data.points.map(point => [point.trace_point, point])), last = new Map();
    for (const decision of data.decisions)
        if (!last.has(decision.trace_point))
            last.set(decision.trace_point, decision);
    const shows = state.show || "all";
    const keep = id => matches(state.q, id) && (shows === "all" || (points.has(id) && isOfState(points.get(id), shows)));
    const lineOf = context => pointLine(points.get(context.trace_point), context.trace_point, last.get(context.trace_point),
                                        context.calls === undefined ? null : context);
    const tree = data.contexts.get(typeOfView(state, data));
    const roots = tree ? growContexts(tree.contexts, keep).filter(node => node.kept) : [];
    const flat = tree ? [] : data.points.filter(point => keep(point.trace_point));
    const open = data.points.filter(point => point.switchable && point.wanted).length;
    return [
        heading(data.points.length ? `${open} of ${things(data.points.length, "trace point")} ${open === 1 ? "is" : "are"} open` : "No trace points yet",
                el("p", {class: "dim"}, "pythiad opens and closes them by itself. Trace points that you open or close by hand stay so until you unpin them."),
                choice("State", STATES, shows, show => linkWith(state, {show: show === "all" ? undefined : show}))),
        typePicker(state, data),
        tree && el("ul", {class: "tree", "data-key": "tree"}, roots.map(node => branch(node, lineOf))),
        byService(flat.slice(0, ROWS_MAX)).map(([service, list]) => el("section", {"data-key": `service-${service}`},
            el("h2", {}, service || "no service"),
            el("ul", {class: "tree"}, list.map(point => el("li", {"data-key": `${point.plane} ${point.target} ${point.trace_point}`},
                lineOf(point)))))),
        flat.length > ROWS_MAX && el("p", {class: "dim"}, `The first ${count(ROWS_MAX)} of ${count(flat.length)}; search to see the others.`),
        data.points.length > 0 && !roots.length && !flat.length && nothingMatches(state, {show: undefined}),
    ];
}
