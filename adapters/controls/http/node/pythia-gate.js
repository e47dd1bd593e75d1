// SPDX-License-Identifier: MIT
// Copyright 2026 the Pythia developers
'use strict';
/* Switches for the spans of any OpenTelemetry program in Node.js, whose code nobody changes:
 *
 *     node --require /usr/share/pythia/node/pythia-gate.js app.js
 *
 * Each (scope, span name) is a trace point that can be closed. A closed point is transparent: it makes no span, and what
 * is started below it hangs on the nearest open span above. What shall be open is asked for over HTTP
 * (pythia-control-http(7)); without an answer for as long as the lease, only entry points stay open: spans of servers and
 * consumers, and those without a parent. Whatever goes wrong here, the program runs on as without it.
 *
 * A point may be open for some types of requests only. Of which type a request is, the process knows in which it begins,
 * often not before its route is found; it tells those that it calls, in a header. As long as the type is not known such a
 * point is open: pythiad leaves out what it does not want, and nothing is lost.
 *
 * The program's own @opentelemetry packages are found through the global object that all copies of @opentelemetry/api 1.x
 * share, so that it does not matter which versions there are, where they lie, or whether they come before this file.
 *
 * Environment: PYTHIA_URL (http://127.0.0.1:4318), PYTHIA_SERVICE (service.name of the program's resource),
 * PYTHIA_TOKEN_FILE (a file with a token for the header Authorization), PYTHIA_OFF_FILE (/run/pythia/off: while this
 * file is there everything is closed), PYTHIA_GATE=0 (do nothing at all). */

// Taken before anybody instruments them: what this file does itself makes no spans.
const { request: httpRequest, Agent: HttpAgent } = require('node:http');
const { stat, readFileSync, writeSync } = require('node:fs');
const { hostname } = require('node:os');
const { lookup } = require('node:dns');
const { randomBytes } = require('node:crypto');
const { LIST_MAX, readList, inSlices } = require('./pythia-gate-list.js');
const now = performance.now.bind(performance);
const later = setTimeout;

const API = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');
const SUPPRESSED = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
const RPC = Symbol.for('OpenTelemetry SDK Context Key RPC_METADATA'); // of the HTTP request that is served
const TYPE = Symbol.for('pythia.gate.type'); // of a request, as the caller told it
const TYPE_HEADER = 'pythia-request-type';
const VERSION = 'pythia-gate-node 0.1.0'; // as in package.json
const INTERNAL = 0, SERVER = 1, CONSUMER = 4; // SpanKind
const PATCHED = Symbol.for('pythia.gate.patched');
// What belongs to a span or a tracer is a property of it: a WeakMap of all spans cost more than the rest of the gate (command
// "cost" of tests/agents/program.js).
const PASS = Symbol('pythia.pass'); // of an open span
const REQUEST = Symbol('pythia.request'); // of a span, open or closed
const KNOWN = Symbol('pythia.known'); // of a tracer

const POINTS_MAX = 5000; // of one service in this process; more run by the default rule
const NAMES_MAX = 5000; // of one tracer, before their identifiers are replaced
const ID_MAX = 512; // bytes
const ALIASES_MAX = 1000; // names that spans of one point were given later
const REPORT_POINTS = 1000; // in one report
const ROUTES_MAX = 1000; // of one service
const TYPE_MAX = 1024; // bytes of the header
const CHUNKS_MAX = 4000; // of an answer: a server that sends it byte by byte costs as much as a large one
const INFORMATION_MAX = 8; // answers 1xx before the answer
const TIMEOUT_MS = 2000;
const CONNECT_MS = 1000; // a program that is done cannot end while a connection is being made
const BACKOFF_MAX_MS = 2000;
// From one poll to the next pass .55 to .75 of the time that the list names: a switch shall be in force within that time,
// and in a program that is busy the answer and the report take up to 50 ms of it.
const EARLIEST = 0.55, JITTER = 0.2;
const READING_SHARE = 20; // a poll follows at the earliest after so many times what reading the last list took
const REPORT_MS = 1000; // between reports of new points
const NEWS_MS = 10000; // between reports of nothing but hits and prices
const SAMPLE = 16; // every so many passes of an open point is timed
const COSTS = 9; // of the last timed passes of a point, of which the median is its price
const MEASURE_MS = 60000; // between measurements of a closed pass, which take some 0.5 ms
const MEASURED_ROUNDS = 5, MEASURED_PASSES = 200; // the quickest round counts: nothing came between

// ---- what a trace point is called: as adapters/traces/otlp does it ----

const IDENTIFIER = /^(?:[0-9]+|[0-9A-Fa-f]{16,}|[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})$/;

/** A path-like name with the identifiers in it replaced, and without its query. */
function template(text) {
  if (!text.includes('/')) return text;
  const end = text.indexOf('?');
  const path = end < 0 ? text : text.slice(0, end);
  return path.split('/').map((element, i) => (i > 0 && IDENTIFIER.test(element) ? '{id}' : element)).join('/') || text;
}

/** Text as it arrives by OTLP: without halves of surrogate pairs, and without NUL. */
function sound(text) {
  text = String(text);
  return (text.isWellFormed?.() ?? true ? text : text.toWellFormed()).replaceAll('\0', '\uFFFD');
}

function pointId(service, scope, name) {
  const parts = scope ? [scope, template(sound(name))] : [template(sound(name))];
  return (service ? [service, ...parts] : parts).join(':') || '(unnamed)';
}

// ---- a span that is not one ----

const NO_CONTEXT = { traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 };

/** Stands for the nearest open span above. */
class ClosedSpan {
  constructor(context, request) {
    this._context = context;
    this[REQUEST] = request;
  }
  spanContext() {
    return this._context;
  }
  setAttribute() {
    return this;
  }
  setAttributes() {
    return this;
  }
  addEvent() {
    return this;
  }
  addLink() {
    return this;
  }
  addLinks() {
    return this;
  }
  setStatus() {
    return this;
  }
  updateName() {
    return this;
  }
  end() {}
  isRecording() {
    return false;
  }
  recordException() {}
}

// ---- what is open ----

/** What a list says. Never changed: another list is another table. */
class Table {
  constructor({ open = new Set(), openFor = new Map(), closed = new Set(), fallback = 'skeleton', typeKey } = {}) {
    this.open = open; // ids
    this.openFor = openFor; // id -> types
    this.closed = closed; // ids
    this.fallback = fallback;
    this.typeKey = typeKey; // undefined: nobody asks for types
  }
  /** Is it open, for some types at least? */
  isOpen(id, isEntry) {
    if (this.open.has(id) || this.openFor.has(id)) return true;
    return isEntry && this.fallback !== 'none' && !this.closed.has(id);
  }
}

const DEFAULT = new Table();
const OFF = new Table({ fallback: 'none' });

class Point {
  constructor(id) {
    this.id = id;
    this.hits = 0;
    this.entries = 0;
    this.left = 0; // spans that were given another name
    this.told = 0; // hits
    this.toldEntry = false;
    this.costs = []; // ns of the last passes that were timed
    this.known = false; // was told of
  }
  cost(ns) {
    if (this.costs.length === COSTS) this.costs.shift();
    this.costs.push(ns);
  }
  /** What a pass costs: the median, because a pass may have been interrupted for milliseconds. */
  get price() {
    return [...this.costs].sort((a, b) => a - b)[this.costs.length >> 1];
  }
  /** Is it an entry point more often than not? Those that are on their way to another name do not make it one. */
  get isEntry() {
    return this.entries * 2 >= this.hits && this.entries > 0 && this.entries * 2 >= this.left;
  }
}

/** The routes that requests of a service had in the end. While a request goes through routers its route grows: it is taken
 * for whole if one like it was, and none that goes on from there. */
class Routes {
  constructor() {
    this.whole = new Map(); // by route: does no other go on from it?
  }
  add(route) {
    if (this.whole.has(route) || this.whole.size >= ROUTES_MAX) return;
    const goesOn = (long, short) => long.startsWith(short.endsWith('/') ? short : `${short}/`);
    let isWhole = true;
    for (const other of this.whole.keys()) {
      if (goesOn(route, other)) this.whole.set(other, false);
      isWhole &&= !goesOn(other, route);
    }
    this.whole.set(route, isWhole);
  }
  isWhole(route) {
    return this.whole.get(route) === true;
  }
}

const text = (value) => (typeof value === 'string' && value !== '' ? value : undefined);
// Attributes that name a request, before its span does.
const NAMING = ['rpc.method', 'messaging.destination.template', 'url.path', 'url.full', 'http.target', 'http.url'];
const METHOD = /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH)$/;

/** A request in this process, from one entry on. */
class Request {
  constructor(known, told, begins) {
    this.known = known;
    this.told = told; // its type, by the caller
    this.begins = begins; // here, and not in another process
    this.span = undefined; // with which it begins
  }
  /** Its type, as pythiad finds it; undefined: not known yet, or not here. */
  type(context) {
    if (!this.begins || this.span === undefined) return this.told;
    const { agent, scope } = this.known;
    const { attributes = {}, kind, name } = this.span;
    if (agent.table.typeKey) return text(attributes[agent.table.typeKey]);
    if (text(attributes.request_type)) return attributes.request_type;
    const rpc = context?.getValue(RPC);
    const route = text(attributes['http.route']) ??
      (rpc?.span === this.span && agent.routes.isWhole(rpc.route) ? rpc.route : undefined);
    if (route !== undefined) {
      const method = text(attributes['http.request.method']) ?? text(attributes['http.method']) ?? METHOD.exec(name)?.[0];
      return sound(`${agent.service} ${method ? `${method} ` : ''}${route}`);
    }
    // Others are named by what may be set later: a span of another kind by its attributes, or by another name.
    const isNamed = kind === INTERNAL && !METHOD.test(name) && !NAMING.some((key) => key in attributes) &&
      this.span[PASS]?.gate.aliases.size === 0;
    return isNamed ? pointId(agent.service, scope, name) : undefined;
  }
}

/** The switch of the spans of one kind that begin with one name. Some are given another name later (an HTTP server knows
 * its route only then): they arrive as other points, which have no other switch than this. */
class Gate {
  constructor(known, point) {
    this.known = known;
    this.point = point; // null: there was no room for it
    this.inner = new Pass(this, false); // of all spans that are not timed and keep the name with which they start
    this.entry = new Pass(this, true);
    this.aliases = new Map(); // point -> spans that became it
    this.passes = 0; // while it was open
    this.table = undefined; // for which the next two hold
    this.open = this.openAsEntry = false;
    this.types = undefined; // sets of types for which it is open; undefined: all
  }
  isOpen(table, isEntry) {
    if (this.table !== table) {
      const points = [...this.aliases.keys()];
      const own = points.length ? table.isOpen(this.point.id, false) : undefined;
      this.open = own ?? table.isOpen(this.point.id, false);
      this.openAsEntry = own ?? table.isOpen(this.point.id, true);
      for (const { id } of points) {
        this.open ||= table.isOpen(id, false);
        this.openAsEntry ||= table.isOpen(id, true);
      }
      this.types = this.findTypes(table);
      this.table = table;
    }
    return isEntry ? this.openAsEntry : this.open;
  }
  findTypes(table) {
    const ids = this.point && table.openFor.size ? [this.point.id, ...[...this.aliases.keys()].map(({ id }) => id)] : [];
    if (ids.some((id) => table.open.has(id)) || !ids.some((id) => table.openFor.has(id))) return undefined;
    return ids.flatMap((id) => table.openFor.get(id) ?? []);
  }
}

/** A pass of an open point: the gate, and the point as which the span counts. */
class Pass {
  constructor(gate, isEntry, startNs) {
    this.gate = gate;
    this.point = gate.point;
    this.isEntry = isEntry;
    this.startNs = startNs; // what the start took; undefined: the pass is not timed
  }
}

// ---- asking and telling, for one service of this process ----

class Agent {
  constructor(service, host, settings, measureClosed) {
    this.service = service;
    this.settings = settings;
    this.measureClosed = measureClosed;
    this.closedNs = undefined; // what a pass of a closed point costs
    this.measured = -Infinity;
    this.instance = `${host}:${process.pid}:${randomBytes(4).toString('hex')}`;
    this.table = DEFAULT;
    this.points = new Map();
    this.routes = new Routes();
    this.refused = 0; // points for which there was no room, or whose ids are no good
    this.etag = ''; // of the list in force
    this.lease = undefined;
    this.pollMs = 250;
    this.failures = 0;
    this.reported = -Infinity;
    this.quietUntil = 0; // the answer to the last report was no
    this.unreported = false; // the list in force has not been confirmed
    this.reading = 0; // ms that the last list took
    this.told = new Set(); // of what was written to stderr
    this.connections = new HttpAgent({ keepAlive: true, maxSockets: 1 });
    this.next(0);
  }

  point(id) {
    let point = this.points.get(id);
    if (point === undefined) {
      if (this.points.size >= POINTS_MAX || Buffer.byteLength(id) > ID_MAX || /[\0-\x1f\x7f]/.test(id)) {
        this.refused++;
        return undefined;
      }
      point = new Point(id);
      this.points.set(id, point);
    }
    return point;
  }

  next(ms) {
    later(() => {
      const begin = now();
      this.poll().catch(() => this.failures++).finally(() => this.next(this.delay(now() - begin)));
    }, ms).unref();
  }

  /** How long to wait after a poll that took so long. */
  delay(tookMs) {
    const rest = Math.min(READING_SHARE * this.reading, BACKOFF_MAX_MS);
    const share = EARLIEST + JITTER * Math.random();
    const wait = this.failures ? Math.min(this.pollMs * 2 ** Math.min(this.failures, 10), BACKOFF_MAX_MS) * share
      : Math.max(this.pollMs * share - tookMs, this.pollMs / 4);
    return Math.max(wait, rest);
  }

  renew(ms) {
    clearTimeout(this.lease);
    this.lease = later(() => {
      if (this.table !== OFF) this.use(DEFAULT, '');
    }, ms).unref();
  }

  use(table, etag) {
    this.table = table;
    this.etag = etag;
  }

  async poll() {
    if (await exists(this.settings.offFile)) {
      this.use(OFF, '');
    } else if (this.table === OFF && this.etag === '') {
      this.use(DEFAULT, '');
    }
    this.reading = 0;
    const query = `?service=${encodeURIComponent(this.service)}&instance=${encodeURIComponent(this.instance)}`;
    const answer = await this.ask('GET', query, this.etag ? { 'if-none-match': `"${this.etag}"` } : {});
    let wanted = false;
    if (answer.status === 200) {
      const { leaseMs, pollMs, report, ...list } = await this.read(answer.body);
      const table = new Table(list);
      const etag = /^"([0-9a-f]{16})"$/.exec(answer.etag)?.[1] ?? '';
      this.pollMs = pollMs;
      this.leaseMs = leaseMs;
      if (this.table !== OFF || this.etag !== '') { // the file that says "off" is stronger
        this.unreported ||= etag !== this.etag;
        this.use(table, etag);
      }
      wanted = report;
    } else if (answer.status !== 304 || !this.etag) { // nothing was asked that could be unchanged
      throw new Error(`answer ${answer.status}`);
    }
    this.failures = 0;
    this.renew(this.leaseMs ?? 30000);
    await this.report(wanted);
  }

  /** The list in a body. One that cannot be read leaves what is in force until its lease ends. */
  async read(body) {
    const begin = now();
    try {
      const { value, spentMs } = await inSlices(readList(body));
      this.reading = spentMs;
      return value;
    } catch (why) {
      this.reading = now() - begin;
      throw this.tell('list', `a list that cannot be read is ignored: ${why.message}`);
    }
  }

  /** Writes a sentence to stderr, once of each kind, and gives an Error with it. */
  tell(kind, sentence) {
    if (!this.told.has(kind)) {
      this.told.add(kind);
      tell(`${this.service}: ${sentence}`);
    }
    return new Error(sentence);
  }

  /** Tell which points there are, if there is something to tell. */
  async report(everything) {
    const at = now();
    if (everything) for (const point of this.points.values()) point.known = false; // if not now, then with the next
    if (at < this.quietUntil || (everything && at - this.reported < REPORT_MS)) return;
    const news = [];
    const counts = at - this.reported > NEWS_MS;
    const due = this.unreported || everything || at - this.reported > REPORT_MS;
    for (const point of due ? this.points.values() : []) {
      if (point.known ? point.isEntry !== point.toldEntry || (counts && point.hits !== point.told) : point.hits > 0)
        news.push(point);
      if (news.length === REPORT_POINTS) break;
    }
    if (!due || (!news.length && !this.unreported && !everything)) return;
    const sent = news.map((point) => ({ point, hits: point.hits, entry: point.isEntry }));
    const points = sent.map(({ point, hits, entry }) => ({ id: point.id, hits: Math.max(0, hits - point.told),
      open_by_default: entry, price_ns: point.price }));
    if (at - this.measured > MEASURE_MS) {
      this.measured = at;
      this.closedNs = this.measureClosed(this);
    }
    const { service, instance, etag: applied, closedNs } = this;
    const answer = await this.ask('POST', '', { 'content-type': 'application/json' },
      JSON.stringify({ service, instance, agent: VERSION, applied, closed_ns: closedNs, points }));
    if (answer.status !== 200) {
      this.quietUntil = now() + NEWS_MS;
      return;
    }
    for (const { point, hits, entry } of sent) Object.assign(point, { known: true, told: hits, toldEntry: entry });
    this.unreported &&= this.etag !== applied;
    this.reported = news.length === REPORT_POINTS ? -Infinity : at; // there may be more
  }

  ask(method, query, headers, body) {
    const { url, token } = this.settings;
    return suppressed(() => new Promise((resolve, reject) => {
      const request = httpRequest({ method, lookup: lookUpOnce, host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port || 80,
        path: `${url.pathname.replace(/\/$/, '')}/v1/trace-points${query}`, agent: this.connections,
        headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) } });
      const timer = later(() => request.destroy(new Error('no answer')), TIMEOUT_MS).unref();
      const fail = (why) => {
        clearTimeout(timer);
        reject(why);
      };
      let information = 0;
      request.on('information', () => {
        if (++information > INFORMATION_MAX) request.destroy(new Error('answers without end'));
      });
      request.on('response', (response) => this.receive(response, request, fail, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      }));
      request.on('socket', (socket) => {
        socket.unref(); // a program that is done ends
        if (socket.connecting)
          later(() => socket.connecting && request.destroy(new Error('no connection')), CONNECT_MS).unref();
      });
      request.on('error', fail);
      request.on('close', () => fail(new Error('half an answer'))); // without effect after a whole one
      request.end(body);
    }));
  }

  receive(response, request, fail, done) {
    const chunks = [];
    let size = 0;
    response.on('data', (chunk) => {
      size += chunk.length;
      if (size > LIST_MAX) request.destroy(this.tell('size', `an answer of more than ${LIST_MAX} bytes is ignored`));
      else if (chunks.length === CHUNKS_MAX) request.destroy(new Error('an answer in too many chunks'));
      else chunks.push(chunk);
    });
    response.on('error', fail);
    response.on('end', () =>
      done({ status: response.statusCode, etag: response.headers.etag ?? '', body: Buffer.concat(chunks) }));
  }
}

/** Writes a line to stderr, where it can be written. */
function tell(sentence) {
  try {
    writeSync(2, `pythia-gate: ${sentence}\n`);
  } catch {
    // Nobody reads it, or not now. The program runs on.
  }
}

let isLookingUp = false;

/** Look up a name unless that is under way: a look-up that takes a minute holds one of the few threads of Node.js, in which
 * those of the program have to wait. */
function lookUpOnce(host, options, done) {
  if (isLookingUp) {
    process.nextTick(done, new Error('the name is not known yet'));
    return;
  }
  isLookingUp = true;
  lookup(host, options, (...answer) => {
    isLookingUp = false;
    done(...answer);
  });
}

function exists(file) {
  return new Promise((resolve) => (file ? stat(file, (why) => resolve(!why)) : resolve(false)));
}

/** Run with tracing suppressed: also connections and look-ups of names may be instrumented. */
function suppressed(run) {
  const contexts = globalThis[API]?.context;
  const active = contexts?.active?.();
  return active?.setValue ? contexts.with(active.setValue(SUPPRESSED, true), run) : run();
}

// ---- the switches ----

let settings;
const agents = new Map(); // by service

function agentOf(service, tracer) {
  let agent = agents.get(service);
  if (agent === undefined) {
    const prototype = Object.getPrototypeOf(tracer);
    const host = attributeOf(tracer._resource ?? tracer.resource, 'host.name');
    agents.set(service, (agent = new Agent(service, hostOr(host), settings, (of) => measureClosed(of, prototype))));
  }
  return agent;
}

/** A host as an instance can be named by it: what spans say, if it has no colon
 * and no slash, and else what the system says. */
const hostOr = (host) => (/^[!-.0-9;-~]{1,100}$/.test(host ?? '') ? host : hostname().slice(0, 64));

/** What the switches know of a tracer of a scope. */
const knownOf = (agent, scope) => ({ agent, scope, gates: [0, 1, 2, 3, 4].map(() => new Map()), ids: new Map() });

/** service.name of a tracer's resource; undefined while it is not known. */
function serviceOf(tracer) {
  if (settings.service) return settings.service;
  return attributeOf(tracer._resource ?? tracer.resource, 'service.name');
}

/** A text of a resource; undefined: there is none, or it is not known yet. */
function attributeOf(resource, key) {
  for (const [name, value] of resource?.getRawAttributes?.() ?? resource?._rawAttributes ?? [])
    if (name === key && value != null) return typeof value === 'string' ? value : undefined;
  const value = resource?.asyncAttributesPending ? undefined : resource?.attributes?.[key];
  return typeof value === 'string' ? value : undefined;
}

const named = new WeakMap(); // resource -> the same with host and process; exporters group spans by the object

/** Spans say on which host and in which process they were made, by which pythiad knows the instance. What the program's
 * resource says itself stays. */
function nameResource(tracer) {
  const key = tracer._resource === undefined ? 'resource' : '_resource';
  const resource = tracer[key];
  try {
    if (!named.has(resource)) {
      const Resource = resource.constructor;
      const attributes = { 'host.name': hostname(), 'process.pid': process.pid };
      const own = new Resource(typeof resource.getRawAttributes === 'function' ? { attributes } : attributes);
      const merged = own.merge(resource);
      named.set(resource, merged).set(merged, merged);
    }
    tracer[key] = named.get(resource);
  } catch {
    // Its spans say what the program says.
  }
}

function lookUp(tracer) {
  const service = serviceOf(tracer);
  if (!service) return undefined;
  nameResource(tracer);
  const scope = tracer.instrumentationScope?.name ?? tracer.instrumentationLibrary?.name ?? '';
  const known = knownOf(agentOf(sound(service), tracer), sound(scope));
  Object.defineProperty(tracer, KNOWN, { value: known, configurable: true });
  return known;
}

function gateOf(known, name, kind) {
  const gates = known.gates[kind] ?? known.gates[0];
  let gate = gates.get(name);
  if (gate === undefined) {
    if (gates.size >= NAMES_MAX) gates.clear();
    const id = pointId(known.agent.service, known.scope, name);
    gate = known.ids.get(`${kind}:${id}`); // names that differ in nothing but an identifier
    if (gate === undefined) {
      gate = new Gate(known, known.agent.point(id) ?? null);
      if (gate.point) known.ids.set(`${kind}:${id}`, gate);
    }
    gates.set(name, gate);
  }
  return gate;
}

function isValid(context) {
  return context !== undefined && context.traceId !== NO_CONTEXT.traceId && context.spanId !== NO_CONTEXT.spanId;
}

/** What becomes of the start of a span: a ClosedSpan, or the shared Pass of the gate that it goes through. */
function decide(known, name, kind, isEntry, request, above, context) {
  const gate = gateOf(known, name, kind ?? 0);
  const { table } = known.agent;
  const { point } = gate;
  if (point === null) return isEntry && table.fallback !== 'none' ? undefined : close(above, request);
  const open = gate.isOpen(table, isEntry) && (isEntry || gate.types === undefined || isOf(request, gate.types, context));
  if (open || gate.aliases.size === 0) { // else nobody knows as which it would arrive
    point.hits++;
    if (isEntry) point.entries++;
  }
  if (!open) return close(above, request);
  return isEntry ? gate.entry : gate.inner;
}

/** May it be of a type in one of these sets? */
function isOf(request, types, context) {
  const type = request.type(context);
  return type === undefined || types.some((set) => set.has(type));
}

function close(above, request) {
  const context = above?.spanContext();
  return new ClosedSpan(isValid(context) ? context : NO_CONTEXT, request);
}

/** What a pass of a closed point costs, in ns, by the code that programs run: of a point that is never reported, whose id
 * no list can have. */
function measureClosed(agent, prototype) {
  const tracer = Object.create(prototype);
  const known = knownOf(agent, '');
  known.gates[INTERNAL].set('closed', new Gate(known, new Point('')));
  tracer[KNOWN] = known;
  const above = new ClosedSpan(NO_CONTEXT, new Request(known, undefined, true));
  const context = { getValue: (key) => (key === SPAN ? above : undefined) };
  let best = Infinity;
  for (let round = 0; round < MEASURED_ROUNDS; round++) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < MEASURED_PASSES; i++) tracer.startSpan('closed', undefined, context).end();
    best = Math.min(best, Number(process.hrtime.bigint() - begin) / MEASURED_PASSES);
  }
  return best;
}

function gated(start) {
  return function startSpan(name, options, context) {
    let within = context, request, found;
    try {
      const known = this[KNOWN] ?? lookUp(this);
      within ??= globalThis[API]?.context?.active();
      if (known !== undefined && within?.getValue(SUPPRESSED) !== true) {
        const above = options?.root ? undefined : within?.getValue(SPAN);
        const kind = options?.kind;
        request = above?.[REQUEST];
        // Below a span that came through here nothing is an entry point, even if that one is closed and no open span is above.
        let isEntry = kind === SERVER || kind === CONSUMER;
        if (request === undefined) {
          const { begins, isRemote } = placeOf(above);
          isEntry ||= begins || isRemote;
          request = new Request(known, within?.getValue(TYPE), begins);
        }
        found = decide(known, name, kind, isEntry, request, above, within);
      }
    } catch {
      found = undefined; // better a span too many than a program that fails
    }
    if (found instanceof ClosedSpan) return found;
    const given = context === undefined ? within : context; // so that the SDK does not look for it again
    if (found === undefined) return start.call(this, name, options, given);
    const { gate } = found;
    if (gate.passes++ % SAMPLE !== 0) return notePass(start.call(this, name, options, given), found, request);
    const begin = now();
    const span = start.call(this, name, options, given);
    return notePass(span, new Pass(gate, found.isEntry, 1e6 * (now() - begin)), request);
  };
}

/** Does a request begin below this span, and is it one of another process? */
function placeOf(above) {
  const context = above?.spanContext();
  return { begins: !isValid(context), isRemote: context?.isRemote === true };
}

let lastPrototype; // of a span whose class is watched

/** Remember as what a span counts; returns the span. */
function notePass(span, pass, request) {
  try {
    request.span ??= span;
    span[PASS] = pass;
    span[REQUEST] = request;
    const prototype = Object.getPrototypeOf(span);
    if (prototype !== lastPrototype) watchSpans(prototype);
  } catch {
    // It runs as it would without us.
  }
  return span;
}

/** Watch updateName and end of one of the SDK's classes of spans. */
function watchSpans(prototype) {
  lastPrototype = prototype;
  if (Object.hasOwn(prototype, PATCHED) || typeof prototype.updateName !== 'function') return;
  const { updateName, end } = prototype;
  Object.defineProperty(prototype, PATCHED, { value: true });
  prototype.updateName = function (...rest) {
    try {
      rename(this, rest[0]);
    } catch {
      // The name changes all the same.
    }
    return Reflect.apply(updateName, this, rest);
  };
  if (typeof end === 'function') {
    prototype.end = function (time) {
      const startNs = this[PASS]?.startNs;
      return startNs === undefined ? end.call(this, time) : endTimed(this, startNs, end, time);
    };
  }
}

/** End a span whose pass is timed: its start and its end are what it costs the program. */
function endTimed(span, startNs, end, time) {
  const pass = span[PASS];
  pass.startNs = undefined; // a span may be ended twice
  const begin = now();
  const result = end.call(span, time);
  pass.point.cost(startNs + 1e6 * (now() - begin));
  return result;
}

/** A span arrives as another point than it began as: it counts there, and that point has the switch of its gate. */
function rename(span, name) {
  let pass = span[PASS];
  if (pass === undefined || typeof name !== 'string') return;
  const { gate, gate: { known } } = pass;
  if (span[REQUEST].span === span && text(span.attributes?.['http.route'])) // it is named after it when it ends
    known.agent.routes.add(span.attributes['http.route']);
  const point = known.agent.point(pointId(known.agent.service, known.scope, name));
  if (!point || point === pass.point || (!gate.aliases.has(point) && gate.aliases.size >= ALIASES_MAX)) return;
  if (pass === gate.inner || pass === gate.entry) pass = span[PASS] = new Pass(gate, pass.isEntry);
  count(pass, -1);
  pass.point.left++;
  pass.point = point;
  count(pass, 1);
}

function count({ gate, point, isEntry }, more) {
  point.hits += more;
  if (isEntry) point.entries += more;
  if (point === gate.point) return;
  const before = gate.aliases.get(point) ?? 0;
  if (before + more > 0) gate.aliases.set(point, before + more);
  else gate.aliases.delete(point); // it was a name in between
  if (before === 0 || before + more === 0) gate.table = undefined;
}

/** Put the switches in front of the tracers of a provider: of their class, so that those that exist have them too. */
function patchProvider(provider) {
  try {
    const tracer = provider?.getTracer?.('pythia-gate');
    const prototype = tracer && Object.getPrototypeOf(tracer);
    if (typeof prototype?.startSpan !== 'function' || Object.hasOwn(prototype, PATCHED)) return;
    if (tracer._resource === undefined && tracer.resource === undefined) return; // of no SDK
    Object.defineProperty(prototype, PATCHED, { value: true });
    prototype.startSpan = gated(prototype.startSpan);
    lookUp(tracer); // ask from now on, not from the first span on
  } catch {
    // It runs as it would without us.
  }
}

/** The provider of @opentelemetry/api, which passes calls on to one that is named later. */
function watchProvider(provider) {
  const setDelegate = provider?.setDelegate;
  if (typeof setDelegate !== 'function') {
    patchProvider(provider);
    return;
  }
  if (Object.hasOwn(provider, PATCHED)) return;
  Object.defineProperty(provider, PATCHED, { value: true });
  provider.setDelegate = function (delegate) {
    const result = Reflect.apply(setDelegate, this, [delegate]);
    patchProvider(delegate);
    return result;
  };
  patchProvider(provider.getDelegate?.());
}

/** Tell the type of a request to those that are called, and hear it from those that call. */
function watchPropagator(propagator) {
  if (typeof propagator?.inject !== 'function' || typeof propagator.extract !== 'function' ||
    Object.hasOwn(propagator, PATCHED)) return;
  const { inject, extract } = propagator;
  Object.defineProperty(propagator, PATCHED, { value: true });
  propagator.inject = function (context, carrier, setter) {
    Reflect.apply(inject, this, [context, carrier, setter]);
    try {
      const type = typeToTell(context);
      if (type !== undefined) setter.set(carrier, TYPE_HEADER, type);
    } catch {
      // It is called without it.
    }
  };
  propagator.extract = function (context, carrier, getter) {
    const extracted = Reflect.apply(extract, this, [context, carrier, getter]);
    try {
      const told = [getter.get(carrier, TYPE_HEADER)].flat()[0];
      return text(told) && told.length <= TYPE_MAX ? extracted.setValue(TYPE, decodeURIComponent(told)) : extracted;
    } catch {
      return extracted;
    }
  };
}

/** The type as a header, while a point of any service is open for some types only. */
function typeToTell(context) {
  const request = context.getValue(SPAN)?.[REQUEST];
  if (request?.known.agent.table.typeKey === undefined) return undefined;
  const type = request.type(context);
  const encoded = type === undefined ? undefined : encodeURIComponent(type);
  return encoded?.length <= TYPE_MAX ? encoded : undefined;
}

/** Sees what is registered in the global object of the API. Its own properties are replaced by accessors: a program that
 * registers nothing but a provider sets it in the object that it has just made, not in what the global name gives. */
function watchApi(api) {
  if (typeof api !== 'object' || api === null) return;
  watchProperty(api, 'trace', watchProvider);
  watchProperty(api, 'propagation', watchPropagator);
}

function watchProperty(api, key, watch) {
  let value = api[key];
  try {
    watch(value);
    if (Object.getOwnPropertyDescriptor(api, key)?.get) return;
    Object.defineProperty(api, key, { configurable: true, enumerable: true, get: () => value, set: (next) => {
      value = next;
      try {
        watch(next);
      } catch {
        // It is registered all the same.
      }
    } });
  } catch {
    // Something here is frozen. It runs as it would without us.
  }
}

function readSettings(env) {
  const url = new URL(env.PYTHIA_URL || 'http://127.0.0.1:4318');
  if (url.protocol !== 'http:') throw new Error(`PYTHIA_URL begins with ${url.protocol}, and only http: is known`);
  return { url, service: env.PYTHIA_SERVICE ? sound(env.PYTHIA_SERVICE) : undefined,
    token: env.PYTHIA_TOKEN_FILE ? readFileSync(env.PYTHIA_TOKEN_FILE, 'utf8').trim() : undefined,
    offFile: env.PYTHIA_OFF_FILE ?? '/run/pythia/off' };
}

function install() {
  settings = readSettings(process.env);
  if (globalThis[API] !== undefined) {
    watchApi(globalThis[API]);
    return;
  }
  Object.defineProperty(globalThis, API, {
    configurable: true,
    enumerable: true,
    get: () => undefined,
    // Every call of the API reads it, faster where it has no accessor.
    set: (api) => {
      Object.defineProperty(globalThis, API, { value: api, configurable: true, enumerable: true, writable: true });
      watchApi(api);
    },
  });
}

if (process.env.PYTHIA_GATE !== '0' && !globalThis[PATCHED]) {
  try {
    install();
    globalThis[PATCHED] = true;
  } catch (why) {
    tell(`spans cannot be switched: ${why.message}`);
  }
}

module.exports = { template, pointId, Table, Routes, ClosedSpan, agents };
