# Two request types call the same points, and one of them varies there: what is opened is open for that one. Of 80 requests in a
# cycle 40 are of each type: a point that is open for one type is 40 spans more, a point for both would be 80.
requests() {
    awk -v b=$1 'BEGIN {
        printf "["
        for (i = 0; i < 320; i++) {
            type = substr("ab", i % 2 + 1, 1); at = 1700000000000000 + i * 100000
            slow = 1000 + (type == "a" || b ? int(i / 2) * 7 % 10 * (900 - i % 2 * 300) : 0)
            split("root_" type " part inner", name, " "); from = at; takes = slow + 400
            for (k = 1; k <= 3; k++) {
                printf "%s{\"traceId\":\"%016x\",\"id\":\"%016x\",%s\"name\":\"%s\",\"timestamp\":%.0f,\"duration\":%d,", (i + k > 1 ? "," : ""),
                    i + 1, i * 3 + k, (k > 1 ? sprintf("\"parentId\":\"%016x\",", i * 3 + k - 1) : ""), name[k], from, takes
                printf "\"localEndpoint\":{\"serviceName\":\"shop\"}}\n"
                from += 100; takes -= 200
            }
        }
        print "]" }' > requests.json
}
search() { pythia replay -q --closed-loop --cycle-requests 40 "$@" requests.json; }
show() { search --format json "$@" | jq -c '
    (.loop[] | [.cycle, .requests, .spans_seen, [(.opened[] | "+" + .trace_point + " for " + .request_type),
                                                 (.closed[] | "-" + .trace_point + " for " + .request_type)]]),
    (.loop[0].sentence), (.search.problems[] | [.request_type, .state, .causes[0].edge.inside])'; }
echo "one differs"; requests 0; show
echo "both differ"; requests 1; show
