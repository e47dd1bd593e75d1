// SPDX-License-Identifier: MIT
// Copyright 2026 the Pythia developers
'use strict';
/* Reads the list of what shall be open (pythia-control-http(7)) in short slices, between which the program runs. The
 * server is not trusted: JSON.parse of a list of 8 MiB, and making the sets of it, stops the event loop for a second. So
 * the list is read value by value by a generator, and its size, its values and their depth are bounded. */

const now = performance.now.bind(performance);
const later = setTimeout;

const LIST_MAX = 8 << 20; // bytes
const VALUES_MAX = 200000; // ids, types, numbers, arrays and objects of one list
const TEXT_MAX = 4096; // bytes of one text, escaped
const DEPTH_MAX = 32; // of a member that is not known
const STEP = 32; // values between two looks at the clock
const SLICE_MS = 1; // of reading at a time
const PAUSE_MS = 4; // between two slices: reading takes a fifth of the program's time at most

const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, COLON = 0x3a;
const OPEN_LIST = 0x5b, CLOSE_LIST = 0x5d, OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d;

/** JSON by its values. Each method throws where the bytes are something else. */
class Cursor {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.values = 0;
  }
  /** The next byte that is no white space; undefined at the end. */
  peek() {
    const { bytes } = this;
    while (bytes[this.at] === 0x20 || (bytes[this.at] >= 0x09 && bytes[this.at] <= 0x0d)) this.at++;
    return bytes[this.at];
  }
  takes(byte) {
    const found = this.peek() === byte;
    if (found) this.at++;
    return found;
  }
  take(byte) {
    if (!this.takes(byte)) throw new Error(`no '${String.fromCharCode(byte)}' at byte ${this.at}`);
  }
  count() {
    if (++this.values > VALUES_MAX) throw new Error(`more than ${VALUES_MAX} values`);
  }
  text() {
    this.take(QUOTE);
    this.count();
    const begin = this.at - 1;
    const last = Math.min(this.bytes.length, begin + TEXT_MAX);
    while (this.at < last && this.bytes[this.at] !== QUOTE) this.at += this.bytes[this.at] === BACKSLASH ? 2 : 1;
    if (this.at >= last) throw new Error(`a text of more than ${TEXT_MAX} bytes, or without an end`);
    return JSON.parse(this.bytes.toString('utf8', begin, ++this.at));
  }
  /** A number, true, false or null. */
  scalar() {
    this.count();
    this.peek();
    const begin = this.at;
    while (/[-+.\w]/.test(String.fromCharCode(this.bytes[this.at] ?? 0)) && this.at - begin < 64) this.at++;
    return JSON.parse(this.bytes.toString('latin1', begin, this.at));
  }
  /** What is between the commas of an array or object, one after the other. */
  *elements(open, close) {
    this.take(open);
    this.count();
    if (this.takes(close)) return;
    do yield; while (this.takes(COMMA));
    this.take(close);
  }
  key() {
    const key = this.text();
    this.take(COLON);
    return key;
  }
}

/** A value of which nothing is wanted. */
function* skip(cursor, depth = 0) {
  if (depth > DEPTH_MAX) throw new Error(`more than ${DEPTH_MAX} values in each other`);
  const first = cursor.peek();
  if (first === QUOTE) cursor.text();
  else if (first === OPEN_OBJECT)
    for (const _ of cursor.elements(OPEN_OBJECT, CLOSE_OBJECT)) {
      cursor.key();
      yield* skip(cursor, depth + 1);
    }
  else if (first === OPEN_LIST)
    for (const _ of cursor.elements(OPEN_LIST, CLOSE_LIST)) yield* skip(cursor, depth + 1);
  else cursor.scalar();
  yield;
}

function* readTexts(cursor) {
  const texts = new Set();
  for (const _ of cursor.elements(OPEN_LIST, CLOSE_LIST)) {
    texts.add(cursor.text());
    yield;
  }
  return texts;
}

function* readTyped(cursor) {
  const typed = new Map();
  for (const _ of cursor.elements(OPEN_OBJECT, CLOSE_OBJECT)) {
    const id = cursor.key();
    typed.set(id, yield* readTexts(cursor));
  }
  return typed;
}

/** A text or a scalar; undefined for an array or object. */
function* readSimple(cursor) {
  const first = cursor.peek();
  if (first === QUOTE) return cursor.text();
  if (first !== OPEN_LIST && first !== OPEN_OBJECT) return cursor.scalar();
  return void (yield* skip(cursor));
}

const READERS = new Map([['open', readTexts], ['open_for', readTyped], ['closed', readTexts], ['default', readSimple],
  ['type_key', readSimple], ['lease_ms', readSimple], ['poll_ms', readSimple], ['report', readSimple]]);

function within(value, low, high, otherwise) {
  return Number.isFinite(value) ? Math.min(Math.max(value, low), high) : otherwise;
}

/** Reads a list, with a yield after each value: { open, openFor, closed, fallback, typeKey, leaseMs, pollMs, report }.
 * Throws where the bytes are no list, or one beyond the bounds. */
function* readList(bytes) {
  if (bytes.length > LIST_MAX) throw new Error(`more than ${LIST_MAX} bytes`);
  const cursor = new Cursor(bytes);
  const members = {};
  for (const _ of cursor.elements(OPEN_OBJECT, CLOSE_OBJECT)) {
    const key = cursor.key();
    const reader = READERS.get(key);
    if (reader) members[key] = yield* reader(cursor);
    else yield* skip(cursor);
  }
  if (cursor.peek() !== undefined) throw new Error('more than one value');
  return {
    open: members.open ?? new Set(), openFor: members.open_for ?? new Map(), closed: members.closed ?? new Set(),
    fallback: members.default === 'none' ? 'none' : 'skeleton',
    typeKey: typeof members.type_key === 'string' ? members.type_key : undefined,
    leaseMs: within(members.lease_ms, 100, 86400000, 30000),
    pollMs: within(members.poll_ms, 10, 60000, 250),
    report: members.report === true,
  };
}

/** Runs a generator to its end in slices of SLICE_MS, PAUSE_MS apart: its value, and how long it ran. A program that is
 * done ends in between. `clock` and `wait` stand in for the real ones in tests. */
function inSlices(steps, clock = now, wait = later) {
  return new Promise((resolve, reject) => {
    let spentMs = 0;
    const slice = () => {
      const begin = clock();
      try {
        do {
          for (let i = 0; i < STEP; i++) {
            const step = steps.next();
            if (step.done) return resolve({ value: step.value, spentMs: spentMs + clock() - begin });
          }
        } while (clock() - begin < SLICE_MS);
      } catch (why) {
        return reject(why);
      }
      spentMs += clock() - begin;
      wait(slice, PAUSE_MS)?.unref();
    };
    slice();
  });
}

module.exports = { LIST_MAX, VALUES_MAX, SLICE_MS, STEP, readList, inSlices };
