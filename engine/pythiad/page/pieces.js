// Parts that several views are made of.
import {el} from "./dom.js";
import {count, duration, name, percent, things} from "./format.js";
import {placeOf, shareRange} from "./model.js";
import {linkWith} from "./state.js";

/** The head of a view: it gets the focus when somebody goes there. */
export function heading(title, ...below) {
    return el("div", {class: "heading", "data-key": "heading"}, el("h1", {tabindex: -1}, title), below);
}

/** "lock_row accounts for 99 % of the latency variance (95–100 %)", "kernel.poll in lock__wait accounts for …" */
function cause(finding) {
    const place = placeOf(finding), {host} = finding.edge;
    return [place.words === "between" ? ["The time between ", name(place.from), " and ", name(place.to)] :
        [place.words ? `${place.words[0].toUpperCase()}${place.words.slice(1)} ` : "", name(place.point)],
        host ? [" in ", name(host)] : "",
        " accounts for ", el("strong", {class: "share"}, percent(finding.share)), " of the latency variance ",
        el("span", {class: "interval", title: "95 % confidence interval"}, `(${shareRange(finding)})`)];
}

/** A paragraph for each place that a verdict found; its sentence where no single place stands out. */
export function causes(verdict) {
    return verdict.found.length && !verdict.spread ? verdict.found.map(finding => el("p", {class: "cause"}, cause(finding))) :
        el("p", {class: "cause"}, verdict.where || verdict.sentence);
}

/** The key that the verdict names, and the mean with it and without. */
export function when(explanation) {
    const split = explanation.split, condition = split?.condition.replace(/^is (?=[<>]|in )/, "");
    if (!split)
        return ["Correlates with ", el("code", {}, explanation.key), "."];
    return ["When ", el("code", {}, `${explanation.key} ${condition}`), ": mean ", el("b", {}, duration(split.high_mean_ns)),
            ", otherwise ", el("b", {}, duration(split.low_mean_ns)),
            el("span", {class: "dim"}, ` (${count(split.high_requests)} and ${things(split.low_requests, "request")})`)];
}

const RANGES = [["cycle", "Last cycle"], ["hour", "Last hour"], ["all", "All kept"]];

/** Links of which one is current. */
export function choice(label, options, chosen, linkOf) {
    return el("ul", {class: "choice", "aria-label": label, "data-key": label}, options.map(([id, title]) =>
        el("li", {}, el("a", {href: linkOf(id), "aria-current": id === chosen && "true"}, title))));
}

export function ranges(state) {
    return choice("Time range", RANGES, state.range, range => linkWith(state, {range}));
}

/** `filters`: those of the view, not set. */
export function nothingMatches(state, filters = {}) {
    return el("p", {class: "empty", "data-key": "empty"}, state.q ? `Nothing matches “${state.q}”. ` : "Nothing matches. ",
              el("a", {href: linkWith(state, {...filters, q: undefined, range: "all"})}, "Show all"));
}
