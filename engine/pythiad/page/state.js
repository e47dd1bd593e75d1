// What the page shows, as its address says: every view, filter and selection has a URL.

const RANGES = ["cycle", "hour", "all"];
const VIEWS = ["findings", "type", "points", "decisions", "decision", "health"];

/** The state that the address stands for: {view, id, range, q, ...}; parameters that are not there are undefined. */
export function readState() {
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
    const [view, ...rest] = path.split("/");
    const state = Object.fromEntries(new URLSearchParams(query || ""));
    state.view = VIEWS.includes(view) ? view : "findings";
    state.id = decode(rest.join("/"));
    state.range = RANGES.includes(state.range) ? state.range : "all";
    return state;
}

function decode(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/** The address of a view. Search and time range go along from one view to the next. */
export function linkTo(view, id, parameters = {}) {
    const now = readState(), query = new URLSearchParams();
    const all = {q: now.q, range: now.range === "all" ? undefined : now.range, ...parameters};
    for (const [key, value] of Object.entries(all))
        if (value !== undefined && value !== null && value !== "")
            query.set(key, value);
    const text = query.toString();
    return `#/${view}${id ? "/" + encodeURIComponent(id) : ""}${text ? "?" + text : ""}`;
}

/** The address of this view with other parameters. */
export function linkWith(state, changes) {
    const {view, id, ...parameters} = {...state, ...changes};
    if (parameters.range === "all")
        delete parameters.range;
    return linkTo(view, id, {q: undefined, range: undefined, ...parameters});
}

/** Does one of the texts have all words of the search in it? */
export function matches(query, ...texts) {
    const all = texts.join("\n").toLowerCase();
    return (query || "").toLowerCase().split(/\s+/).every(word => all.includes(word));
}
