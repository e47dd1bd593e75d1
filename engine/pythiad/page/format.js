// Numbers, times and names as people read them.
import {el} from "./dom.js";

const THIN = "\u202f"; // between thousands, and before a unit that is not to be broken off
const DASH = "–";

/** Three significant digits, without an exponent. */
function shortNumber(value) {
    const magnitude = Math.abs(value);
    if (magnitude >= 100)
        return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
    return Number(value.toPrecision(3)).toString();
}

export function count(value) {
    return Math.round(value ?? 0).toString().replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
}

/** "1 request", "2 requests" */
export function things(value, one, many = one + "s") {
    return `${count(value)} ${Math.round(value) === 1 ? one : many}`;
}

export function duration(ns) {
    if (ns === null || ns === undefined || !Number.isFinite(ns))
        return DASH;
    const magnitude = Math.abs(ns);
    const [size, unit] = magnitude >= 60e9 ? [60e9, "min"] : magnitude >= 1e9 ? [1e9, "s"] : magnitude >= 1e6 ? [1e6, "ms"] :
        magnitude >= 1e3 ? [1e3, "µs"] : [1, "ns"];
    return `${shortNumber(ns / size)}\u00a0${unit}`;
}

export function percent(share) {
    if (share === null || share === undefined || !Number.isFinite(share))
        return DASH;
    const value = 100 * Math.max(0, Math.min(1, share));
    return `${value > 0 && value < 1 ? "<\u20091" : Math.round(value)}\u00a0%`;
}

/** "95–100 %" */
export function percentRange(low, high) {
    return `${Math.round(100 * Math.max(0, low))}${DASH}${Math.round(100 * Math.min(1, high))}\u00a0%`;
}

/** A value of a key. */
export function value(v) {
    if (v === null || v === undefined)
        return "(none)";
    return typeof v === "number" ? Number(v.toPrecision(6)).toString() : v;
}

const AGES = [[172800, 86400, "days"], [7200, 3600, "h"], [120, 60, "min"], [0, 1, "s"]];

/** "12 s", "3 min": how long something lasted. */
export function age(seconds) {
    const [, unit, name] = AGES.find(([from]) => seconds >= from) || AGES[3];
    return `${Math.max(0, Math.floor(seconds / unit))}\u00a0${name}`;
}

/** When something was, with its date and time on hover. */
export function ago(unixNs) {
    if (!unixNs)
        return DASH;
    const at = new Date(unixNs / 1e6);
    return el("time", {datetime: at.toISOString(), title: at.toLocaleString()}, `${age((Date.now() - at) / 1000)} ago`);
}

export function clock(unixNs) {
    return new Date(unixNs / 1e6).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23"});
}

/** The name of a trace point without its service, where it is written as service:name. */
export function shortName(id) {
    const parts = id.split(":");
    return parts.length === 2 && parts[1] ? parts[1] : id;
}

export function serviceOf(id) {
    const parts = id.split(":");
    return parts.length === 2 && parts[1] ? parts[0] : "";
}

/** A name, short, and whole on hover. */
export function name(id, attributes = {}) {
    return el("span", {class: "name", title: id, ...attributes}, shortName(id));
}
