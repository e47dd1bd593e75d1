// What several views work out of the documents of the control interface.
import {percentRange} from "./format.js";

const STATES = ["found", "searching", "learning", "nothing", "too_few"];
export const HOUR_NS = 3600e9;

/** The groups of a request type, the one that shows its verdict first, then those that vary most. */
export function groupsOf(groups, verdict) {
    const own = groups.filter(group => group.request_type === verdict.request_type);
    const shows = group => group.id === verdict.group;
    return own.sort((a, b) => shows(b) - shows(a) || b.variance_share - a.variance_share);
}

function varianceShare(groups, verdict) {
    return groups.reduce((sum, group) => group.request_type === verdict.request_type ? sum + (group.variance_share || 0) : sum, 0);
}

/** Verdicts with their groups and the share of all latency variance that is theirs: causes first, and the worst of them first. */
export function rankVerdicts(verdicts, groups) {
    const ranked = verdicts.map(verdict => ({verdict, groups: groupsOf(groups, verdict), share: varianceShare(groups, verdict)}));
    return ranked.sort((a, b) => STATES.indexOf(a.verdict.state) - STATES.indexOf(b.verdict.state) || b.share - a.share);
}

/** Is a verdict of the time range? It is of the last cycle if that had requests of its type, and of the last hour if it changed
 * since then, too. */
export function isVerdictInRange(verdict, range) {
    return range === "all" || verdict.requests > 0 ||
        (range === "hour" && verdict.since_unix_ns > Date.now() * 1e6 - HOUR_NS);
}

export function isDecisionInRange(decision, range, status) {
    if (range === "hour")
        return decision.unix_ns > Date.now() * 1e6 - HOUR_NS;
    return range === "all" || (decision.cycle === status.cycle && decision.start_unix_ns === status.started_unix_ns);
}

/** The place of a finding: the trace point that the edge is of or inside of. */
export function placeOf(finding) {
    const {from, to, inside} = finding.edge;
    if (from.trace_point === to.trace_point && from.event === "start" && to.event === "end")
        return {point: from.trace_point, words: ""};
    if (finding.edge.own_time || from.trace_point === to.trace_point)
        return {point: from.trace_point, words: finding.edge.own_time ? "time of its own in" : "inside"};
    return {point: inside || from.trace_point, from: from.trace_point, to: to.trace_point, words: "between"};
}

export function shareRange(finding) {
    return percentRange(finding.share_low, finding.share_high);
}

/** The explanation of a group that the verdict names. */
export function explanationOf(verdict, group) {
    return verdict.explanation && group?.explanations.find(one => one.key === verdict.explanation.key);
}

/** A decision has no number of its own: these tell it from all others. */
export function decisionId(decision) {
    return `${decision.unix_ns}-${decision.open ? "open" : "close"}-${decision.trace_point}-${decision.request_type}`;
}

export function decisionOf(decisions, id) {
    return decisions.find(decision => decisionId(decision) === id);
}

/** What a decision did to its trace point, in a word or three. */
export function decisionVerb(decision) {
    return (decision.switchable ? "" : "would have ") + (decision.open ? "opened" : "closed");
}
