# Zipkin: 300 requests of a service that calls two others, with what it asks for in url.full of each call; the callee has a key of
# that name, too. Trace points are named after npm packages. Of four tenants acme is slow.
function span(id, parent, service, kind, name, start, duration, url) {
    printf "%s{\"traceId\":\"%032x\",\"id\":\"%016x\",%s\"kind\":\"%s\",\"name\":\"%s\",\"timestamp\":%d,\"duration\":%d,", sep, r + 1,
        r * 10 + id, parent ? sprintf("\"parentId\":\"%016x\",", r * 10 + parent) : "", kind, name, start, duration
    printf "\"localEndpoint\":{\"serviceName\":\"%s\"},\"tags\":{%s}}", service, url == "" ? "" : "\"url.full\":\"" url "\""
    sep = ",\n"
}
BEGIN {
    split("acme bolt core dune", tenants, " ")
    printf "["
    for (r = 0; r < 300; r++) {
        tenant = tenants[r * 7 % 4 + 1]
        t = 1700000000000000 + r * 50000
        call = (tenant == "acme" ? 60000 : 6000) + r * 7919 % 997
        span(1, 0, "front", "SERVER", "GET /order", t, call + 9000, "")
        span(2, 1, "front", "CLIENT", "@opentelemetry/instrumentation-undici:GET", t + 1000, call, "http://cart/" tenant)
        span(3, 2, "cart", "SERVER", "@opentelemetry/instrumentation-http:GET", t + 1500, call - 1000, "http://cart/" tenant "?")
        span(4, 1, "front", "CLIENT", "@opentelemetry/instrumentation-undici:GET", t + call + 2000, 5000, "http://price/" r % 3)
    }
    print "]"
}
