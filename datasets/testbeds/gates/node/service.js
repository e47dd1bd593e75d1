// SPDX-License-Identifier: MIT
'use strict';
// One of three services that look at a request in many steps: node service.js front|cart|ledger PORT.
//
// Express and node:http, as anybody would write them; nothing here knows of tracing. front asks cart (CART), which asks
// ledger (LEDGER). POST /plant?ms=MS makes one step in this service slow for one tenant.
const http = require('node:http');
const express = require('express');

const [, , name, port] = process.argv;
const next = { front: process.env.CART, cart: process.env.LEDGER }[name];
const agent = new http.Agent({ keepAlive: true });
let plantedMs = 0;

const STEPS = ['identify', 'authorize', 'limit', 'session', 'locale', 'currency', 'features', 'experiment', 'catalogue',
  'prices', 'discounts', 'taxes', 'stock', 'delivery', 'audit'];

function step(named) {
  const called = { [named](request, response, done) { setImmediate(done); } };
  return called[named];
}

function quota(request, response, done) {
  setTimeout(done, request.path.endsWith('/acme') ? plantedMs : 0);
}

function askNext(tenant, done) {
  if (!next) return done(null, {});
  http.get(`${next}/look/${tenant}`, { agent }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece) => { text += piece; }).on('end', () => done(null, JSON.parse(text)));
  }).on('error', done);
}

function look(request, response, failed) {
  askNext(request.params.tenant, (why, answer) => (why ? failed(why) : response.json({ items: 3, ...answer })));
}

const app = express();
app.post('/plant', (request, response) => {
  plantedMs = Number(request.query.ms);
  response.json({});
});
for (const named of STEPS) app.use(step(named));
app.use(quota);
app.get('/order/:tenant', look);
app.get('/look/:tenant', look);
app.get('/list', (request, response) => setTimeout(() => response.json([]), 5));
app.listen(Number(port), '127.0.0.1');
