# Two thousand requests of 1 to 2000 ms, in no order: the quantiles are known, and a sketch finds each within 1 %. Of 999 requests
# one in a thousand is none, which only the JSON form has.
requests() {
    awk -v count=$1 'BEGIN {
        for (i = 0; i < count; i++) {
            ms = (i * 787) % count + 1
            printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}]},\"scopeSpans\":[{\"spans\":[" \
                "{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"name\":\"order\",\"kind\":2,\"startTimeUnixNano\":\"17000%05d000000000\",\"endTimeUnixNano\":\"17000%05d%03d000000\"}]}]}]}\n", \
                i + 1, i + 1, 10 * i, 10 * i + int(ms / 1000), ms % 1000
        }
    }'
}
requests 2000 > many.jsonl
requests 999 > few.jsonl
pythia replay -q -f json many.jsonl | jq -c '.groups[0] | [[.p50_ns, 1000e6], [.p90_ns, 1800e6], [.p99_ns, 1980e6], [.p99_9_ns, 1998e6]] | map((.[0] / .[1] - 1) | fabs < .01)'
for file in many few; do
    pythia replay -q --verbose $file.jsonl | grep -o 'p99[.9]* [0-9.]* m\?s' | head -2
done
