// SPDX-License-Identifier: MIT
'use strict';
// How a program is instrumented that knows nothing of switches: SDK, automatic instrumentations, and an exporter, here
// one that writes each span as a line of JSON into the file SPANS.
const { appendFileSync } = require('node:fs');
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');
const { SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { NetInstrumentation } = require('@opentelemetry/instrumentation-net');
const { resourceFromAttributes } = require('@opentelemetry/resources');

const exporter = {
  export(spans, done) {
    for (const span of spans)
      appendFileSync(process.env.SPANS, JSON.stringify({ service: span.resource.attributes['service.name'],
        scope: span.instrumentationScope.name, name: span.name, trace: span.spanContext().traceId,
        id: span.spanContext().spanId, parent: span.parentSpanContext?.spanId, kind: span.kind,
        attributes: span.attributes }) + '\n');
    done({ code: 0 });
  },
  shutdown: async () => {},
};
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ 'service.name': process.env.OTEL_SERVICE_NAME }),
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});
provider.register();
registerInstrumentations({ instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation(),
  new NetInstrumentation()] });
