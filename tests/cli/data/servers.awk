# Calls from front to one of 32 instances of store as OTLP/JSON, one request a line: instance 17 answers 30 of them, each other one
# 10. A call takes 3 ms, of which the store takes 2 ms; of every 34th request, 10 in all, the store's span is missing.
function resource(name, instance, span) {
    return "{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"" name "\"}}," \
        "{\"key\":\"service.instance.id\",\"value\":{\"stringValue\":\"" instance "\"}}]},\"scopeSpans\":[{\"spans\":[" span "]}]}"
}

function span(id, parent, name, kind, from, to) {
    return sprintf("{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"parentSpanId\":\"%s\",\"name\":\"%s\",\"kind\":%d," \
        "\"startTimeUnixNano\":\"%d%09d\",\"endTimeUnixNano\":\"%d%09d\"}",
        r + 1, id, parent ? sprintf("%016x", parent) : "", name, kind, 1763700000 + r, from * 1000000, 1763700000 + r, to * 1000000)
}

BEGIN {
    for (r = 0; r < 340; r++) {
        instance = r % 34 < 32 ? r % 34 : 17
        print "{\"resourceSpans\":[" resource("front", 1, span(1, 0, "call", 3, 0, 3)) \
            (r % 34 || missing == "" ? "," resource("store", instance, span(2, 1, "get", 2, 0.5, 2.5)) : "") "]}"
    }
}
