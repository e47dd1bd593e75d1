// Whether pythiad is well: control planes, and what was lost, refused or waits.
import {el} from "./dom.js";
import {fleetSection} from "./fleet.js";
import {ago, count, things} from "./format.js";
import {heading} from "./pieces.js";

const FIGURES = [
    ["spans", "Spans received"],
    ["requests", "Completed requests"],
    ["open_requests", "Requests in progress"],
    ["requests_apart", "Requests excluded because a switch was in progress"],
    ["spans_dropped", "Spans left out: broken, late, or from closed trace points"],
    ["spans_refused", "Spans refused; their senders were asked to retry"],
    ["request_types", "Request types"],
    ["learnt_types", "Request types that are searched"],
    ["problems_waiting", "Request types waiting to be searched"],
    ["quarantined", "Quarantined trace points, which do not respond"],
    ["mute", "Silent trace points: open, and hit by no request that should hit them"],
    ["unknown_points", "Trace points missing from the search space"],
];

function planeRow(plane) {
    return el("tr", {"data-key": plane.name},
        el("th", {scope: "row"}, plane.name),
        el("td", {}, !plane.reachable ? "not reached" : plane.in_force ? "in force" : "not in force yet"),
        el("td", {class: "n", "data-label": "trace points"}, count(plane.points)),
        el("td", {class: "n", "data-label": "targets lost"}, count(plane.lost_targets)),
        el("td", {}, plane.why));
}

function isWell(status) {
    return !status.degraded && !status.quarantined && !status.kafka?.problem && status.planes.every(plane => plane.reachable && !plane.lost_targets);
}

export function healthView(state, data) {
    const {status} = data;
    return [
        heading(isWell(status) ? "All is well" : "Something needs attention",
                el("p", {class: "dim"}, `pythiad ${status.version}, started `, ago(status.started_unix_ns))),
        status.degraded && el("p", {class: "warn", "data-key": "degraded"}, "The state cannot be written."),
        el("section", {"data-key": "planes", "aria-labelledby": "planes"}, el("h2", {id: "planes"}, "Control planes"),
           status.planes.length ? el("table", {class: "stack"},
              el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "Plane"), el("th", {scope: "col"}, "Desired set"),
                                 el("th", {scope: "col", class: "n"}, "Trace points"), el("th", {scope: "col", class: "n"}, "Targets lost"),
                                 el("th", {scope: "col"}, "Last failure"))),
              el("tbody", {}, status.planes.map(planeRow))) : el("p", {class: "empty"}, "No control plane: pythiad only observes.")),
        fleetSection(status.kafka),
        el("section", {"data-key": "figures", "aria-labelledby": "figures"}, el("h2", {id: "figures"}, "Figures"),
           el("dl", {class: "figures"}, FIGURES.map(([key, title]) => el("div", {"data-key": key}, el("dt", {}, title), el("dd", {}, count(status[key])))))),
        el("p", {class: "foot", "data-key": "foot"}, "All numbers, with reasons: ", el("a", {href: "/metrics"}, "/metrics"),
           ". Limits: ", el("code", {}, "pythia ctl status"), "."),
    ];
}
