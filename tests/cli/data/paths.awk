# Requests to a server without routes, one a line, as OTLP/JSON: roots named "GET" that say nothing but their path. The orders of
# -v n=… tenants, from number -v from=… on, and between them three pages.
function get(path, ms) {
    number++
    printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}]}," \
        "\"scopeSpans\":[{\"spans\":[{\"traceId\":\"ab%030d\",\"spanId\":\"0000000000000001\",\"name\":\"GET\",\"kind\":2," \
        "\"startTimeUnixNano\":\"%d%09d\",\"endTimeUnixNano\":\"%d%09d\",\"attributes\":[" \
        "{\"key\":\"http.request.method\",\"value\":{\"stringValue\":\"GET\"}}," \
        "{\"key\":\"url.path\",\"value\":{\"stringValue\":\"%s\"}}]}]}]}]}\n",
        from * 2 + number, 1763700000 + from + number, 0, 1763700000 + from + number, ms * 1000000, path
}
function word(i,  text) { # letters only: nothing that looks like an identifier
    for (text = ""; i > 0 || text == ""; i = int(i / 20))
        text = text substr("bcdfghjklmnpqrstvwxz", i % 20 + 1, 1) "a"
    return text
}
BEGIN {
    split("cart checkout login", pages)
    for (i = from + 0; i < from + n; i++) {
        get("/tenants/" word(i) "/orders", 20 + i * 7919 % 41)
        if (i % 5 == 0)
            get("/" pages[1 + i % 3], 5)
    }
}
