// Drawings: plain SVG whose horizontal places are percentages, so that it is as wide as there is room and text keeps its size.
// Amber is what is looked at (the selected requests, a share of the variance), blue is all the rest.
import {el, svgLink} from "./dom.js";
import {count, duration, percent, shortName, value} from "./format.js";

const SHARE_STEPS = [.01, .05, .10, .25, .50, .75];

/** The class of a colour for a share of the variance, from s0 (below 1 %) to s6 (75 % and more). */
export function shareClass(share) {
    return "s" + SHARE_STEPS.filter(step => share >= step).length;
}

function at(share) {
    return `${(100 * share).toFixed(3)}%`;
}

// ---- histogram ----

/** Where a duration stands on the logarithmic axis of the bins, from 0 to 1. */
function placeOf(bins, ns) {
    const low = bins[0].low_ns, high = bins[bins.length - 1].high_ns;
    return high > low ? Math.max(0, Math.min(1, Math.log(ns / low) / Math.log(high / low))) : .5;
}

const TICK_PIXELS = 64, WIDEST = 1400;

/** Round durations inside of the axis, as many as there is room for on so many pixels. */
function ticksOf(bins, pixels) {
    const low = bins[0].low_ns, high = bins[bins.length - 1].high_ns;
    for (const steps of [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 5], [1, 3], [1]]) {
        const ticks = [];
        for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
            ticks.push(...steps.map(step => step * power).filter(ns => ns >= low && ns <= high));
        const places = ticks.map(ns => pixels * placeOf(bins, ns));
        if (places.every((place, i) => i === 0 || place - places[i - 1] >= TICK_PIXELS))
            return ticks;
    }
    return [];
}

/** Durations of requests. `options`: height; isSelected(low, high): is a bar in the colour of the selection; linkOf(low, high):
 * where a click on it leads (none: bars are no links); part: of the width of the window that it has, about. */
export function histogram(bins, label, options = {}) {
    if (bins.length === 0)
        return null;
    const height = options.height ?? 72, most = Math.max(...bins.map(bin => bin.count), 1), axis = 18;
    const bars = bins.map((bin, i) => {
        const size = bin.count ? Math.max(2, height * bin.count / most) : 0;
        const rect = el("rect", {class: options.isSelected?.(bin.low_ns, bin.high_ns) ? "selected" : "rest",
                                 x: at(i / bins.length), width: at(.88 / bins.length), y: (height - size).toFixed(1),
                                 height: size.toFixed(1)});
        const says = `${duration(bin.low_ns)} to ${duration(bin.high_ns)}: ${count(bin.count)} requests`;
        if (!options.linkOf || !bin.count)
            return el("g", {}, el("title", {}, says), rect);
        const whole = el("rect", {class: "hit", x: at(i / bins.length), width: at(1 / bins.length), y: 0, height});
        return svgLink({href: options.linkOf(bin.low_ns, bin.high_ns), "aria-label": says, tabindex: -1}, el("title", {}, says),
                       whole, rect);
    });
    const first = bars.find(bar => bar.localName === "a");
    first?.setAttribute("tabindex", 0);
    return el("svg", {class: "histogram", role: first ? "group" : "img", "aria-label": label, width: "100%", height: height + axis,
                      "data-arrows": Boolean(first)},
              bars, el("line", {x1: 0, x2: "100%", y1: height + .5, y2: height + .5}),
              ticksOf(bins, (options.part ?? 1) * Math.min(innerWidth, WIDEST)).map(ns => {
                  const place = placeOf(bins, ns);
                  return el("text", {x: at(place), y: height + 14, "aria-hidden": true,
                                     "text-anchor": place < .06 ? "start" : place > .94 ? "end" : "middle"}, duration(ns));
              }));
}

// ---- icicle ----

/** Contexts as a tree: the mean time of each with all that is below it, and the share of the variance that is its own. */
function growTree(edges) {
    const root = {name: "", mean: 0, share: 0, children: new Map(), first: 0};
    for (const edge of edges) {
        const mean = Math.max(0, edge.mean_ns || 0);
        let node = root;
        node.mean += mean;
        for (const name of edge.context) {
            if (!node.children.has(name))
                node.children.set(name, {name, mean: 0, share: 0, children: new Map(), first: Infinity});
            node = node.children.get(name);
            node.mean += mean;
        }
        node.share += edge.share || 0;
    }
    return root;
}

/** Where the most common path enters each context first: its trace points from left to right. */
function orderTree(root, path) {
    const stack = [root];
    for (const [i, event] of path.entries()) {
        const top = stack[stack.length - 1];
        if (event.event === "start") {
            const node = top.children.get(event.trace_point);
            if (node)
                node.first = Math.min(node.first, i);
            stack.push(node || {children: new Map()});
        } else if (event.event === "end" && stack.length > 1) {
            stack.pop();
        }
    }
}

const ROW = 26, ROWS_MAX = 24, NARROWEST = .003;

/** The mean critical path: what is called stands below its caller, as wide as its time, and coloured by the share of the latency
 * variance that arises in it and in nothing below it: so the cause stands out, and not all that is above it. `linkOf(name)`: where a click on a trace point leads. */
export function icicle(group, label, linkOf) {
    const root = growTree(group.edges || []);
    if (!root.mean)
        return null;
    orderTree(root, group.path || []);
    const boxes = [];
    let rows = 0;
    const place = (node, left, depth) => {
        const width = node.mean / root.mean;
        if (width < NARROWEST || depth >= ROWS_MAX)
            return;
        rows = Math.max(rows, depth + 1);
        if (depth >= 0)
            boxes.push({node, left, width, depth});
        const children = [...node.children.values()];
        children.sort((a, b) => a.first - b.first || b.mean - a.mean);
        for (const child of children) {
            place(child, left, depth + 1);
            left += child.mean / root.mean;
        }
    };
    place(root, 0, -1);
    return el("svg", {class: "icicle", role: "group", "aria-label": label, width: "100%", height: rows * ROW, "data-arrows": true},
              boxes.map(({node, left, width, depth}, i) => {
                  const says = `${shortName(node.name)} ${percent(node.share)} of the latency variance arises in it; ` +
                      `mean ${duration(node.mean)}; ${node.name}`;
                  return svgLink({href: linkOf(node.name), tabindex: i === 0 ? 0 : -1}, el("title", {}, says),
                                 el("svg", {x: at(left), width: at(width), y: depth * ROW, height: ROW - 2},
                                    el("rect", {class: shareClass(node.share), width: "100%", height: "100%", rx: 2}),
                                    width > .03 && el("text", {class: shareClass(node.share), x: 6, y: 16},
                                                      shortName(node.name), " ", el("tspan", {dx: 3}, percent(node.share)))));
              }));
}

// ---- two distributions ----

const BINS = 10, LEVELS = 8;

/** The values of a key as bins {label, low, high, value, test(value)}. Numbers with few different values have one bin for each;
 * more are parted where the sorted values part into equal numbers, so that no bin is empty. */
function binsOf(values) {
    const numbers = values.filter(v => typeof v === "number").sort((a, b) => a - b), bins = [];
    if (numbers.length && numbers.length >= values.filter(v => v !== null).length) {
        const different = [...new Set(numbers)];
        if (different.length <= BINS) {
            bins.push(...different.map(low => ({label: value(low), low, high: low})));
        } else {
            const cuts = [...new Set(Array.from({length: BINS}, (_, i) => numbers[Math.floor(i * numbers.length / BINS)]))];
            cuts.forEach((low, i) => {
                const high = i + 1 < cuts.length ? different[different.indexOf(cuts[i + 1]) - 1] : numbers[numbers.length - 1];
                bins.push({label: low === high ? value(low) : `${value(low)} – ${value(high)}`, low, high});
            });
        }
    } else {
        const counts = new Map();
        for (const v of values)
            if (v !== null)
                counts.set(value(v), (counts.get(value(v)) || 0) + 1);
        const levels = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([level]) => level);
        bins.push(...levels.slice(0, levels.length > LEVELS ? LEVELS - 1 : LEVELS).map(level => ({label: level, value: level})));
        if (levels.length > LEVELS)
            bins.push({label: `${levels.length - LEVELS + 1} others`, others: new Set(levels.slice(LEVELS - 1))});
    }
    if (values.some(v => v === null))
        bins.push({label: "(none)", none: true});
    return bins;
}

export function isInBin(bin, v) {
    if (v === null)
        return Boolean(bin.none);
    if (bin.others)
        return bin.others.has(value(v));
    return bin.value !== undefined ? value(v) === bin.value : !bin.none && v >= bin.low && v <= bin.high;
}

/** How the values of a key differ between selected requests and the rest: bins with the share of each that is in them, and the
 * largest part of the selected that would have to change for both to be alike (the total variation distance, 0 to 1).
 * null: every request has the same value, or nearly each a value of its own. */
export function compareValues(selected, rest) {
    const all = [...selected, ...rest], different = new Set(all.map(value));
    const texts = all.filter(v => typeof v === "string").length;
    if (different.size < 2 || !selected.length || !rest.length || (texts > 20 && different.size > .6 * all.length))
        return null;
    const bins = binsOf(all);
    for (const bin of bins) {
        bin.selected = selected.filter(v => isInBin(bin, v)).length / selected.length;
        bin.rest = rest.filter(v => isInBin(bin, v)).length / rest.length;
    }
    return {bins, distance: bins.reduce((sum, bin) => sum + Math.abs(bin.selected - bin.rest), 0) / 2,
            byChance: distanceByChance(bins, selected.length, rest.length)};
}

/** The distance that two samples of these sizes have on average if nothing tells them apart: the mean of the absolute value of a
 * normal variable, sqrt(2 / pi) of its deviation, in each bin. */
function distanceByChance(bins, n, m) {
    return bins.reduce((sum, bin) => {
        const share = (n * bin.selected + m * bin.rest) / (n + m);
        return sum + Math.sqrt(2 / Math.PI * share * (1 - share) * (1 / n + 1 / m));
    }, 0) / 2;
}

/** Where both distributions differ most, in words: {selected, rest, words}. Of numbers it is all that is above or below a cut. */
export function largestDifference({bins}) {
    const found = {selected: 0, rest: 0, words: "", size: -1};
    const consider = (chosen, words) => {
        const [selected, rest] = ["selected", "rest"].map(part => chosen.reduce((sum, bin) => sum + bin[part], 0));
        if (selected - rest > found.size)
            Object.assign(found, {selected, rest, words, size: selected - rest});
    };
    const numbers = bins.filter(bin => bin.low !== undefined);
    bins.forEach(bin => consider([bin], bin.label));
    numbers.forEach((bin, i) => {
        consider(numbers.slice(i), i === numbers.length - 1 ? bin.label : `${value(bin.low)} or more`);
        consider(numbers.slice(0, i + 1), i === 0 ? bin.label : `${value(bin.high)} or less`);
    });
    return found;
}

/** Both distributions of a key over each other. `linkOf(bin)`: where a click on a bin leads; null: nowhere. */
export function distribution(compared, label, linkOf) {
    const {bins} = compared, height = 84, most = Math.max(...bins.map(bin => Math.max(bin.selected, bin.rest)));
    const size = share => share > 0 ? Math.max(2, height * share / most) : 0;
    let hasLink = false;
    const columns = bins.map((bin, i) => {
        const says = `${bin.label}: ${percent(bin.selected)} of the selected requests, ${percent(bin.rest)} of the others`;
        const href = linkOf(bin), left = i / bins.length, width = 1 / bins.length;
        const drawn = [el("title", {}, says),
                       el("rect", {class: "hit", x: at(left), width: at(width), y: 0, height}),
                       el("rect", {class: "rest", x: at(left + .08 * width), width: at(.84 * width), y: (height - size(bin.rest)).toFixed(1),
                                   height: size(bin.rest).toFixed(1)}),
                       el("rect", {class: "selected", x: at(left + .26 * width), width: at(.48 * width),
                                   y: (height - size(bin.selected)).toFixed(1), height: size(bin.selected).toFixed(1)})];
        if (!href)
            return el("g", {}, drawn);
        const link = svgLink({href, "aria-label": says, tabindex: hasLink ? -1 : 0}, drawn);
        hasLink = true;
        return link;
    });
    const every = Math.ceil(bins.length / 5);
    return el("svg", {class: "distribution", role: "group", "aria-label": label, width: "100%", height: height + 18,
                      "data-arrows": hasLink},
              columns, el("line", {x1: 0, x2: "100%", y1: height + .5, y2: height + .5}),
              bins.map((bin, i) => i % every === 0 &&
                  el("svg", {x: at(i / bins.length), width: at(every / bins.length), y: height + 2, height: 16, "aria-hidden": true},
                     el("text", {x: every > 1 ? 2 : "50%", y: 12, "text-anchor": every > 1 ? "start" : "middle"},
                        every > 1 && bin.low !== undefined ? value(bin.low) : bin.label))));
}
