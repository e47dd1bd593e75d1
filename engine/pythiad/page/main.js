// The page put together: what is known, which view shows it, and when it is fetched again.
import {beginActions} from "./actions.js";
import {get, hasToken, listen, setToken} from "./api.js";
import {beginArrows, keepTurns} from "./arrows.js";
import {decisionView, decisionsView} from "./decisions.js";
import {el, show} from "./dom.js";
import {findingsView} from "./findings.js";
import {steadyKafka} from "./fleet.js";
import {healthView} from "./health.js";
import {heading} from "./pieces.js";
import {pointsView, typeOfView} from "./points.js";
import {startView} from "./start.js";
import {linkTo, linkWith, readState} from "./state.js";
import {groupOfView, typeView} from "./type.js";

const DECISIONS_MAX = 2000;
const REFRESH_MS = 10000; // of figures that rise all the time, like hits

const VIEWS = {
    findings: {title: "Findings", write: findingsView},
    type: {title: "Request type", of: "findings", write: typeView},
    points: {title: "Trace points", write: pointsView},
    decisions: {title: "Decisions", write: decisionsView},
    decision: {title: "Decision", of: "decisions", write: decisionView},
    health: {title: "Health", write: healthView},
};

const data = {status: null, verdicts: [], groups: [], points: [], decisions: [], cycles: [], types: [],
              requests: new Map(), contexts: new Map()};
const main = document.getElementById("main"), query = document.getElementById("query");
let state = readState(), trouble = null, locked = false, following = null, fetching = false, stale = true, fetchedAt = 0;

// ---- what is shown ----

function showViews() {
    const current = VIEWS[state.view].of || state.view;
    show(document.getElementById("views"), el("ul", {}, Object.entries(VIEWS).filter(([, view]) => !view.of).map(([id, view]) =>
        el("li", {"data-key": id}, el("a", {href: linkTo(id), "aria-current": id === current && "page"}, view.title)))));
}

const DOING = {works: "Live", observes: "Observing", off: "Off", stops: "Stopping"};

function showState() {
    const words = trouble ? `pythiad does not answer (${trouble}): this page is out of date.` : locked ? "A token is required" :
        !data.status ? "Connecting…" : data.status.learning && data.status.spans > 0 ? "Learning" : DOING[data.status.doing];
    const silent = !trouble && !locked && data.status?.kafka?.problem;
    show(document.getElementById("state"),
         el("span", {class: `dot ${trouble || silent ? "trouble" : locked || !data.status ? "unknown" : data.status.doing}`}),
         el("span", {}, words, silent && el("a", {href: linkTo("health")}, ", but Kafka cannot be read")));
}

function lockedView() {
    return [heading("This pythiad requires a token",
                    el("p", {}, "Reading requires the read token, switching trace points the control token.")),
            el("p", {"data-key": "token"}, el("button", {type: "button", class: "primary", "data-do": "token"}, "Enter a token"))];
}

function viewOf() {
    if (locked)
        return lockedView();
    if (!data.status)
        return [el("p", {class: "empty", "data-key": "loading"}, "Connecting to pythiad…")];
    if (!(data.status.spans > 0) && state.view === "findings")
        return startView(state, data);
    return VIEWS[state.view].write(state, data);
}

function render() {
    showViews();
    showState();
    main.dataset.view = state.view;
    show(main, ...viewOf());
    keepTurns();
    document.title = `${main.querySelector("h1")?.textContent || VIEWS[state.view].title} – Pythia`;
}

// ---- what is known ----

/** What a view needs beside what is always there: the requests of a group, the contexts of a type. */
async function fetchDetails() {
    if (state.view === "type") {
        const group = groupOfView(state, data);
        if (group && !data.requests.has(group.id))
            data.requests.set(group.id, await get("/v1/requests", {group: group.id}));
    }
    if (state.view === "points") {
        const type = typeOfView(state, data);
        if (type !== undefined && !data.contexts.has(type))
            data.contexts.set(type, await get("/v1/contexts", {request_type: type}));
    }
}

/** Of a 404 nothing is to be said: a cycle has ended meanwhile, and the next fetch finds what there is. */
function ignoreGone(error) {
    if (error.status !== 404)
        throw error;
}

async function fetchAll() {
    const names = ["verdicts", "groups", "points", "cycles"];
    const [verdicts, groups, points, cycles, types, decisions] = await Promise.all([
        ...names.map(name => get(`/v1/${name}`)), get("/v1/contexts"), get("/v1/decisions", {count: DECISIONS_MAX})]);
    Object.assign(data, {verdicts, groups, points, cycles, types, decisions});
    data.requests.clear();
    data.contexts.clear();
}

/** Fetch what changed, one fetch at a time; what is there meanwhile stays on the page. */
async function refresh() {
    if (fetching || document.hidden || locked || !data.status)
        return;
    fetching = true;
    try {
        if (stale) {
            stale = false;
            fetchedAt = Date.now();
            await fetchAll();
        }
        await fetchDetails().catch(ignoreGone);
        trouble = null;
    } catch (error) {
        stale = true;
        note(error);
    }
    fetching = false;
    render();
    if (stale && !trouble && !locked)
        refresh();
}

function note(error) {
    locked = error.status === 401;
    if (locked)
        setToken(null);
    trouble = locked ? null : error.message;
    render();
}

/** What a status has that changes without anything else being different. */
const RISING = ["spans", "requests", "open_requests", "requests_apart", "spans_refused", "spans_dropped", "unknown_spans"];

function steadyPart(status) {
    return JSON.stringify({...status, kafka: steadyKafka(status.kafka), ...Object.fromEntries(RISING.map(name => [name, 0]))});
}

function takeStatus(status) {
    const changed = !data.status || steadyPart(status) !== steadyPart(data.status);
    const risen = data.status && status.spans !== data.status.spans && Date.now() - fetchedAt > REFRESH_MS;
    data.status = status;
    trouble = null;
    stale ||= changed || risen;
    render();
    if (stale)
        refresh();
}

/** Follow events while somebody looks, and only then. */
function follow() {
    following?.abort();
    following = null;
    if (document.hidden || locked)
        return;
    following = new AbortController();
    const {signal} = following;
    listen(takeStatus, error => signal.aborted || note(error), signal);
}

// ---- what somebody does ----

function takeAddress() {
    const before = state;
    state = readState();
    if (document.activeElement !== query)
        query.value = state.q || "";
    render();
    if (before.view !== state.view || before.id !== state.id) {
        scrollTo(0, 0);
        main.querySelector("h1")?.focus({preventScroll: true});
    }
    refresh();
}

function begin() {
    beginActions();
    beginArrows();
    query.value = state.q || "";
    query.addEventListener("input", () => {
        history.replaceState(null, "", linkWith(readState(), {q: query.value}));
        state = readState();
        render();
    });
    query.form?.addEventListener("submit", event => event.preventDefault());
    document.addEventListener("change", event => {
        if (event.target.dataset.pick)
            location.hash = linkWith(readState(), {[event.target.dataset.pick]: event.target.value || undefined});
    });
    addEventListener("hashchange", takeAddress);
    addEventListener("resize", render); // the labels of axes are as many as there is room for
    document.addEventListener("visibilitychange", () => {
        stale = true;
        follow();
    });
    document.addEventListener("pythia-refresh", () => {
        stale = true;
        if (locked && hasToken()) {
            locked = false;
            render();
            follow();
        }
        refresh();
    });
    render();
    follow();
}

begin();
