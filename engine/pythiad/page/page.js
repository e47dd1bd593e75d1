// Keeps the page current: fetches it again and changes only what differs, so that open details, the scroll position, the
// selection and the keyboard focus stay. Nothing fetched is run: it is parsed as an inert document, and scripts stay out.
"use strict";

const PERIOD_MS = 10000;
const PATIENCE_MS = 30000;

/** What identifies an element among its siblings. A row of a table is the row of its name; elements without a name are
 * told apart by their place. */
function keyOf(node, seen) {
    if (node.nodeType !== Node.ELEMENT_NODE)
        return null;
    let key = node.id;
    if (!key && node.localName === "tr") {
        const head = node.querySelector("th[scope=row]");
        const link = head && head.querySelector("a[href]");
        key = link ? link.getAttribute("href") : head && head.textContent;
    }
    if (!key && (node.localName === "details" || node.localName === "table"))
        key = "only"; // stays itself when its neighbours come and go
    if (!key)
        return null;
    key = node.localName + " " + key;
    const count = seen.get(key) || 0;
    seen.set(key, count + 1);
    return key + " " + count;
}

/** The children of an element by their key. */
function keyed(parent) {
    const seen = new Map(), byKey = new Map(), keys = new Map();
    for (const node of parent.childNodes) {
        const key = keyOf(node, seen);
        if (key !== null) {
            byKey.set(key, node);
            keys.set(node, key);
        }
    }
    return {byKey, keys};
}

function updateAttributes(from, to) {
    for (const {name} of [...from.attributes])
        if (!to.hasAttribute(name) && !(name === "open" && from.localName === "details"))
            from.removeAttribute(name);
    for (const {name, value} of to.attributes)
        if (from.getAttribute(name) !== value)
            from.setAttribute(name, value);
}

function areAlike(a, b) {
    return a.nodeType === b.nodeType && a.nodeName === b.nodeName;
}

function updateNode(from, to) {
    if (from.nodeType !== Node.ELEMENT_NODE) {
        if (from.nodeValue !== to.nodeValue)
            from.nodeValue = to.nodeValue;
        return;
    }
    updateAttributes(from, to);
    updateChildren(from, to);
}

/** Make the children of `from` those of `to`. Nodes that have the same key, or no key and the same place, are changed and
 * not replaced. */
function updateChildren(from, to) {
    const old = keyed(from), wanted = keyed(to);
    for (const [key, node] of old.byKey)
        if (!wanted.byKey.has(key))
            node.remove();
    let next = from.firstChild;
    for (const node of [...to.childNodes]) {
        const key = wanted.keys.get(node);
        let match = key === undefined ? null : old.byKey.get(key);
        if (!match && key === undefined && next && !old.keys.has(next) && areAlike(next, node))
            match = next;
        if (!match) {
            from.insertBefore(document.importNode(node, true), next);
            continue;
        }
        if (match === next)
            next = next.nextSibling;
        else
            from.insertBefore(match, next);
        updateNode(match, node);
    }
    while (next) {
        const after = next.nextSibling;
        next.remove();
        next = after;
    }
}

/** Show `fetched` in place of what is shown. A row that moved has lost the focus, and gets it back. */
function show(fetched) {
    for (const script of fetched.querySelectorAll("script"))
        script.remove();
    const focused = document.activeElement;
    updateChildren(document.body, fetched.body);
    if (focused !== document.activeElement && focused.isConnected)
        focused.focus({preventScroll: true});
}

const notice = document.createElement("p");
notice.className = "warn";
notice.setAttribute("role", "status");
notice.hidden = true;
document.documentElement.append(notice); // beside the body: an update leaves it alone
let timer = 0, isBusy = false;

async function update() {
    if (isBusy || document.hidden)
        return;
    isBusy = true;
    clearTimeout(timer);
    try {
        const answer = await fetch(location.pathname, {cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS)});
        if (!answer.ok)
            throw new Error("status " + answer.status);
        show(new DOMParser().parseFromString(await answer.text(), "text/html"));
        notice.hidden = true;
        notice.textContent = "";
    } catch (error) {
        notice.textContent = "pythiad does not answer (" + error.message + "): this page is not up to date.";
        notice.hidden = false;
    }
    isBusy = false;
    timer = setTimeout(update, PERIOD_MS);
}

document.addEventListener("visibilitychange", update);
timer = setTimeout(update, PERIOD_MS);
