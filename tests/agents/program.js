// SPDX-License-Identifier: MIT
'use strict';
// The program of README.md in Node.js: run with --require pythia-gate.js. @opentelemetry packages from the working directory.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const { writeSync } = require('node:fs');
const { createInterface } = require('node:readline');
const { createRequire } = require('node:module');
const near = createRequire(`${process.cwd()}/`);
const api = near('@opentelemetry/api');
const { NodeTracerProvider } = near('@opentelemetry/sdk-trace-node');
const { SimpleSpanProcessor } = near('@opentelemetry/sdk-trace-base');
const { resourceFromAttributes } = near('@opentelemetry/resources');

const KINDS = ['internal', 'server', 'client', 'producer', 'consumer'];
const STATUS = ['unset', 'ok', 'error'];

function write(value) {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (why) {
      if (why.code !== 'EAGAIN') throw why;
    }
  }
}

const exporter = {
  export(spans, done) {
    for (const span of spans) {
      if (/^(?:names|cost)/.test(span.instrumentationScope.name)) continue;
      const { attributes: place } = span.resource;
      write({ span: { service: place['service.name'], host: place['host.name'] ?? null, pid: place['process.pid'] ?? null, scope: span.instrumentationScope.name,
        name: span.name, trace: span.spanContext().traceId, id: span.spanContext().spanId,
        parent: span.parentSpanContext?.spanId ?? '', kind: KINDS[span.kind], attributes: span.attributes,
        links: span.links.map(({ context }) => ({ trace: context.traceId, id: context.spanId })),
        events: span.events.map(({ name }) => name), status: STATUS[span.status.code],
        state: span.spanContext().traceState?.serialize() ?? '' } });
    }
    done({ code: 0 });
  },
  shutdown: async () => {},
};

const providers = new Map();
function providerOf(service) {
  let provider = providers.get(service);
  if (provider === undefined) {
    const given = (process.env.OTEL_RESOURCE_ATTRIBUTES ?? '').split(',').filter(Boolean).map((pair) => pair.split('='));
    const resource = resourceFromAttributes({ ...Object.fromEntries(given), 'service.name': service });
    provider = new NodeTracerProvider({ resource,
      spanProcessors: [new SimpleSpanProcessor(exporter)] });
    if (providers.size === 0) provider.register();
    providers.set(service, provider);
  }
  return provider;
}

function describe(name, span) {
  const context = span.spanContext();
  const headers = {}, baggage = {};
  api.propagation.inject(api.context.active(), headers);
  for (const [key, { value }] of api.propagation.getActiveBaggage()?.getAllEntries() ?? []) baggage[key] = value;
  return { name, recording: span.isRecording(), trace: context.traceId, id: context.spanId,
    sampled: (context.traceFlags & 1) === 1, state: context.traceState?.serialize() ?? '', baggage, headers };
}

async function makeSpan(provider, node, made) {
  const tracer = provider.getTracer(node.scope ?? 'web');
  const place = made.push(undefined) - 1;
  const options = { kind: KINDS.indexOf(node.kind ?? 'internal'), attributes: node.attributes, root: node.root,
    links: node.links?.map(({ trace, id }) => ({ context: { traceId: trace, spanId: id, traceFlags: 1 } })) };
  const body = async (span) => {
    if (node.late) span.setAttributes(node.late);
    if (node.event) span.addEvent(node.event);
    if (node.rename) span.updateName(node.rename);
    let within = api.context.active();
    if (node.baggage) {
      let baggage = api.propagation.getActiveBaggage() ?? api.propagation.createBaggage();
      for (const [key, value] of Object.entries(node.baggage)) baggage = baggage.setEntry(key, { value });
      within = api.propagation.setBaggage(within, baggage);
    }
    await api.context.with(within, async () => {
      made[place] = describe(node.name, span);
      if (node.parallel) await Promise.all((node.children ?? []).map((child) => makeSpan(provider, child, made)));
      else for (const child of node.children ?? []) await makeSpan(provider, child, made);
    });
    if (node.error) throw new Error(node.error);
  };
  const span = tracer.startSpan(node.name, options);
  try {
    await (node.apart ? body(span) : api.context.with(api.trace.setSpan(api.context.active(), span), () => body(span)));
  } catch (why) { // JavaScript has no helper that records exceptions
    span.recordException(why);
    span.setStatus({ code: 2, message: why.message });
  } finally {
    span.end();
  }
}

async function makeTree(service, tree, headers = {}) {
  const made = [];
  await api.context.with(api.propagation.extract(api.ROOT_CONTEXT, headers), async () => {
    for (const node of tree) await makeSpan(providerOf(service), node, made);
  });
  return made;
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function repeat({ count, threads, tree }) {
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      await makeTree(process.env.OTEL_SERVICE_NAME, tree);
      await new Promise(setImmediate);
    }
  };
  await Promise.all(Array.from({ length: threads }, work));
  return { count };
}

// What nobody holds any longer is no use of memory, as System.gc() says in Java.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
async function memory() {
  await new Promise(setImmediate); // promises of the processor hold the last spans until now
  collectGarbage();
  return { rss_bytes: process.memoryUsage.rss() };
}

function names({ count, scope, kind = 'internal' }) {
  const tracer = providerOf(process.env.OTEL_SERVICE_NAME).getTracer(scope);
  let recorded = 0;
  for (let i = 0; i < count; i++) {
    const span = tracer.startSpan(`name X${i}`, { kind: KINDS.indexOf(kind), root: true });
    recorded += span.isRecording();
    span.end();
  }
  return { recorded };
}

async function pause({ ms }) {
  let late = 0;
  for (const end = performance.now() + ms; performance.now() < end;) {
    const from = performance.now();
    await sleep(1);
    late = Math.max(late, performance.now() - from - 1);
  }
  return { late_ms: late };
}

function cost({ count }) {
  const tracer = providerOf(process.env.OTEL_SERVICE_NAME).getTracer('cost');
  const cpuNs = () => {
    const { user, system } = process.cpuUsage();
    return 1000 * (user + system);
  };
  const timed = (pass) => {
    let best = Infinity;
    for (let round = 0; round < 20; round++) {
      const from = cpuNs();
      for (let i = 0; i < count / 4; i++) pass();
      best = Math.min(best, 4 * (cpuNs() - from) / count);
    }
    return best;
  };
  const both = (name) => [timed(() => tracer.startSpan(name).end()), timed(() => tracer.startActiveSpan(name, (span) => span.end()))];
  return tracer.startActiveSpan('root', (span) => {
    const [closed_ns, closed_current_ns] = both('closed');
    const [open_ns, open_current_ns] = both('open');
    span.end();
    return { closed_ns, closed_current_ns, open_ns, open_current_ns };
  });
}

const commands = {
  spans: async ({ tree, service, headers }) => ({ made: await makeTree(service ?? process.env.OTEL_SERVICE_NAME, tree, headers) }),
  repeat,
  names,
  pause,
  cost,
  memory,
};

async function main() {
  providerOf(process.env.OTEL_SERVICE_NAME);
  write({ ready: true, agent: 'node' });
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    const run = commands[command.do];
    write(run ? { done: command.do, ...(await run(command)) } : { cannot: command.do });
  }
  for (const provider of providers.values()) await provider.shutdown();
}

main();
