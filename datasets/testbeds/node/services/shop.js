// SPDX-License-Identifier: MIT
'use strict';
// What customers see. GET /catalog asks nobody, GET /cart/:id has it priced, POST /orders has it priced and reserved.
const express = require('express');
const { spansOf, takes, ask, listen } = require('./work.js');

const within = spansOf('shop');
const { QUOTES } = process.env;
const app = express();

app.use(express.json());
app.use(function session(request, response, next) {
  within('session.verify', () => within('session.decode', () => takes(1))).then(() => next(), next);
});
app.use(function locale(request, response, next) {
  request.tenant = request.get('x-tenant') ?? 'nobody';
  next();
});

function readCart(id) {
  return within('cart.load', async () => {
    await within('cart.read_lines', () => takes(2));
    await within('cart.merge_offers', () => takes(1));
    return { id, sku: `sku-${Number(id) % 40}` };
  });
}

function render(what) {
  return within('page.render', async () => {
    await within('page.template', () => takes(2));
    return within('page.serialize', () => what);
  });
}

app.get('/catalog', async function catalog(request, response) {
  const entries = await within('catalog.list', async () => {
    const known = await within('catalog.cache_get', () => takes(1).then(() => Math.random() < 0.8));
    if (!known) await within('catalog.read', () => takes(3));
    return within('catalog.sort', () => [3, 1, 2].sort());
  });
  response.json(await render(entries));
});

app.get('/cart/:id', async function cart(request, response) {
  const lines = await readCart(request.params.id);
  const quote = await within('cart.price', () => ask(QUOTES, `/quote/${lines.sku}`, request.tenant));
  response.json(await render({ ...lines, ...quote }));
});

app.post('/orders', async function order(request, response) {
  await within('order.validate', () => within('order.check_schema', () => takes(1)));
  const quote = await within('order.price', () => ask(QUOTES, `/quote/${request.body.sku}`, request.tenant));
  const place = await within('order.reserve', () => ask(QUOTES, '/reservations', request.tenant, request.body));
  await within('order.confirm', () => within('order.write', () => takes(3)));
  response.json({ ...quote, ...place });
});

listen(app);
