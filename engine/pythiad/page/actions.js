// What somebody does: copying lines, switching trace points after a confirmation, taking that back, and giving a token.
import {get, getReport, hasToken, post, setToken} from "./api.js";
import {el} from "./dom.js";
import {duration, percent, shortName} from "./format.js";

const NOTICE_MS = 12000;
const dialog = document.getElementById("dialog"), notices = document.getElementById("notices");

// ---- notices ----

/** Say something at the edge of the page, for a while; `undo` is called if somebody wants that back. */
export function notify(text, undo) {
    const notice = el("div", {class: "notice"}, el("p", {}, text));
    const end = () => notice.remove();
    if (undo) {
        const button = el("button", {type: "button"}, "Undo");
        button.addEventListener("click", () => {
            end();
            undo();
        });
        notice.append(button);
    }
    const close = el("button", {type: "button", class: "quiet", "aria-label": "Dismiss"}, "×");
    close.addEventListener("click", end);
    notice.append(close);
    notices.replaceChildren(notice);
    if (!undo)
        setTimeout(end, NOTICE_MS);
}

// ---- dialogs ----

/** Ask something: the value of the button that was pressed, "" for none. */
function ask(...content) {
    dialog.replaceChildren(el("form", {method: "dialog"}, content));
    dialog.showModal();
    return new Promise(resolve => dialog.addEventListener("close", () => resolve(dialog.returnValue), {once: true}));
}

/** The Enter key presses the first button that submits: so the one that cancels does not. */
function answers(yes) {
    const cancel = el("button", {type: "button"}, "Cancel");
    cancel.addEventListener("click", () => dialog.close(""));
    return el("div", {class: "buttons"}, cancel, el("button", {value: "yes", class: "primary"}, yes));
}

/** Ask for a token, and keep it as long as this tab lives. False: there is none. */
export async function askToken(purpose) {
    dialog.returnValue = "";
    const field = el("input", {type: "password", id: "token", autocomplete: "off", required: true, spellcheck: "false"});
    const asked = ask(el("h2", {id: "dialog-title"}, hasToken() ? "A different token is required" : "A token is required"),
        el("p", {}, purpose, " It is kept only in this tab, until the tab is closed."),
        el("p", {}, el("label", {for: "token"}, "Token"), field),
        answers("Use it"));
    field.focus();
    if (await asked !== "yes")
        return false;
    setToken(field.value.trim());
    field.value = "";
    return true;
}

/** Post an order; where the control token is needed, ask for it and try again. */
async function order(path, body) {
    for (;;) {
        try {
            return await post(path, body);
        } catch (error) {
            if (error.status !== 401 || !await askToken("Switching trace points needs the control token (--control-token)."))
                throw error;
        }
    }
}

// ---- switches ----

async function plannedCost(id) {
    try {
        const plan = await post("/v1/plan", {trace_points: [id]});
        const share = plan.added_share === null ? "" : `, ${percent(plan.added_share)} of its time`;
        return plan.added_ns_per_request > 0 ? `It adds about ${duration(plan.added_ns_per_request)} to a request${share}.` : "";
    } catch {
        return ""; // the order itself says what is wrong
    }
}

const ORDERS = {
    open: {path: "/v1/open", title: "Open", says: "It is pinned: it stays open until you unpin it, whatever the search decides."},
    close: {path: "/v1/close", title: "Close", says: "It is pinned: it stays closed until you unpin it, whatever the search decides."},
    unpin: {path: "/v1/unpin", title: "Unpin", says: "The search decides about it again."},
};
const DONE = {open: "is pinned open", close: "is pinned closed", unpin: "is no longer pinned"};

/** What takes an order back: the pin that the point had, for the types it was for, or none. */
function orderBefore(point) {
    const body = {trace_points: [point.trace_point]};
    if (!point.pin)
        return ["/v1/unpin", body];
    if (point.pin === "closed")
        return ["/v1/close", body];
    return ["/v1/open", point.types ? {...body, types: point.types} : body];
}

async function switchPoint(what, id) {
    const {path, title, says} = ORDERS[what];
    const point = (await get("/v1/points")).find(one => one.trace_point === id);
    if (!point) {
        notify(`${shortName(id)} is no longer known.`);
        return;
    }
    dialog.returnValue = "";
    const answer = await ask(el("h2", {id: "dialog-title"}, `${title} ${shortName(id)}?`), el("p", {class: "id"}, id),
                             el("p", {}, says, " ", what === "open" ? await plannedCost(id) : ""), answers(title));
    if (answer !== "yes")
        return;
    await order(path, {trace_points: [id]});
    notify(`${shortName(id)} ${DONE[what]}.`, () => run(async () => {
        await order(...orderBefore(point));
        notify(`${shortName(id)} is as it was before.`);
    }));
}

// ---- other actions ----

async function copyLines(from) {
    await navigator.clipboard.writeText(document.getElementById(from).textContent);
    notify("Copied.");
}

async function saveReport() {
    const url = URL.createObjectURL(await getReport());
    const link = el("a", {href: url, download: "pythia-report.html"});
    link.click();
    URL.revokeObjectURL(url);
}

async function run(action) {
    try {
        await action();
    } catch (error) {
        notify(`That did not work: ${error.message}`);
    }
    document.dispatchEvent(new Event("pythia-refresh"));
}

/** Listen for clicks on elements that say what they do. */
export function beginActions() {
    document.addEventListener("click", event => {
        const element = event.target.closest("[data-do]"), what = element?.dataset.do;
        if (what === "copy")
            run(() => copyLines(element.dataset.from));
        else if (ORDERS[what])
            run(() => switchPoint(what, element.dataset.point));
        else if (what === "report" && hasToken()) { // a link cannot send the token
            event.preventDefault();
            run(saveReport);
        } else if (what === "token")
            run(() => askToken("The read or the control token of pythiad (--read-token, --control-token)."));
    });
}
