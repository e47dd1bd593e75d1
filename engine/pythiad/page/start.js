// What to do while no span has come: lines to copy, with the addresses at which this pythiad listens.
import {el} from "./dom.js";
import {heading} from "./pieces.js";

/** HOST:PORT as somebody else reaches it: an address of all interfaces is that of this page's host. */
function reachable(address) {
    const [, host, port] = /^(.*):(\d+)$/.exec(address) || [null, address, ""];
    const isAny = ["*", "0.0.0.0", "[::]", "::"].includes(host);
    return `${isAny ? location.hostname : host}:${port}`;
}

/** The lines for each ecosystem: [{id, title, text, lines}]. */
export function ways(status) {
    const http = status.listens["otlp-http"], grpc = status.listens["otlp-grpc"], scheme = status.tls ? "https" : "http";
    const data = status.data_folder, base = http && `${scheme}://${reachable(http)}`;
    const settings = base && [`export OTEL_EXPORTER_OTLP_ENDPOINT=${base}`, "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
                              `export PYTHIA_URL=${base}`,
                              ...(status.tokens.ingest ? ["export OTEL_EXPORTER_OTLP_HEADERS=\"Authorization=Bearer $(cat TOKEN-FILE)\""] : []),
                              ...(status.tokens.agent ? ["export PYTHIA_TOKEN_FILE=TOKEN-FILE"] : [])];
    const collector = grpc ? ["  otlp/pythia:", `    endpoint: ${reachable(grpc)}`, ...(status.tls ? [] : ["    tls: {insecure: true}"])] :
        base && ["  otlphttp/pythia:", `    endpoint: ${base}`];
    const header = status.tokens.ingest ? ["    headers: {authorization: \"Bearer TOKEN\"}"] : [];
    const hasGate = status.planes.some(plane => plane.name === "gate");
    return [
        {id: "node", title: "Node.js", lines: settings &&
            [...settings, `node --require ${data}/node/pythia-gate.js --require ./tracing.js app.js`]},
        {id: "python", title: "Python", lines: settings &&
            [...settings, `PYTHONPATH=${data}/python opentelemetry-instrument python3 app.py`]},
        {id: "java", title: "Java", lines: settings &&
            [...settings, `${data}/java/pythia-java -javaagent:opentelemetry-javaagent.jar -jar app.jar`]},
        {id: "go", title: "Go", lines: settings && [...settings, `${data}/go/pythia-go build -o app . && ./app`]},
        {id: "collector", title: "OpenTelemetry Collector", text: "Traces are observed; trace points are switched only by the lines above.",
         lines: collector && ["exporters:", ...collector, ...header, "service:", "  pipelines:",
                              `    traces: {exporters: [${grpc ? "otlp/pythia" : "otlphttp/pythia"}]}`]},
        {id: "c", title: "C and C++", text: hasGate ? null : "This pythiad was started without --gate; start it again with it.",
         lines: [...(hasGate ? [] : ["pythiad --gate="]),
                 "cc app.c $(pkg-config --cflags --libs pythia-tracepoints) -o app && ./app"]},
    ].filter(way => way.lines);
}

function wayFigure(way) {
    return el("section", {class: "way", "data-key": way.id, "aria-labelledby": `way-${way.id}`},
        el("div", {class: "bar"}, el("h2", {id: `way-${way.id}`}, way.title),
           el("button", {type: "button", "data-do": "copy", "data-from": `lines-${way.id}`, "aria-label": `Copy the lines for ${way.title}`},
              "Copy")),
        way.text && el("p", {class: "dim"}, way.text),
        el("pre", {id: `lines-${way.id}`, tabindex: 0, role: "region", "aria-label": `Lines for ${way.title}`}, way.lines.join("\n")));
}

export function startView(state, data) {
    const listens = Object.entries(data.status.listens).filter(([what, address]) => address && what !== "control");
    return [
        heading("Waiting for the first span",
                el("p", {class: "lead"}, "Start your program with the lines of its language. This page turns to the live view when a span arrives."),
                el("p", {class: "dim"}, "Listening: ", listens.map(([what, address], i) =>
                    [i > 0 && ", ", `${what} at `, el("code", {}, reachable(address))]))),
        el("div", {class: "ways", "data-key": "ways"}, ways(data.status).map(wayFigure)),
    ];
}
