// Drawings have many links, and one stop of the Tab key: the arrow keys go from one to the next.

function linksOf(drawing) {
    return [...drawing.querySelectorAll("a[href]")];
}

/** Give the turn to one link of a drawing. */
function giveTurn(links, chosen) {
    for (const link of links)
        link.setAttribute("tabindex", link === chosen ? 0 : -1);
}

/** After an update: a drawing whose link with the turn is gone has another one. */
export function keepTurns() {
    for (const drawing of document.querySelectorAll("[data-arrows]")) {
        const links = linksOf(drawing);
        if (links.length && links.filter(link => link.getAttribute("tabindex") === "0").length !== 1)
            giveTurn(links, links[0]);
    }
}

const STEPS = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity};

export function beginArrows() {
    document.addEventListener("keydown", event => {
        const drawing = event.target.closest?.("[data-arrows]"), step = STEPS[event.key];
        if (!drawing || step === undefined || event.altKey || event.ctrlKey || event.metaKey)
            return;
        const links = linksOf(drawing), at = links.indexOf(event.target);
        const next = links[Math.max(0, Math.min(links.length - 1, at + step))];
        event.preventDefault();
        giveTurn(links, next);
        next.focus();
    });
}
