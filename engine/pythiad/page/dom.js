// Elements, and how a page changes into another one without replacing what stays: open details, the selection, the scroll
// position and the keyboard focus are those of elements.
const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = new Set(["svg", "g", "rect", "line", "path", "text", "title", "circle", "tspan"]);

/** An element. Children are elements, texts, numbers, arrays of them, or nothing (null, false, undefined). Attributes that are
 * null, false or undefined are left out. Text stays text: names come from traces, and no markup is made of them. */
export function el(name, attributes = {}, ...children) {
    return build(SVG_NAMES.has(name) ? document.createElementNS(SVG, name) : document.createElement(name), attributes, children);
}

/** A link inside of a drawing. */
export function svgLink(attributes, ...children) {
    return build(document.createElementNS(SVG, "a"), attributes, children);
}

function build(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes))
        if (value !== null && value !== undefined && value !== false)
            node.setAttribute(name, value === true ? "" : value);
    for (const child of children.flat(Infinity))
        if (child !== null && child !== undefined && child !== false)
            node.append(child);
    return node;
}

/** What identifies an element among its siblings: its key or its id; others are told apart by their place. */
function keyOf(node) {
    if (node.nodeType !== Node.ELEMENT_NODE)
        return null;
    const key = node.dataset.key || node.id;
    return key ? node.localName + " " + key : null;
}

/** The children of an element that have a key, by that. Of several with the same key the first has it. */
function childrenByKey(parent) {
    const found = new Map();
    for (const node of parent.childNodes) {
        const key = keyOf(node);
        if (key !== null && !found.has(key))
            found.set(key, node);
    }
    return found;
}

/** What a person has changed stays: whether details are open, and whether an element has its turn among the arrow keys. */
function isOwn(node, name) {
    return (name === "open" && node.localName === "details") || (name === "tabindex" && node.closest("[data-arrows]"));
}

function updateAttributes(from, to) {
    for (const {name} of [...from.attributes])
        if (!to.hasAttribute(name) && !isOwn(from, name))
            from.removeAttribute(name);
    for (const {name, value} of to.attributes)
        if (from.getAttribute(name) !== value && !isOwn(from, name))
            from.setAttribute(name, value);
}

function updateNode(from, to) {
    if (from.nodeType !== Node.ELEMENT_NODE) {
        if (from.nodeValue !== to.nodeValue)
            from.nodeValue = to.nodeValue;
        return;
    }
    updateAttributes(from, to);
    updateChildren(from, [...to.childNodes]);
}

function areAlike(a, b) {
    return a && a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === null && keyOf(b) === null;
}

/** Make the children of `parent` those of the list. Nodes that have the same key, or no key and the same place, are changed
 * and not replaced. */
function updateChildren(parent, wanted) {
    const old = childrenByKey(parent), kept = new Set(wanted.map(keyOf));
    for (const [key, node] of old)
        if (!kept.has(key))
            node.remove();
    let next = parent.firstChild;
    for (const node of wanted) {
        const key = keyOf(node);
        let match = key === null ? null : old.get(key);
        old.delete(key);
        if (!match && areAlike(next, node))
            match = next;
        if (!match) {
            parent.insertBefore(node, next);
            continue;
        }
        if (match === next)
            next = next.nextSibling;
        else
            parent.insertBefore(match, next);
        updateNode(match, node);
    }
    while (next) {
        const after = next.nextSibling;
        next.remove();
        next = after;
    }
}

/** Show `wanted` inside of an element. A child that moved has lost the focus, and gets it back. */
export function show(parent, ...wanted) {
    const focused = document.activeElement;
    updateChildren(parent, wanted.flat(Infinity).filter(Boolean));
    if (focused !== document.activeElement && focused.isConnected)
        focused.focus({preventScroll: true});
}
