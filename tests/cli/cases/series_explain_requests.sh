# Requests wait in a queue whose length no span tells; a collector has written it. Latency is 5 ms and 2 ms for each that
# waits before; the processors' load has nothing to do with it.
awk 'BEGIN {
    state = 7
    print "Timepoint,Measurement,Label,PID" > "queue.csv"
    print "Timepoint,Measurement,Label,PID" > "load.csv"
    for (i = 0; i < 600; i++) {
        state = (state * 16807) % 2147483647; queue = state % 12
        state = (state * 16807) % 2147483647; load = state % 100
        state = (state * 16807) % 2147483647; noise = state % 400
        at = 1700000000000 + i * 100
        # measured 30 ms before the request begins; 30 ms after it, something else
        printf "%.0f000000,%d,queue len,7\n%.0f000000,%d,queue len,7\n", at - 30, queue, at + 30, 11 - queue > "queue.csv"
        printf "%.0f000000,%g,cpu %%,7\n", at - 10, load / 4 > "load.csv"
        us = 5000 + 2000 * queue + noise
        printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}]}," \
            "\"scopeSpans\":[{\"spans\":[" \
            "{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"name\":\"order\",\"kind\":2,\"startTimeUnixNano\":\"%.0f000000\",\"endTimeUnixNano\":\"%d%06d000\"}," \
            "{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"parentSpanId\":\"%016x\",\"name\":\"work\",\"kind\":1,\"startTimeUnixNano\":\"%d%06d000\",\"endTimeUnixNano\":\"%d%06d000\"}]}]}]}\n", \
            i + 1, 2 * i + 1, at, int(at / 1000), (at % 1000) * 1000 + us, \
            i + 1, 2 * i + 2, 2 * i + 1, int(at / 1000), (at % 1000) * 1000 + us - 3000, int(at / 1000), (at % 1000) * 1000 + us > "traces.jsonl"
    }
}'
keys='[.groups[] | .explanations[].key] | .[0:3]'
echo "without series: $(pythia replay -q -f json traces.jsonl | jq -c "$keys")"
echo "with them:      $(pythia replay -q -f json --series queue.csv --series load.csv traces.jsonl | jq -c "$keys")"
pythia replay --series queue.csv --series load.csv traces.jsonl 2>&1 >/dev/null | grep -v '^pythia: Read .* spans'
echo "an hour later:"
sed 's/^17000/17036/' queue.csv >late.csv
pythia replay -f json --series late.csv --series-age 5 traces.jsonl 2>late.err | jq -c "$keys"
grep Joined late.err
