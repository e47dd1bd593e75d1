// SPDX-License-Identifier: MIT
'use strict';
// How the services are instrumented, as OpenTelemetry's manual has it: SDK, instrumentations of what they use, and OTLP
// to where the environment says (OTEL_EXPORTER_OTLP_ENDPOINT). It knows nothing of switches, and neither do they.
const { NodeTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-node');
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { NetInstrumentation } = require('@opentelemetry/instrumentation-net');
const { detectResources, envDetector, resourceFromAttributes } = require('@opentelemetry/resources');

const provider = new NodeTracerProvider({
  resource: detectResources({ detectors: [envDetector] }).merge(resourceFromAttributes({ // OTEL_RESOURCE_ATTRIBUTES
    'service.name': process.env.OTEL_SERVICE_NAME, 'service.instance.id': `${process.env.OTEL_SERVICE_NAME}-${process.pid}` })),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();
registerInstrumentations({
  instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation(), new NetInstrumentation()],
});
process.once('SIGTERM', () => provider.shutdown().finally(() => process.exit(0)));
