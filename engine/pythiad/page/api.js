// The control interface of pythiad, as its manual describes it. A token is sent with each request, and lives as long as the tab.
const TOKEN = "pythia-token";
const PATIENCE_MS = 30000;
const POLL_MS = 10000;
const RESUME_MS = 1000;
const SILENCE_MS = 40000; // a heartbeat comes every 15 s

/** An answer that is no success. 401: a token is needed, or another one. */
export class Refused extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

export function hasToken() {
    return sessionStorage.getItem(TOKEN) !== null;
}

export function setToken(token) {
    if (token)
        sessionStorage.setItem(TOKEN, token);
    else
        sessionStorage.removeItem(TOKEN);
}

function ask(path, options = {}) {
    const headers = {...options.headers}, token = sessionStorage.getItem(TOKEN);
    if (token)
        headers.Authorization = "Bearer " + token;
    return fetch(path, {cache: "no-store", ...options, headers});
}

async function check(answer) {
    if (answer.ok)
        return answer;
    const text = await answer.text();
    let message = text.trim();
    try {
        message = JSON.parse(text).error || message;
    } catch {
        // it is a text
    }
    throw new Refused(answer.status, message || `pythiad answers ${answer.status}`);
}

export async function get(path, query = {}) {
    const text = new URLSearchParams(query).toString();
    const answer = await ask(text ? `${path}?${text}` : path, {signal: AbortSignal.timeout(PATIENCE_MS)});
    return (await check(answer)).json();
}

export async function post(path, body) {
    const answer = await ask(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
                                    signal: AbortSignal.timeout(PATIENCE_MS)});
    return (await check(answer)).json();
}

/** The report as a file: a link could not send the token. */
export async function getReport() {
    return (await check(await ask("/report"))).blob();
}

function wait(ms, signal) {
    return new Promise(resolve => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener("abort", () => {
            clearTimeout(timer);
            resolve();
        });
    });
}

/** Read events until the connection ends. Returns whether there was any. */
async function readEvents(onStatus, signal) {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS), any = false, text = "";
    try {
        const answer = await check(await ask("/v1/events", {signal: AbortSignal.any([signal, silence.signal])}));
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
            const {value, done} = await reader.read();
            clearTimeout(timer);
            if (done)
                return any;
            timer = setTimeout(() => silence.abort(), SILENCE_MS);
            const events = (text + value).split("\n\n");
            text = events.pop();
            const last = events.filter(event => event.startsWith("event: status\n")).pop();
            if (!last)
                continue;
            any = true;
            onStatus(JSON.parse(last.slice(last.indexOf("data: ") + 6)));
        }
    } finally {
        clearTimeout(timer);
    }
}

/** Call `onStatus` with each status, and `onTrouble` with each failure, until `signal`. Where events are refused the status is
 * asked for every ten seconds instead. */
export async function listen(onStatus, onTrouble, signal) {
    while (!signal.aborted) {
        try {
            if (await readEvents(onStatus, signal)) {
                await wait(RESUME_MS, signal);
                continue;
            }
        } catch (error) {
            if (signal.aborted || error.status === 401) {
                onTrouble(error);
                return;
            }
        }
        try {
            onStatus(await get("/v1/status"));
        } catch (error) {
            onTrouble(error);
            if (error.status === 401)
                return;
        }
        await wait(POLL_MS, signal);
    }
}
