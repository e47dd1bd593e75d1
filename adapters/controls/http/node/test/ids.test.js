// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { readFileSync } = require('node:fs');
const path = require('node:path');

process.env.PYTHIA_GATE = '0';
const { pointId, parseList, Table, Routes } = require('../pythia-gate.js');
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
});

test('what is no list is refused', () => {
  for (const text of ['', '7', 'null', '[', '{"open":7}', '{"open":[7]}', '{"closed":{}}', '{"open_for":[]}',
    '{"open_for":{"a":"t"}}', '{"open_for":null}', '{"open":["a"]'])
    assert.throws(() => parseList(text), undefined, text);
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
