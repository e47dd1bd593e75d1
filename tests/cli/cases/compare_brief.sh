# The short form of a comparison: in the first eight lines stand what got slower, where, and in which service. At most 40 lines,
# whatever the input; no line is wider than the terminal.
cp $DATASETS/openstack/*.jsonl.zst .
for columns in 72 120; do
    COLUMNS=$columns pythia compare -q baseline.jsonl.zst contention.jsonl.zst > $columns.txt
    echo "$columns: widest $(LC_ALL=C.UTF-8 wc -L < $columns.txt), $(head -8 $columns.txt | grep -cE 'at service|nova-compute: |2.86 s to 9.11 s|CAUSE  build_semaphore accounts for 100 %')"
done
cat 120.txt
# Spans that fail, a path that is new, and a call that is gone.
awk -f $DATA/compare.awk > before.jsonl
awk -v after=1 -f $DATA/compare.awk > after.jsonl
COLUMNS=80 pythia compare -q before.jsonl after.jsonl
# The same the other way around: faster, which is nobody's fault.
COLUMNS=80 pythia compare -q after.jsonl before.jsonl | sed -n '/^△/,$p'
many() { # TYPES REQUESTS NAME FACTOR
    awk -v types=$1 -v requests=$2 -v name="$3" -v factor=$4 'BEGIN { printf "["
        for (t = 0; t < types; t++) for (i = 0; i < requests; i++) {
            n++; took = factor * (1000 + 10 * t) + i * 7919 % 41
            printf "%s{\"traceId\":\"%016x\",\"id\":\"%016x\",\"name\":\"%s_%d\",\"timestamp\":%.0f,\"duration\":%d,\"localEndpoint\":{\"serviceName\":\"s\"}}\n", \
                (n > 1 ? "," : ""), n, 2 * n, name, t, 1700000000000000 + n * 100000, took + 50
            printf ",{\"traceId\":\"%016x\",\"id\":\"%016x\",\"parentId\":\"%016x\",\"name\":\"part_%s_%d\",\"timestamp\":%.0f,\"duration\":%d,\"localEndpoint\":{\"serviceName\":\"s\"}}\n", \
                n, 2 * n + 1, 2 * n, name, t, 1700000000000000 + n * 100000 + 10, took
        } print "]" }'
}
long=$(head -c 3000 /dev/zero | tr '\0' n)
for form in '60 40 order' "3 40 $long" '3000 1 rare'; do
    many $form 1 > before.json
    many $form 2 > after.json
    for columns in 72 120; do
        COLUMNS=$columns pythia compare -q before.json after.json > out
        echo "$(echo $form | head -c 12) at $columns: $(($(wc -l < out) <= 40)) $(($(LC_ALL=C.UTF-8 wc -L < out) <= columns)) $(grep -c '^✖' out) $(tail -4 out | head -2 | tr '\n' ' ')"
    done
done
