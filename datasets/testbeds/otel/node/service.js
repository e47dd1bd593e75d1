// One of three services of a shop, in Express, as anybody would write them: `service.js front|cart|pricing PORT`.
// Nothing here knows of tracing. POST /plant?quota=MS makes cart wait for the quota of one tenant.
const express = require('express');

const [name, port] = process.argv.slice(2);
const next = { cart: process.env.CART, pricing: process.env.PRICING };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const ask = async (url) => (await fetch(url)).json();
const app = express();
let quota = 0;

app.post('/plant', (request, response) => {
  quota = Number(request.query.quota);
  response.json({ quota });
});

if (name === 'front') {
  app.get('/order/:tenant', async (request, response) => {
    const cart = await ask(`${next.cart}/cart/${request.params.tenant}`);
    const price = await ask(`${next.pricing}/price/${cart.items}`);
    response.json({ ...cart, ...price });
  });
  app.get('/list', async (request, response) => {
    await sleep(5 + Math.random() * 5);
    response.json([]);
  });
}
if (name === 'cart') {
  app.get('/cart/:tenant', async (request, response) => {
    await sleep(3 + Math.random() * 3);
    await ask(`http://127.0.0.1:${port}/quota/${request.params.tenant}`);
    response.json({ items: 3 });
  });
  app.get('/quota/:tenant', async (request, response) => {
    if (request.params.tenant === 'acme') await sleep(quota * (0.5 + Math.random()));
    response.json({ granted: true });
  });
}
if (name === 'pricing') {
  app.get('/price/:items', async (request, response) => {
    await sleep(4 + Math.random() * 4);
    response.json({ price: 10 * Number(request.params.items) });
  });
}
app.listen(Number(port), '127.0.0.1', () => console.log(`${name} listens at ${port}`));
