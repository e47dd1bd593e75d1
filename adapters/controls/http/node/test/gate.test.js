// SPDX-License-Identifier: MIT
'use strict';
// The switches in this process, with the real SDK, against a server of lists that the test sets.
const test = require('node:test');
const assert = require('node:assert');
const http = require('node:http');
const { mkdtempSync, writeFileSync, rmSync } = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const folder = mkdtempSync(path.join(os.tmpdir(), 'pythia-gate-'));
const seen = { polls: 0, reports: [], headers: [] };
let answer = { status: 200, list: {} };
const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    seen.headers.push(request.headers);
    if (request.method === 'POST') {
      seen.reports.push(JSON.parse(Buffer.concat(chunks)));
      response.writeHead(answer.post ?? 200).end('{}');
      return;
    }
    seen.polls++;
    if (answer.silent) return;
    if (answer.raw !== undefined) {
      response.writeHead(200).end(answer.raw);
      return;
    }
    const body = JSON.stringify({ lease_ms: 600000, poll_ms: 10, ...answer.list });
    let hash = 7n;
    for (const byte of Buffer.from(body)) hash = BigInt.asUintN(64, hash * 1099511628211n + BigInt(byte));
    const etag = `"${hash.toString(16).padStart(16, '0')}"`;
    if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(answer.status, { etag }).end(body);
  });
});

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(condition, what) {
  for (const end = Date.now() + 120000; !condition();) {
    assert.ok(Date.now() < end, `not within 120 s: ${what ?? condition}`);
    await sleep(5);
  }
}

let api, spans, provider, gate, agent;

test.before(async () => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env.PYTHIA_URL = `http://127.0.0.1:${server.address().port}`;
  process.env.PYTHIA_OFF_FILE = path.join(folder, 'off');
  writeFileSync(path.join(folder, 'token'), 'sesame\n');
  process.env.PYTHIA_TOKEN_FILE = path.join(folder, 'token');
  gate = require('../pythia-gate.js'); // before the SDK, as --require does
  api = require('@opentelemetry/api');
  const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');
  const { InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base');
  const { resourceFromAttributes } = require('@opentelemetry/resources');
  const early = api.trace.getTracer('early'); // before there is a provider
  spans = new InMemorySpanExporter();
  provider = new NodeTracerProvider({ resource: resourceFromAttributes({ 'service.name': 'shop' }),
    spanProcessors: [new SimpleSpanProcessor(spans)] });
  provider.register();
  early.startSpan('first').end();
  assert.strictEqual(spans.getFinishedSpans().length, 1); // a root: open by default
  agent = gate.agents.get('shop');
});
test.after(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});

/** a -> b -> c, and what was recorded of it: "a c<a". */
function run(kind, parent) {
  spans.reset();
  const tracer = api.trace.getTracer('web', '1.0');
  const within = parent ? api.trace.setSpanContext(api.ROOT_CONTEXT, parent) : api.ROOT_CONTEXT;
  tracer.startActiveSpan('a', { kind }, within, (a) => {
    tracer.startActiveSpan('b/17', (b) => {
      b.setAttribute('k', 1).setAttributes({}).addEvent('e').setStatus({ code: 1 }).updateName('x').addLink({}).addLinks([]);
      b.recordException(new Error('x'));
      assert.strictEqual(b.isRecording(), spanIsOpen(b));
      tracer.startActiveSpan('c', (c) => c.end());
      b.end();
    });
    a.end();
  });
  const finished = spans.getFinishedSpans();
  const names = new Map(finished.map((span) => [span.spanContext().spanId, span.name]));
  return finished.map((span) => {
    const above = span.parentSpanContext?.spanId;
    return span.name + (above ? `<${names.get(above) ?? (above === parent?.spanId ? 'remote' : 'orphan')}` : '');
  }).sort().join(' ');
}
const spanIsOpen = (span) => span.constructor.name !== 'ClosedSpan';

async function set(list) {
  answer = { status: 200, list };
  const before = agent.etag;
  await until(() => agent.etag !== before || agent.table !== undefined && seen.polls > 0 && agent.etag !== '');
  const polls = seen.polls;
  await until(() => seen.polls > polls + 1);
}

const ids = { a: 'shop:web:a', b: 'shop:web:b/{id}', c: 'shop:web:c' };

test('without an answer only entry points are open', () => {
  agent.table = new gate.Table();
  assert.strictEqual(run(), 'a');
  assert.strictEqual(run(1, { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1, isRemote: true }), 'a<remote');
});

test('points are opened and closed one by one, and no span loses its parent', async () => {
  const expected = { '': 'a', a: 'a', b: 'a x<a', c: 'a c<a', 'a b': 'a x<a', 'b c': 'a c<x x<a', 'a b c': 'a c<x x<a' };
  for (const [open, names] of Object.entries(expected)) {
    await set({ open: open.split(' ').filter(Boolean).map((letter) => ids[letter]) });
    assert.strictEqual(run(), names, `open: ${open}`);
  }
  const closed = { 'a': 'c<x x', 'a b': 'c', 'a b c': '', 'b': 'a c<a' };
  for (const [names, result] of Object.entries(closed)) {
    const shut = names.split(' ');
    await set({ open: ['a', 'b', 'c'].filter((letter) => !shut.includes(letter)).map((letter) => ids[letter]),
      closed: shut.map((letter) => ids[letter]) });
    assert.strictEqual(run(), result, `closed: ${names}`);
  }
});

test('what is below a closed entry point hangs on the caller', async () => {
  const remote = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1, isRemote: true };
  await set({ open: [ids.c], closed: [ids.a] });
  assert.strictEqual(run(1, remote), 'c<remote'); // and b is no entry point for that
});

test('what is in force is confirmed, with the points, their prices and hits', async () => {
  await set({ open: [ids.a, ids.b, ids.c] });
  for (let i = 0; i < 40; i++) run();
  seen.reports = [];
  answer.list = { open: [ids.a, ids.b, ids.c], report: true };
  await until(() => seen.reports.some((report) => report.points.length >= 3));
  answer.list = { open: [ids.a, ids.b, ids.c] };
  const report = seen.reports.find((one) => one.points.length >= 3);
  assert.strictEqual(report.service, 'shop');
  assert.match(report.instance, /^.+:[0-9]+:[0-9a-f]{8}$/);
  assert.strictEqual(report.agent, `pythia-gate-node ${require('../package.json').version}`);
  assert.ok(report.closed_ns > 1 && report.closed_ns < 1e6, report.closed_ns);
  const points = new Map(report.points.map((point) => [point.id, point]));
  const renamed = points.get('shop:web:x'); // as which b arrives
  assert.ok(renamed.hits >= 40);
  assert.ok(renamed.price_ns > 100, renamed.price_ns); // how much more depends on the machine
  assert.strictEqual(points.get(ids.a).open_by_default, true);
  assert.strictEqual(renamed.open_by_default, false);
  await until(() => seen.reports.at(-1).applied === agent.etag && agent.etag !== '');
  assert.strictEqual(seen.headers.at(-1).authorization, 'Bearer sesame');
});

test('a list that cannot be read leaves what is in force', async () => {
  await set({ open: [ids.c], lease_ms: 60000 });
  const polls = seen.polls;
  for (const raw of ['', '[', '{"open":7}', 'x'.repeat(9 << 20)]) {
    answer = { raw };
    await until(() => seen.polls > polls);
    assert.strictEqual(run(), 'a c<a');
  }
});

test('the default set returns when the lease is out, and goes again', async () => {
  for (const bad of [{ silent: true }, { status: 503, list: {} }]) {
    await set({ open: [ids.b, ids.c], lease_ms: 400 });
    await until(() => run() === 'a c<x x<a', 'open');
    answer = bad;
    server.closeAllConnections();
    await until(() => run() === 'a', 'default');
    await set({ open: [ids.b, ids.c] });
    await until(() => run() === 'a c<x x<a', 'open again');
  }
});

test('a refused report is not repeated at once', async () => {
  seen.reports = [];
  answer = { status: 200, list: { open: [ids.c], x: 1 }, post: 429 };
  await until(() => seen.reports.length === 1);
  const polls = seen.polls;
  await until(() => seen.polls > polls + 5);
  assert.strictEqual(seen.reports.length, 1);
  agent.quietUntil = 0;
});

test('everything is closed while the file says so', async () => {
  await set({ open: [ids.a, ids.b, ids.c], lease_ms: 400 });
  writeFileSync(path.join(folder, 'off'), '');
  await until(() => run() === '', 'off');
  await sleep(600); // longer than the lease
  assert.strictEqual(run(), '');
  rmSync(path.join(folder, 'off'));
  await until(() => run() === 'a c<x x<a', 'on');
});

test('a span that is renamed has the switch of the name at its start', async () => {
  const tracer = api.trace.getTracer('http');
  const serve = () => {
    spans.reset();
    const span = tracer.startSpan('GET', { kind: 1 });
    span.updateName('GET /users');
    span.updateName('GET /users/12');
    span.end();
    return spans.getFinishedSpans().map((one) => one.name).join(' ');
  };
  await set({ open: [] });
  assert.strictEqual(serve(), 'GET /users/12'); // open by default
  seen.reports = [];
  await until(() => seen.reports.some((report) => report.points.some(({ id }) => id === 'shop:http:GET /users/{id}')));
  const told = seen.reports.flatMap((report) => report.points).find(({ id }) => id === 'shop:http:GET /users/{id}');
  assert.strictEqual(told.open_by_default, true);
  assert.ok(!seen.reports.some((report) => report.points.some(({ id }) => id === 'shop:http:GET /users'))); // in between
  await set({ open: ['shop:http:GET /users/{id}'] });
  assert.strictEqual(serve(), 'GET /users/12');
  spans.reset();
  tracer.startSpan('GET', { kind: 2 }, api.trace.setSpanContext(api.ROOT_CONTEXT, // another kind is another switch
    { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 })).end();
  assert.strictEqual(spans.getFinishedSpans().length, 0);
  await set({ open: [], closed: ['shop:http:GET /users/{id}'] });
  assert.strictEqual(serve(), '');
});

/** A request that is served: a child before its route is found, and one after. "+" of those that made a span. */
function serve(route, { method = 'GET', within = api.ROOT_CONTEXT, ends = route, inside = () => {} } = {}) {
  const { setRPCMetadata, RPCType } = require('@opentelemetry/core');
  const tracer = api.trace.getTracer('web', '1.0');
  const made = (name) => {
    const span = tracer.startSpan(name, {});
    span.end();
    return spanIsOpen(span) ? '+' : '-';
  };
  const span = tracer.startSpan(method, { kind: 1, attributes: { 'http.request.method': method } }, within);
  const metadata = { type: RPCType.HTTP, span };
  let result;
  api.context.with(setRPCMetadata(api.trace.setSpan(within, span), metadata), () => {
    const early = made('c');
    metadata.route = route;
    result = early + made('c');
    inside();
  });
  span.setAttribute('http.route', ends).updateName(`${method} ${ends}`);
  span.end();
  return result;
}

test('a point that is open for some types makes spans in these only, once the type is known', async () => {
  await set({ open: [ids.a], open_for: { [ids.c]: ['shop GET /list', 'shop:web:a'] }, type_key: '' });
  assert.deepStrictEqual([1, 2].map(() => serve('/order')), ['++', '+-']); // its route was never seen before
  assert.deepStrictEqual([1, 2].map(() => serve('/list')), ['++', '++']);
  assert.deepStrictEqual([1, 2].map(() => serve('/list', { method: 'POST' })), ['+-', '+-']);
  // A router's route, before that of the handler is found.
  assert.deepStrictEqual([1, 2].map(() => serve('/api', { ends: '/api/list' })), ['++', '++']);
  // A span that nobody serves is named by its name.
  assert.strictEqual(run(), 'a c<a');
  const tracer = api.trace.getTracer('web', '1.0');
  const below = (root) => {
    let open;
    tracer.startActiveSpan(root, (span) => {
      tracer.startActiveSpan('c', (c) => {
        open = spanIsOpen(c);
        c.end();
      });
      span.end();
    });
    return open;
  };
  assert.strictEqual(below('job'), false);
  // A switch with two names, b and the x that it becomes, is open for the types of both, and for all if one is.
  const limits = [[{ [ids.b]: ['shop:web:a'] }, 'a x<a'], [{ [ids.b]: ['nothing'] }, 'a'],
    [{ 'shop:web:x': ['shop:web:a'] }, 'a x<a'], [{ [ids.b]: ['nothing'], 'shop:web:x': ['shop:web:a'] }, 'a x<a']];
  for (const [open_for, names] of limits) {
    await set({ open: [], open_for, type_key: '' });
    assert.strictEqual(run(), names, JSON.stringify(open_for));
  }
  await set({ open: ['shop:web:x'], open_for: { [ids.b]: ['nothing'] }, type_key: '' });
  assert.strictEqual(run(), 'a x<a');
});

test('what names types is an attribute, if the list says so', async () => {
  await set({ open_for: { [ids.c]: ['gold'] }, type_key: 'tier' });
  const tracer = api.trace.getTracer('web', '1.0');
  const below = (attributes) => {
    let open;
    tracer.startActiveSpan('job', { attributes }, (span) => {
      open = spanIsOpen(tracer.startSpan('c'));
      span.end();
    });
    return open;
  };
  assert.deepStrictEqual([{ tier: 'gold' }, { tier: 'tin' }, {}].map(below), [true, false, true]); // {}: it may come later
  await set({ open_for: { [ids.c]: ['gold'] }, type_key: '' });
  assert.deepStrictEqual([{ request_type: 'gold' }, { request_type: 'tin' }].map(below), [true, false]);
});

test('the type is told to those that are called', async () => {
  await set({ open_for: { [ids.c]: ['shop GET /list'] }, type_key: '' });
  const carriers = {};
  for (const route of ['/list', '/order'])
    serve(route, { inside: () => api.propagation.inject(api.context.active(), (carriers[route] = {})) });
  assert.strictEqual(carriers['/list']['pythia-request-type'], 'shop%20GET%20%2Flist');
  const served = (headers) => serve('/inner', { within: api.propagation.extract(api.ROOT_CONTEXT, headers) });
  assert.deepStrictEqual([carriers['/list'], carriers['/order']].map(served), ['++', '--']);
  // Without it the type is not known here; what cannot be one is none.
  for (const wrong of [undefined, '', '%', 'x'.repeat(2000)])
    assert.strictEqual(served({ ...carriers['/order'], 'pythia-request-type': wrong }), '++', wrong);
  await set({ open: [ids.c] }); // nobody asks for types
  const carrier = {};
  serve('/list', { inside: () => api.propagation.inject(api.context.active(), carrier) });
  assert.deepStrictEqual(Object.keys(carrier), ['traceparent']);
});

test('names without end do not fill the memory', async () => {
  const tracer = api.trace.getTracer('many');
  for (let i = 0; i < 20000; i++) tracer.startSpan(`name ${i}`).end();
  assert.ok(agent.points.size <= 5000);
  assert.ok(agent.refused > 0);
  spans.reset();
  tracer.startSpan('one more').end(); // by the default rule
  assert.strictEqual(spans.getFinishedSpans().length, 1);
});

test('odd calls are answered as by the SDK', () => {
  const tracer = api.trace.getTracer('odd');
  const none = tracer.startSpan('r', { root: true }, api.trace.setSpanContext(api.ROOT_CONTEXT,
    { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }));
  assert.notStrictEqual(none.spanContext().traceId, '1'.repeat(32));
  none.end();
  tracer.startSpan('x', undefined).end();
  tracer.startSpan(undefined).end();
  assert.strictEqual(tracer.startActiveSpan('y', () => 5), 5);
  const { suppressTracing } = require('@opentelemetry/core');
  const quiet = tracer.startSpan('z', {}, suppressTracing(api.context.active()));
  assert.strictEqual(quiet.isRecording(), false);
});
