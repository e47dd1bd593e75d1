// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { readFileSync } = require('node:fs');
const path = require('node:path');

process.env.PYTHIA_GATE = '0';
const { pointId, Table, Routes } = require('../pythia-gate.js');
const { LIST_MAX, VALUES_MAX, SLICE_MS, STEP, readList, inSlices } = require('../pythia-gate-list.js');
const vectors = process.env.PYTHIA_VECTORS ??
  path.join(__dirname, '../../../../../tests/adapters/data/trace_point_ids.jsonl');

test('ids are those that the adapter of OTLP makes', () => {
  const lines = readFileSync(vectors, 'utf8').trim().split('\n');
  assert.strictEqual(lines.length, 37);
  for (const line of lines) {
    const { service, scope, name, id } = JSON.parse(line);
    assert.strictEqual(pointId(service, scope, name), id);
  }
  assert.strictEqual(pointId('', '', ''), '(unnamed)');
  assert.strictEqual(pointId('s', '', 'a\ud800b'), 's:a\ufffdb');
  assert.strictEqual(pointId('s', '', 17), 's:17');
});

function parseList(text) {
  const steps = readList(Buffer.from(text));
  for (let step = steps.next(); ; step = steps.next())
    if (step.done) return { ...step.value, table: new Table(step.value) };
}

test('a list says what is open', () => {
  const { table, leaseMs, pollMs, report } = parseList(
    '{"lease_ms":1000,"poll_ms":1,"default":"skeleton","open":["a"],"open_for":{"b":["t"]},"closed":["c"],"report":true}');
  assert.deepStrictEqual([leaseMs, pollMs, report], [1000, 10, true]);
  assert.deepStrictEqual(['a', 'b', 'c', 'd'].map((id) => table.isOpen(id, false)), [true, true, false, false]);
  assert.deepStrictEqual(['a', 'b', 'c', 'd'].map((id) => table.isOpen(id, true)), [true, true, false, true]);
  assert.deepStrictEqual([table.openFor.get('b'), table.typeKey], [new Set(['t']), undefined]);
  assert.strictEqual(parseList('{"type_key":""}').table.typeKey, '');
  assert.strictEqual(parseList('{"default":"none"}').table.isOpen('d', true), false);
  assert.strictEqual(parseList('{"lease_ms":"x","poll_ms":1e999}').leaseMs, 30000);
  assert.strictEqual(new Table().isOpen('d', true), true);
  assert.deepStrictEqual(parseList('{}').closed, new Set());
});

test('a list is read as JSON is, whatever else is in it', () => {
  const { open, openFor, typeKey, report } = parseList(' { "later" : {"a":[1,{"b":[]},"\\"]"],"c":{}} , "open" : [ "\\u00e4\\"\\\\" ,\n"ü"],' +
    '"open_for":{"__proto__":["t"],"x":[]},"more":[[],[[]],-1.5e3,true,null],"type_key":7,"report":"true"}\r\n');
  assert.deepStrictEqual([...open], ['ä"\\', 'ü']);
  assert.deepStrictEqual([...openFor], [['__proto__', new Set(['t'])], ['x', new Set()]]);
  assert.deepStrictEqual([typeKey, report], [undefined, false]);
});

test('what is no list is refused', () => {
  for (const text of ['', '7', 'null', '[', '{"open":7}', '{"open":[7]}', '{"closed":{}}', '{"open_for":[]}',
    '{"open_for":{"a":"t"}}', '{"open_for":null}', '{"open":["a"]', '{"open":["a",]}', '{"open":["a" "b"]}', '{"open":["a]}',
    '{"open":["\\x"]}', '{"open":["\t"]}', '{"a":1,}', '{"a" 1}', '{} {}', '{"a":tru}', '{"a":01}', '<html>', '{"open":["\\',
    `{"a":${'['.repeat(100)}`, `{"a":${'9'.repeat(100)}}`])
    assert.throws(() => parseList(text), undefined, text);
});

test('a list is bounded in bytes, in values, and in the size of a text', () => {
  const ids = (count, size = 1) => JSON.stringify({ open: Array.from({ length: count }, (_, i) => `${i}`.padStart(size)) });
  assert.strictEqual(parseList(ids(VALUES_MAX - 3)).open.size, VALUES_MAX - 3); // two containers and a key
  assert.throws(() => parseList(ids(VALUES_MAX - 2)), /more than 200000 values/);
  assert.throws(() => parseList(`{"x":[${'[],'.repeat(210000)}[]]}`), /more than 200000 values/);
  assert.throws(() => parseList(`{"x":[${'0,'.repeat(210000)}0]}`), /more than 200000 values/);
  assert.strictEqual(parseList(ids(1, 4093)).open.size, 1);
  assert.throws(() => parseList(ids(1, 5000)), /more than 4096 bytes/);
  assert.throws(() => parseList(`{}${' '.repeat(LIST_MAX)}`), /more than 8388608 bytes/);
  assert.strictEqual(parseList(`{}${' '.repeat(LIST_MAX - 2)}`).open.size, 0);
});

test('a list is read in slices: the program runs after each', async () => {
  const bytes = Buffer.from(JSON.stringify({ open: Array.from({ length: 40000 }, (_, i) => `shop:web:${i}`) }));
  let values = 0, time = 0;
  function* counted() {
    const steps = readList(bytes);
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value;
      values++;
      time += SLICE_MS / 100; // by this clock a slice is over after a hundred values
      yield;
    }
  }
  const slices = [];
  const wait = (slice) => {
    slices.push(values);
    setImmediate(slice);
  };
  const { value, spentMs } = await inSlices(counted(), () => time, wait);
  assert.strictEqual(value.open.size, 40000);
  assert.ok(Math.abs(spentMs - 400) < 1e-6 * values, spentMs);
  const sizes = slices.map((upTo, i) => upTo - (slices[i - 1] ?? 0));
  assert.ok(sizes.length >= 40000 / 128 - 1, sizes.length);
  assert.ok(sizes.every((size) => size >= 100 && size < 100 + STEP), sizes.join());
});

test('a route is whole if requests ended with it, and none went on from there', () => {
  const routes = new Routes();
  assert.strictEqual(routes.isWhole('/api'), false);
  routes.add('/api');
  assert.strictEqual(routes.isWhole('/api'), true);
  routes.add('/api/list');
  routes.add('/apis');
  assert.deepStrictEqual(['/api', '/api/list', '/apis', undefined].map((route) => routes.isWhole(route)),
    [false, true, true, false]);
  routes.add('/');
  assert.strictEqual(routes.isWhole('/'), false);
  for (let i = 0; i < 2000; i++) routes.add(`/many/${i}`);
  assert.ok(routes.whole.size <= 1000);
});
