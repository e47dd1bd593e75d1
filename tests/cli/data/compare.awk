# Traces of a shop, one a line, as OTLP/JSON: 40 orders, each paid at another service. After a deployment (-v after=1) the
# payment takes 100 ms longer, a fraud check is new on every fourth order and fails, and the mail is gone.
function span(id, parent, name, kind, from, to, more) {
    return sprintf("{\"traceId\":\"c0%030d\",\"spanId\":\"%016d\",%s\"name\":\"%s\",\"kind\":%d,"\
        "\"startTimeUnixNano\":\"%d%09d\",\"endTimeUnixNano\":\"%d%09d\"%s}", trace, id,
        parent ? sprintf("\"parentSpanId\":\"%016d\",", parent) : "", name, kind, 1763700000 + i, from, 1763700000 + i, to, more)
}
function service(name, spans) {
    return sprintf("{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"%s\"}}]},"\
        "\"scopeSpans\":[{\"spans\":[%s]}]}", name, spans)
}
BEGIN {
    for (i = 0; i < 40; i++) {
        trace = i + 1000 * after
        pay = 20000000 + (i * 7919 % 41) * 100000 + (after ? 100000000 : 0)
        check = after && i % 4 == 0 ? 3000000 : 0
        mail = after ? 0 : 2000000 + (i * 104729 % 37) * 10000
        paid = 5000000 + check + 2000000 + pay
        shop = span(1, 0, "POST /orders", 2, 0, paid + mail + 1000000) "," \
            span(2, 1, "charge", 3, 4000000 + check, paid)
        if (check)
            shop = shop "," span(4, 1, "fraud-check", 1, 1000000, 1000000 + check,
                                 ",\"status\":{\"code\":2}")
        if (mail)
            shop = shop "," span(5, 1, "mail", 1, paid, paid + mail)
        printf "{\"resourceSpans\":[%s,%s]}\n", service("shop", shop),
            service("payment", span(3, 2, "charge", 2, 5000000 + check, paid - 1000000))
    }
}
