# Two groups of one type have different titles, in every form: the second says what sets it apart. Half of the requests pass
# cache, which is slow on k1, and half pass store, which is slow on h1.
awk 'BEGIN { printf "["
    for (i = 1; i <= 160; i++) {
        store = i % 2; at = 1700000000000000 + i * 1000000
        slow = store ? (i % 4 < 2 ? 900 : 5000) : (i % 6 < 3 ? 1000 : 9000)
        host = store ? "h" int(i % 4 / 2) : "k" int(i % 6 / 3)
        printf "%s{\"traceId\":\"%016x\",\"id\":\"%016x\",\"name\":\"GET /a\",\"timestamp\":%d,\"duration\":%d," \
            "\"localEndpoint\":{\"serviceName\":\"web\"},\"tags\":{\"host\":\"%s\"}}\n", (i > 1 ? "," : ""), i, i * 10, at, slow + 300, host
        printf ",{\"traceId\":\"%016x\",\"id\":\"%016x\",\"parentId\":\"%016x\",\"name\":\"%s\",\"timestamp\":%d,\"duration\":%d," \
            "\"localEndpoint\":{\"serviceName\":\"web\"}}\n", i, i * 10 + 1, i * 10, (store ? "store" : "cache"), at + 100, slow
    } print "]" }' > two.json
pythia replay -q two.json | grep -E '^✖|CAUSE'
pythia replay -q --verbose two.json | grep '^[0-9]\. '
pythia replay -q --format markdown two.json | grep '^## [0-9]'
pythia replay -q --format html two.json | grep -o '<h2[^>]*>.*</h2>' | sort | uniq -d
