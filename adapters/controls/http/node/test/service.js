// SPDX-License-Identifier: MIT
'use strict';
// A service that knows nothing of tracing: GET /item/:id and GET /list/:id ask the next one, if there is one.
const express = require('express');
const http = require('node:http');

const app = express();
app.use(function auth(request, response, next) {
  setTimeout(next, 1);
});
app.get('/item/:id', item);
app.get('/list/:id', item);
function item(request, response) {
  const next = process.env.NEXT;
  if (!next) return response.json({ id: request.params.id });
  http.get(`${next}${request.path}`, (answer) => {
    answer.resume();
    answer.on('end', () => response.json({ id: request.params.id }));
  });
}
const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
