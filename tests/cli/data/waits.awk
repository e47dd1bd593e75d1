# Traces of a shop, one a line, as OTLP/JSON: 60 carts, for which the shop calls stock, payment and mail, each through a client
# span with the name HTTP POST, as stock clients have it. Times are us and can be set: of stock (-v stock=), of payment (pay=),
# of the way to payment (way=), and of every sixth cart at the end of the mail (rare=). -v home=N adds N requests of another
# type, which take 1 ms.
function span(id, parent, name, kind, from, to) {
    return sprintf("{\"traceId\":\"d%01d%030d\",\"spanId\":\"%016d\",%s\"name\":\"%s\",\"kind\":%d,"\
        "\"startTimeUnixNano\":\"%d%06d000\",\"endTimeUnixNano\":\"%d%06d000\"}", side, trace, id,
        parent ? sprintf("\"parentSpanId\":\"%016d\",", parent) : "", name, kind,
        1763700000 + 4 * trace + int(from / 1e6), from % 1e6, 1763700000 + 4 * trace + int(to / 1e6), to % 1e6)
}
function service(name, spans) {
    return sprintf("{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"%s\"}}]},"\
        "\"scopeSpans\":[{\"spans\":[%s]}]}", name, spans)
}
# A call of a service that the shop begins at `now`: its client span is `id`, and that of the service `id` + 1.
function call(id, name, way, takes) {
    servers = servers "," service(name, span(id + 1, id, "serve", 2, now + way, now + way + takes))
    shop = shop "," span(id, 1, "HTTP POST", 3, now, now + way + takes + 300)
    now += way + takes + 300
}
BEGIN {
    for (i = 0; i < 60; i++) {
        trace = i
        servers = shop = ""
        now = 1000
        call(2, "stock", 500, stock + (i * 7919 % 41) * 10)
        call(4, "payment", way + (i * 104729 % 37) * 10, pay)
        call(6, "mail", 500, 2000 + (i % 6 ? 0 : rare))
        printf "{\"resourceSpans\":[%s%s]}\n", service("shop", span(1, 0, "GET /cart", 2, 0, now + 100) shop), servers
    }
    for (i = 0; i < home; i++) {
        trace = 60 + i
        printf "{\"resourceSpans\":[%s]}\n", service("shop", span(1, 0, "GET /", 2, 0, 1000))
    }
}
