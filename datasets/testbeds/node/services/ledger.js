// SPDX-License-Identifier: MIT
'use strict';
// Contracts by tenant. Those of one tenant lie on pages that are never in memory: what is planted here. The spans by hand
// have the tenant as an attribute, those of the libraries do not.
const { AsyncLocalStorage } = require('node:async_hooks');
const express = require('express');
const { spansOf, takes, listen } = require('./work.js');

const tenants = new AsyncLocalStorage();
const within = spansOf('ledger', () => ({ 'app.tenant': tenants.getStore() }));
const slow = { tenant: process.env.SLOW_TENANT, ms: Number(process.env.SLOW_MS) };
const app = express();

app.use(function audit(request, response, next) {
  tenants.run(request.get('x-tenant'), () => within('audit.note', () => takes(0.5)).then(() => next(), next));
});

app.get('/contract', async function contract(request, response) {
  const tenant = request.get('x-tenant');
  response.json(await within('contract.find', async () => {
    await within('index.seek', () => within('index.descend', () => takes(2)));
    await within('page.read', async () => {
      await within('page.lookup', () => takes(1));
      await within('page.fetch', () => takes(tenant === slow.tenant ? slow.ms : 2));
    });
    return within('contract.decode', () => takes(1).then(() => ({ percent: 5 })));
  }));
});

listen(app);
