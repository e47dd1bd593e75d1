# What is exported tells the same story when it is read. OTLP keeps all of it: the report is the same, byte for byte, and
# so is what is exported then.
for to in zipkin jaeger; do
    pythia export -q --to $to -o $to.json $DATA/retry.jsonl
    pythia replay -q --format json $to.json | jq -r '.groups[0] | .count, .cause, .explanations[0].key'
done
pythia generate -n 200 -r 100 --seed 1 > generated.jsonl
cat > odd.jsonl <<'J'
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"a:\"b\""}},{"key":"up","value":{"boolValue":true}}]},"scopeSpans":[{"scope":{"name":"lib"},"spans":[{"traceId":"0000000000000000000000000000000a","spanId":"00000000000000aa","name":"x\ny","kind":3,"startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"1700000000000000010","status":{"code":2},"attributes":[{"key":"d","value":{"doubleValue":0.1}},{"key":"n","value":{"doubleValue":"NaN"}},{"key":"i","value":{"intValue":"-9223372036854775808"}},{"key":"quote","value":{"stringValue":"it's, \"so\""}}],"events":[{"name":"retry","attributes":[{"key":"n","value":{"intValue":"2"}}]}]},{"traceId":"0000000000000000000000000000000a","spanId":"00000000000000ab","parentSpanId":"00000000000000aa","name":"inner","startTimeUnixNano":"1700000000000000002","endTimeUnixNano":"1700000000000000003"}]}]}]}
J
for from in $DATA/retry.jsonl generated.jsonl odd.jsonl; do
    pythia export -q --to otlp -o again.jsonl "$from"
    for file in "$from" again.jsonl; do
        pythia replay -q --format json --min-requests 4 "$file" | jq 'del(.input)' | cksum
    done | uniq | wc -l
    pythia export -q --to otlp again.jsonl | cmp - again.jsonl && echo "the second export is the first"
done
