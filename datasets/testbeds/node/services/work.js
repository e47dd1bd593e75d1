// SPDX-License-Identifier: MIT
'use strict';
// What the services share: spans by hand, requests to each other, and work that takes its time.
const http = require('node:http');
const { trace, SpanStatusCode } = require('@opentelemetry/api');

/** A function in(NAME, WORK) that runs WORK within a span of the service's own, with what attributes() gives. */
function spansOf(service, attributes = () => ({})) {
  const tracer = trace.getTracer(`${service}.work`, '1.0.0');
  return (name, work) =>
    tracer.startActiveSpan(name, { attributes: attributes() }, async (span) => {
      try {
        return await work();
      } catch (why) {
        span.recordException(why);
        span.setStatus({ code: SpanStatusCode.ERROR, message: why.message });
        throw why;
      } finally {
        span.end();
      }
    });
}

/** So many milliseconds, give or take a fifth. */
function takes(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms * (0.8 + 0.4 * Math.random())));
}

/** Ask another service, for the same tenant; its answer, as JSON. */
function ask(base, path, tenant, body) {
  return new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const request = http.request(`${base}${path}`, { method: body ? 'POST' : 'GET', headers: { 'x-tenant': tenant,
      ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }) } }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode !== 200) return reject(new Error(`${path}: status ${answer.statusCode}`));
        resolve(JSON.parse(Buffer.concat(chunks).toString()));
      });
    });
    request.on('error', reject);
    request.end(text);
  });
}

/** Listen at a free port of the loopback, and say which it is. */
function listen(app) {
  const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`port ${server.address().port}\n`));
  server.keepAliveTimeout = 60000; // longer than any pause of those who ask: a connection does not end under a request
}

module.exports = { spansOf, takes, ask, listen };
