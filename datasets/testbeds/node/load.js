// SPDX-License-Identifier: MIT
'use strict';
// Requests of twenty tenants to the shop, at random times of a given rate, whether earlier ones are answered or not.
// usage: node load.js URL [--rate PER_SECOND] [--seconds S] [--seed N]; the same seed asks for the same things. Ends
// with 1 if any request failed.
const http = require('node:http');
const { parseArgs } = require('node:util');

const { values, positionals: [url] } = parseArgs({ allowPositionals: true, options: {
  rate: { type: 'string', default: '20' }, seconds: { type: 'string', default: '60' },
  seed: { type: 'string', default: '1' } } });
const [rate, seconds, seed] = [values.rate, values.seconds, values.seed].map(Number);
if (!url || !(rate > 0) || !(seconds > 0) || !Number.isInteger(seed)) {
  process.stderr.write('usage: node load.js URL [--rate PER_SECOND] [--seconds S] [--seed N]\n');
  process.exit(2);
}

/** Numbers in [0, 1): G. Marsaglia, "Xorshift RNGs", J. Statistical Software 8(14), 2003. */
function randomFrom(start) {
  let x = (start * 2654435761) >>> 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x / 2 ** 32;
  };
}
const random = randomFrom(seed);
const counts = { sent: 0, answered: 0, failed: 0 };
const agent = new http.Agent({ keepAlive: true });

function draw() {
  const kind = random(), number = Math.floor(random() * 1000);
  const tenant = `tenant-${String(1 + Math.floor(random() * 20)).padStart(2, '0')}`;
  if (kind < 0.7) return { method: 'GET', path: `/cart/${number}`, tenant };
  if (kind < 0.85) return { method: 'GET', path: '/catalog', tenant };
  return { method: 'POST', path: '/orders', tenant, body: JSON.stringify({ sku: `sku-${number % 40}` }) };
}

function send({ method, path, tenant, body }) {
  counts.sent++;
  return new Promise((resolve) => {
    const fail = () => {
      counts.failed++;
      resolve();
    };
    const request = http.request(`${url}${path}`, { method, agent, timeout: 30000, headers: { 'x-tenant': tenant,
      ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }) } }, (answer) => {
      answer.resume();
      answer.on('error', fail);
      answer.on('end', () => {
        if (answer.statusCode !== 200) return fail();
        counts.answered++;
        resolve();
      });
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', fail);
    request.end(body);
  });
}

async function main() {
  const end = Date.now() + seconds * 1000;
  const pending = new Set();
  let stopped = false;
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => (stopped = true));
  for (let due = Date.now(); due < end && !stopped;) {
    const one = send(draw()).finally(() => pending.delete(one));
    pending.add(one);
    due += -Math.log(1 - random()) * 1000 / rate;
    while (Date.now() < due && !stopped) // in steps, so that a signal does not wait
      await new Promise((resolve) => setTimeout(resolve, Math.min(due - Date.now(), 200)));
  }
  await Promise.all(pending);
  process.stdout.write(`${counts.sent} requests, ${counts.answered} answered, ${counts.failed} failed\n`);
  process.exit(counts.failed ? 1 : 0);
}
main();
