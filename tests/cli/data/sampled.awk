# Requests of a server, one a line, as OTLP/JSON, each of which says in its tracestate -v state=… how it was sampled. -v n=… of them.
BEGIN {
    for (i = 1; i <= n; i++)
        printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}]}," \
            "\"scopeSpans\":[{\"spans\":[{\"traceId\":\"%s%030d\",\"spanId\":\"0000000000000001\",\"name\":\"%s\",\"kind\":2," \
            "\"traceState\":\"%s\",\"startTimeUnixNano\":\"%d%09d\",\"endTimeUnixNano\":\"%d%09d\"}]}]}]}\n",
            id, i, name, state, 1763700000 + i, 0, 1763700000 + i, ms * 1000000 + i * 7919 % 41 * 1000000
}
