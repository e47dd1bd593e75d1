# Every request alike: not dispersed, so nothing to diagnose.
for i in $(seq 100 160); do
    echo '{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[{"traceId":"00000000000000000000000000000'$i'","spanId":"0000000000000001","name":"x","startTimeUnixNano":"1000000000","endTimeUnixNano":"1005000000"}]}]}]}'
done > same.jsonl
pythia replay -q same.jsonl
