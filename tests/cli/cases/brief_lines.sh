# At most 40 lines, whatever the input: many types that vary, long names of every kind, an open list, and a long search.
many() { # TYPES REQUESTS NAME
    awk -v types=$1 -v requests=$2 -v name="$3" 'BEGIN { printf "["
        for (t = 0; t < types; t++) for (i = 0; i < requests; i++) {
            n++; slow = i % 3 == 0 ? 1000 + 10 * t : 100
            printf "%s{\"traceId\":\"%016x\",\"id\":\"%016x\",\"name\":\"%s_%d\",\"timestamp\":%.0f,\"duration\":%d,\"localEndpoint\":{\"serviceName\":\"s\"}," \
                "\"tags\":{\"mode\":\"%s\"}}\n", (n > 1 ? "," : ""), n, 2 * n, name, t, 1700000000000000 + n * 100000, slow + 50, (slow > 900 ? "slow" : "fast")
            printf ",{\"traceId\":\"%016x\",\"id\":\"%016x\",\"parentId\":\"%016x\",\"name\":\"part_%s_%d\",\"timestamp\":%.0f,\"duration\":%d,\"localEndpoint\":{\"serviceName\":\"s\"}}\n", \
                n, 2 * n + 1, 2 * n, name, t, 1700000000000000 + n * 100000 + 10, slow
        } print "]" }'
}
long=$(head -c 3000 /dev/zero | tr '\0' n)
many 60 40 "order" > types.json
many 3 40 "$long" > long.json
many 3000 1 "rare" > rare.json
for file in types long rare; do
    for columns in 72 120; do
        COLUMNS=$columns pythia replay -q $file.json > out; lines=$(wc -l < out)
        COLUMNS=$columns pythia replay -q --closed-loop --cycle-requests 30 $file.json > search
        echo "$file at $columns: $((lines <= 40)) $(($(wc -l < search) <= 40)) $(($(cat out search | LC_ALL=C.UTF-8 wc -L) <= columns))"
    done
done
pythia replay -q types.json
pythia replay -q --all types.json | wc -l
pythia replay -q --all rare.json | tail -4
