// SPDX-License-Identifier: MIT
'use strict';
// What a thing costs this tenant, and whether there is one left. The discount is in a contract, which the ledger has.
const express = require('express');
const { spansOf, takes, ask, listen } = require('./work.js');

const within = spansOf('quotes');
const { LEDGER } = process.env;
const app = express();

app.use(express.json());
app.use(function limits(request, response, next) {
  within('limits.check', () => takes(0.5)).then(() => next(), next);
});

function discount(tenant) {
  return within('price.discount', async () => {
    const contract = await within('discount.contract', () => ask(LEDGER, '/contract', tenant));
    return within('discount.apply', () => takes(1).then(() => contract.percent));
  });
}

function price(tenant) {
  return within('quote.price', async () => {
    const base = await within('price.base', () => within('price.list', () => takes(2).then(() => 100)));
    const percent = await discount(tenant);
    await within('price.tax', () => takes(1));
    return base * (1 - percent / 100);
  });
}

function stock() {
  return within('quote.stock', async () => {
    await within('stock.count', () => takes(2));
    return within('stock.forecast', () => takes(1).then(() => 7));
  });
}

app.get('/quote/:sku', async function quote(request, response) {
  const tenant = request.get('x-tenant');
  response.json(await within('quote.assemble', async () => ({ price: await price(tenant), stock: await stock() })));
});

app.post('/reservations', async function reservation(request, response) {
  await within('reservation.place', async () => {
    await within('reservation.lock', () => takes(1));
    await within('reservation.write', () => takes(2));
  });
  response.json({ reserved: true });
});

listen(app);
