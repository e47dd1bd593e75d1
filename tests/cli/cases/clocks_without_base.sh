# The clock of stock's host counts from its boot, 1134 h (4 082 400 s) behind that of shop. A call takes 1 ms either way, and
# stock takes 10 to 49 ms; "slow" adds 20 ms to that. No output may show a time of hours, and each says why.
make() {
  awk -v more="$1" 'function span(service, host, id, parent, kind, name, start, end) {
    printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"%s\"}},", service
    printf "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"%s\"}}]},\"scopeSpans\":[{\"spans\":[", host
    printf "{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"parentSpanId\":\"%s\",\"kind\":%d,\"name\":\"%s\",", n, id, parent, kind, name
    printf "\"startTimeUnixNano\":\"%d%03d000000\",\"endTimeUnixNano\":\"%d%03d000000\"}]}]}]}\n", \
      int(start / 1000), start % 1000, int(end / 1000), end % 1000
  }
  BEGIN { for (n = 1; n <= 40; n++) { at = 4083000000 + n * 100; takes = 9 + n + more
    span("shop", "a", n * 8 + 1, "", 2, "order", at, at + takes + 12)
    span("shop", "a", n * 8 + 2, sprintf("%016x", n * 8 + 1), 3, "ask stock", at + 5, at + takes + 7)
    span("stock", "b", n * 8 + 3, sprintf("%016x", n * 8 + 2), 2, "reserve", at + 6 - 4082400000, at + 6 + takes - 4082400000)
    span("stock", "b", n * 8 + 4, sprintf("%016x", n * 8 + 3), 1, "lock", at + 8 - 4082400000, at + 4 + takes - 4082400000) } }'
}
make 0 > fast.jsonl
make 20 > slow.jsonl
pythia tree -n 1 fast.jsonl 2>&1
pythia replay --verbose -q fast.jsonl
pythia replay -q --format json fast.jsonl | jq -c '.input.repaired'
pythia replay -q --format markdown fast.jsonl | grep 'common base' | sed 's, $,,'
pythia replay -q --format html fast.jsonl | grep -o '[0-9]* spans were recorded by a clock[^<]*'
pythia compare -q --verbose fast.jsonl slow.jsonl
pythia profile -q fast.jsonl
