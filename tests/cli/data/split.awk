# Traces of a shop, one a line, as OTLP/JSON: 160 orders, 16 each with a queue of 0 to 7 and 32 that do not report it. They
# take 10 ms with a queue below 3 or without one, 30 ms below 6, else 90 ms, and up to 5 % more. 20 hosts serve 8 each. With
# -v slow=2 those of a queue of 6 and more take twice as long. With -v key=… and -v level=… the queue has another name, and
# the host of every fifth order is that.
function span(id, parent, name, from, to, more) {
    return sprintf("{\"traceId\":\"5b%030d\",\"spanId\":\"%016d\",%s\"name\":\"%s\",\"kind\":1,"\
        "\"startTimeUnixNano\":\"%d%09d\",\"endTimeUnixNano\":\"%d%09d\",\"attributes\":[%s]}", i, id,
        parent ? sprintf("\"parentSpanId\":\"%016d\",", parent) : "", name, 1763700000 + 2 * i, from, 1763700000 + 2 * i, to, more)
}
function attribute(name, kind, value) {
    return sprintf("{\"key\":\"%s\",\"value\":{\"%s\":\"%s\"}}", name, kind, value)
}
BEGIN {
    key = key == "" ? "queue" : key
    for (i = 0; i < 160; i++) {
        queue = i % 10
        time = queue < 3 || queue > 7 ? 10000000 : queue < 6 ? 30000000 : 90000000
        time *= slow && queue >= 6 && queue < 8 ? slow : 1
        time = time / 1000 * (1000 + (i * 7919 % 41) * 50 / 41)
        host = level != "" && i % 5 == 0 ? level : sprintf("h%02d", i / 8)
        printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[%s]},\"scopeSpans\":[{\"spans\":[%s,%s]}]}]}\n",
            attribute("service.name", "stringValue", "shop"),
            span(1, 0, "order", 0, time + 1000000, attribute("host", "stringValue", host)),
            span(2, 1, "pay", 500000, time + 500000, queue < 8 ? attribute(key, "intValue", queue) : "")
    }
}
