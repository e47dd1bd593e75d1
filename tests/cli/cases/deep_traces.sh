# Chains, of which the innermost span tells how long a request takes. What a report says of them grows
# with the depth, and not with its square.
chains() { # depth
    awk -v depth="$1" 'BEGIN {
        for (trace = 1; trace <= 32; trace++) {
            printf "["
            for (i = 0; i < depth; i++)
                printf "%s{\"traceId\":\"%x\",\"id\":\"%x\",%s\"name\":\"call %c\",\"timestamp\":%.0f,\"duration\":%d," \
                    "\"localEndpoint\":{\"serviceName\":\"s\"}}", i ? "," : "", trace, i + 1,
                    i ? sprintf("\"parentId\":\"%x\",", i) : "", 65 + i % 7, 1700000000000000 + trace * 60000000 + i,
                    2 * depth - i + 100 * (trace * 5 % 11)
            print "]"
        }
    }'
}
for depth in 40 1000 2000 5001; do
    chains $depth >chains-$depth.jsonl
    pythia replay --quiet --format json chains-$depth.jsonl >chains-$depth.json
    jq -c '.groups[0] | [.status, (.edges | length), .edges[0].from.trace_point, (.edges[0].context | length),
        .edges[0].context_depth, (.inclusive | length), .inclusive_depth, (.path | length), .path_events]' chains-$depth.json
done
jq -c '.groups[0].edges[0].context | [.[0:3], .[45:51], .[61:64]]' chains-2000.json
awk -v less="$(jq -c . chains-1000.json | wc -c)" -v more="$(jq -c . chains-2000.json | wc -c)" \
    'BEGIN { print more < 2.1 * less ? "twice the depth, twice the report" : "too large: " less " and " more }'
pythia replay --verbose --quiet chains-2000.jsonl | sed -n 3,6p
pythia replay --quiet --format html chains-2000.jsonl | grep -c '<svg'
