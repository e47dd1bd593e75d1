/* The output of OpenTelemetry's Go SDK (exporters/stdout/stdouttrace): one JSON object a span, with
 * its names in Go's spelling, on one line or indented.
 *
 *     {"Name", "SpanContext": {"TraceID", "SpanID"}, "Parent": {"SpanID"}, "SpanKind": 2,
 *      "StartTime": "2026-11-24T01:57:35.877851548Z", "EndTime", "Attributes": [attribute, …],
 *      "Events": [{"Name", "Attributes"}, …], "Links", "Status": {"Code": "Error"},
 *      "Resource": [attribute, …], "InstrumentationScope": {"Name"}}
 *
 * An attribute is {"Key", "Value": {"Type": "INT64", "Value": 3}}. SDKs before 1.28 write only
 * "InstrumentationLibrary" for the scope. */
#ifndef PYTHIA_TRACES_OTLP_STDOUT_H
#define PYTHIA_TRACES_OTLP_STDOUT_H

#include "otlp.h"
#include "shared/json_decoder.h"

/* Is the object at the cursor such a span? 1 or 0; negative on error. */
int pythia__otlp_is_stdout(struct pythia__otlp *o);

/* Read it and give it on. PYTHIA_OK, or negative when the document cannot go on. */
int pythia__otlp_read_stdout(struct pythia__otlp *o);

#endif
