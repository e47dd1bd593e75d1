# Calls between three services as OTLP/JSON: front asks store, which asks shard. -v requests=N, -v queue=0 leaves the span of
# the store's queue out. Of request r the wait in that queue is 5 ms + (r % 4) * 10 ms; all else takes the same time in each:
#
#   front  GET /  60 ms + wait - 5 ms
#     call        from 5 ms, 50 ms + wait - 5 ms; 1 ms of it writes the request (iv.in_ser)
#   store  get    from 10 ms, 40 ms + wait - 5 ms; 2 ms of it read the request (iv.in_deser)
#     queue       from 10 ms
#     call        20 ms, from 5 ms after the wait
#   shard  read   16 ms, from 2 ms into that call
function span(id, parent, name, kind, from, to, key, value) {
    return sprintf("{\"traceId\":\"%032x\",\"spanId\":\"%016x\",%s\"name\":\"%s\",\"kind\":%d,\"startTimeUnixNano\":\"%s\"," \
        "\"endTimeUnixNano\":\"%s\",\"attributes\":[%s]}", r + 1, id, parent ? sprintf("\"parentSpanId\":\"%016x\",", parent) : "",
        name, kind, at(from), at(to), key ? "{\"key\":\"" key "\",\"value\":{\"intValue\":\"" value "\"}}" : "")
}

function at(ms) {
    return sprintf("17%08d%03d000000", r, ms)
}

function service(name, spans) {
    return "{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"" name "\"}}]}," \
        "\"scopeSpans\":[{\"spans\":[" spans "]}]}"
}

BEGIN {
    for (r = 0; r < requests; r++) {
        w = (r % 4) * 10
        front = span(1, 0, "GET /", 2, 0, 60 + w) "," span(2, 1, "call", 3, 5, 55 + w, "iv.in_ser", 1000000)
        store = span(3, 2, "get", 2, 10, 50 + w, "iv.in_deser", 2000000) \
            (queue == "0" ? "" : "," span(4, 3, "queue", 1, 10, 15 + w)) "," span(5, 3, "call", 3, 20 + w, 40 + w)
        shard = span(6, 5, "read", 2, 22 + w, 38 + w)
        print "{\"resourceSpans\":[" service("front", front) "," service("store", store) "," service("shard", shard) "]}"
    }
}
