# A search space of a million nodes: read, searched, and in memory that it may have.
awk 'BEGIN {
    n = 1000000; points = 1000
    printf "{\"schema\":\"pythia.space/1\",\"trace_points\":[[\"shop:http:POST /orders\",\"shop\",\"POST /orders\"]"
    for (i = 1; i < points; i++) printf ",[\"p:%d\",\"p\",\"%d\"]", i, i
    printf "],\"types\":[{\"name\":\"shop POST /orders\",\"requests\":5,\"nodes\":[[0,0,5,5,5,%.0f,1]", 5 * n * 1000
    for (i = n; i > 1; i--) { size[i]++; size[int((i - 2) / 8) + 1] += size[i] }
    for (i = 2; i <= n; i++) printf ",[%d,%d,5,5,5,%d,0]", int((i - 2) / 8) + 1, 1 + (i - 2) % (points - 1), size[i] * 5000
    printf "],\"edges\":["
    for (i = 1; i <= n; i++) {
        own = i == 1 ? 0 : 1 + (i - 2) % (points - 1); from = own; event = 0
        for (k = 8 * (i - 1) + 2; k <= 8 * i + 1 && k <= n; k++) {
            point = 1 + (k - 2) % (points - 1)
            printf "%s[%d,%d,%d,%d,0,5,500]", i == 1 && k == 2 ? "" : ",", i, from, event, point
            from = point; event = 1
        }
        printf ",[%d,%d,%d,%d,1,5,500]", i, from, event, own
    }
    print "]}]}"
}' > large.space
pythia space show --skeleton large.space
# 1 GB, but for builds with sanitizers, which need more for themselves and abort; the shell says so, to nobody.
{ (ulimit -v 1000000 && pythia --version; exit $?) && limit=1000000; } > /dev/null 2>&1
( ulimit -v "${limit:-unlimited}"
  pythia replay -q --verbose --closed-loop --space large.space --cycles 3 $DATA/retry.jsonl ) | sed -n '/^The search/,/^$/p'
echo "exit ${PIPESTATUS[0]}"
