# Clocks that are apart: shop asks stock, whose host is 250 ms ahead, and stock asks prices, which is 80 ms behind shop.
# A call takes 1 ms either way. OTLP, the kinds of spans as they are; and the same as Zipkin, whose two sides share an id.
awk 'function span(service, host, id, parent, kind, name, start, end) {
  printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"%s\"}},", service
  printf "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"%s\"}}]},\"scopeSpans\":[{\"spans\":[", host
  printf "{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"parentSpanId\":\"%s\",\"kind\":%d,\"name\":\"%s\",", n, id, parent, kind, name
  printf "\"startTimeUnixNano\":\"1700000%03d%03d000000\",\"endTimeUnixNano\":\"1700000%03d%03d000000\"}]}]}]}\n", \
    int(start / 1000), start % 1000, int(end / 1000), end % 1000
}
BEGIN { for (n = 1; n <= 20; n++) { at = 1000 + n * 100
  span("shop", "a", n * 8 + 1, "", 2, "order", at, at + 40)
  span("shop", "a", n * 8 + 2, sprintf("%016x", n * 8 + 1), 3, "ask stock", at + 5, at + 35)
  span("stock", "b", n * 8 + 3, sprintf("%016x", n * 8 + 2), 2, "reserve", at + 6 + 250, at + 34 + 250)
  span("stock", "b", n * 8 + 4, sprintf("%016x", n * 8 + 3), 3, "ask prices", at + 10 + 250, at + 20 + 250)
  span("prices", "c", n * 8 + 5, sprintf("%016x", n * 8 + 4), 2, "price", at + 11 - 80, at + 19 - 80) } }' > apart.jsonl
pythia tree --skew apart.jsonl
pythia tree -q --no-skew apart.jsonl
pythia replay -q --skew --format json apart.jsonl | jq -c '.input.repaired'
# Both sides of a call under one id.
jq -n -c '[range(1; 21) | . as $n | (1700000001000000 + $n * 100000) as $at
  | {traceId: ("0000000000000000" + ("000000000000000\($n + 20)" | .[-16:])), id: "00000000000000a1", kind: "CLIENT", name: "ask",
     timestamp: $at, duration: 10000, localEndpoint: {serviceName: "shop"}},
    {traceId: ("0000000000000000" + ("000000000000000\($n + 20)" | .[-16:])), id: "00000000000000a1", kind: "SERVER", name: "ask",
     shared: true, timestamp: ($at + 501000), duration: 8000, localEndpoint: {serviceName: "stock"}}]' > shared.json
pythia tree --skew shared.json 2>&1 >/dev/null | grep -a Clock
# What can be read only once cannot be read twice.
pythia tree --skew - < apart.jsonl; echo "exit $?"
pythia tree --skew --no-skew apart.jsonl; echo "exit $?"
