// The members of a Kafka group, of which this pythiad is one: their partitions, what has not been read, and the search that they share.
import {el} from "./dom.js";
import {count, things} from "./format.js";

const STATES = {
    beginning: "waits for the topic of evidence",
    looking: "looks for a snapshot of the search",
    behind: "reads what the group found before",
    following: "follows the search of the group",
    failed: "takes no part any more: start pythiad again",
};

/** What a status has of Kafka that the rest of the page follows from: offsets rise all the time. */
export function steadyKafka(kafka) {
    return kafka && {problem: kafka.problem, set: kafka.search?.set, rounds: kafka.search?.rounds};
}

function figure(key, title, shown) {
    return el("div", {"data-key": key}, el("dt", {}, title), el("dd", {}, shown));
}

function searchFigures(search) {
    if (!search)
        return el("p", {class: "dim", "data-key": "alone"}, "Each member searches by itself; evidence=TOPIC in the URL of --kafka makes one search of them.");
    return el("dl", {class: "figures", "data-key": "search"},
        figure("state", "Shared search: this member", search.differs ? "takes no part: its settings differ" : STATES[search.state]),
        figure("rounds", "Rounds decided", `${count(search.rounds)}, of ${things(search.requests, "request")}`),
        figure("senders", "Members whose evidence was in the last one", count(search.members)),
        figure("waiting", "Evidence that waits for its round", things(search.waiting_requests, "request")),
        figure("late", "Requests whose evidence came after points had changed", count(search.late_requests)),
        figure("skipped", "Messages that could not be used", count(search.skipped)));
}

function memberRow(member, own) {
    return el("tr", {"data-key": member.member},
        el("th", {scope: "row"}, member.member, member.member === own && el("span", {class: "dim"}, " (this one)")),
        el("td", {"data-label": "host"}, member.host.replace(/^\//, "")),
        el("td", {"data-label": "partitions"}, member.partitions.length ? member.partitions.toSorted((a, b) => a - b).join(", ") : "none"));
}

function memberTable({members, member}) {
    if (!members)
        return el("p", {class: "empty", "data-key": "members"}, "The members are not known yet.");
    return el("table", {class: "stack", "data-key": "members"},
        el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "Member"), el("th", {scope: "col"}, "Host"), el("th", {scope: "col"}, "Partitions"))),
        el("tbody", {}, members.map(one => memberRow(one, member))));
}

function partitionRow(p) {
    return el("tr", {"data-key": p.partition},
        el("th", {scope: "row"}, "partition ", count(p.partition)),
        el("td", {class: "n", "data-label": "not read yet"}, p.lag === null ? "–" : count(p.lag)),
        el("td", {class: "n", "data-label": "position"}, p.position === null ? "–" : count(p.position)),
        el("td", {class: "n", "data-label": "committed"}, p.committed === null ? "–" : count(p.committed)),
        el("td", {class: "n", "data-label": "broken messages"}, count(p.broken)),
        el("td", {}, p.last_broken && `offset ${p.last_broken.offset}: ${p.last_broken.reason}`));
}

function partitionTable(partitions) {
    if (!partitions.length)
        return el("p", {class: "empty", "data-key": "partitions"}, "This member has no partitions now.");
    return el("table", {class: "stack", "data-key": "partitions"},
        el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "Of this member"), el("th", {scope: "col", class: "n"}, "Not read yet"),
                           el("th", {scope: "col", class: "n"}, "Position"), el("th", {scope: "col", class: "n"}, "Committed"),
                           el("th", {scope: "col", class: "n"}, "Broken messages"), el("th", {scope: "col"}, "The last one"))),
        el("tbody", {}, partitions.toSorted((a, b) => a.partition - b.partition).map(partitionRow)));
}

/** Nothing without Kafka. */
export function fleetSection(kafka) {
    return kafka && el("section", {"data-key": "fleet", "aria-labelledby": "fleet"}, el("h2", {id: "fleet"}, "Kafka"),
        el("p", {"data-key": "topic"}, "Topic ", el("code", {}, kafka.topic), ", group ", el("code", {}, kafka.group),
           kafka.paused && ", paused because memory is full"),
        kafka.problem && el("p", {class: "warn", "data-key": "problem"}, `Kafka cannot be read: ${kafka.problem}.`),
        searchFigures(kafka.search), memberTable(kafka), partitionTable(kafka.partitions));
}
