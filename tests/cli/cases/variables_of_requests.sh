# The spans of each request say a variable several times; what explains its latency is the largest of them, not their mean.
awk 'BEGIN {
    state = 7
    for (i = 0; i < 400; i++) {
        state = (state * 16807) % 2147483647; most = state % 40
        state = (state * 16807) % 2147483647; noise = state % 300
        state = (state * 16807) % 2147483647; later = int((most + 3) * (state % 100) / 100)
        at = 1700000000000 + i * 100; us = 5000 + 500 * most + noise
        printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}]}," \
            "\"scopeSpans\":[{\"spans\":[" \
            "{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"name\":\"order\",\"kind\":2,\"startTimeUnixNano\":\"%.0f000000\",\"endTimeUnixNano\":\"%d%06d000\"," \
            "\"attributes\":[{\"key\":\"variable.queue\",\"value\":{\"intValue\":\"%d\"}}]},", \
            i + 1, 2 * i + 1, at, int(at / 1000), (at % 1000) * 1000 + us, 2
        printf "{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"parentSpanId\":\"%016x\",\"name\":\"work\",\"kind\":1," \
            "\"startTimeUnixNano\":\"%d%06d000\",\"endTimeUnixNano\":\"%d%06d000\"," \
            "\"attributes\":[{\"key\":\"variable.queue\",\"value\":{\"intValue\":\"%d\"}},{\"key\":\"variable.queue\",\"value\":{\"intValue\":\"%d\"}}]}]}]}]}\n", \
            i + 1, 2 * i + 2, 2 * i + 1, int(at / 1000), (at % 1000) * 1000 + 100, int(at / 1000), (at % 1000) * 1000 + us, most + 3, later
    }
}' >traces.jsonl
pythia tree -q --keys --trace 00000000000000000000000000000001 traces.jsonl | grep -o 'variable.*'
pythia replay -q -f json traces.jsonl | jq -c '.groups[0].explanations[0] | [.key, .kind, .effect > 0.9]'
