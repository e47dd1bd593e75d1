# Three request types vary, and a cycle looks at one: the others wait, are told to, and are found in the end.
awk 'BEGIN {
    printf "["
    for (i = 0; i < 450; i++) {
        type = substr("abc", i % 3 + 1, 1); at = 1700000000000000 + i * 100000; slow = 1000 + int(i / 3) * 7 % 10 * (900 - i % 3 * 200)
        split("root part inner", name, " "); from = at; takes = slow + 400
        for (k = 1; k <= 3; k++) {
            printf "%s{\"traceId\":\"%016x\",\"id\":\"%016x\",%s\"name\":\"%s_%s\",\"timestamp\":%.0f,\"duration\":%d,", (i + k > 1 ? "," : ""),
                i + 1, i * 3 + k, (k > 1 ? sprintf("\"parentId\":\"%016x\",", i * 3 + k - 1) : ""), name[k], type, from, takes
            printf "\"localEndpoint\":{\"serviceName\":\"shop\"}}\n"
            from += 100; takes -= 200
        }
    }
    print "]" }' > requests.json
search() { pythia replay --verbose -q --closed-loop --cycle-requests 40 "$@" requests.json; }
search --problems-per-cycle 1 --format json > loop.json
jq -c '.loop[] | [.cycle, .request_type, .waiting]' loop.json
jq -c '.search.problems[] | [.request_type, .state, (.causes | length), .waited]' loop.json
search --problems-per-cycle 1 | sed -n '/^The search/,/^$/p' | grep -E '^The search|wait|turn'
for format in markdown html; do echo "$format: $(search --problems-per-cycle 1 --format $format | grep -o '[0-9]* request types* waits* for [a-z]* turn' | head -n 1)"; done
search --cycles 2 --problems-per-cycle 1 --format json | jq -c '.search.problems[] | [.request_type, .cycles, .waited]'
for turns in 3 0; do search --problems-per-cycle $turns --format json | jq -c '[.loop[].waiting]'; done
search --problems-per-cycle -1; echo "exit $?"
