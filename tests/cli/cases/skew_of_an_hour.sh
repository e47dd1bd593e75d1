# Clocks that are an hour apart. shop (a) asks stock (b, an hour ahead), which asks prices (c, an hour behind); each way takes
# 1 ms. A request takes 40 ms, of which prices:price 8 ms, and every third 20 ms longer, because of prices:price.
# So in 90 requests: mean 40 + 20 / 3 = 46.667 ms, and all of the variance is inside prices:price.
awk -v hour=3600 'function span(host, ahead, id, parent, kind, name, start, end) {
  printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"%s\"}},", host
  printf "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"%s\"}}]},\"scopeSpans\":[{\"spans\":[", host
  printf "{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"parentSpanId\":\"%s\",\"kind\":%d,\"name\":\"%s\",", n, id, parent, kind, name
  printf "\"startTimeUnixNano\":\"%d%03d000000\",\"endTimeUnixNano\":\"%d%03d000000\"}]}]}]}\n", \
    1700000000 + ahead + start / 1000, start % 1000, 1700000000 + ahead + end / 1000, end % 1000
}
BEGIN { for (n = 1; n <= 90; n++) { at = 1000 + n * 100; slow = n % 3 ? 0 : 20
  span("shop", 0, n * 8 + 1, "", 2, "order", at, at + 40 + slow)
  span("shop", 0, n * 8 + 2, sprintf("%016x", n * 8 + 1), 3, "ask stock", at + 5, at + 35 + slow)
  span("stock", hour, n * 8 + 3, sprintf("%016x", n * 8 + 2), 2, "reserve", at + 6, at + 34 + slow)
  span("stock", hour, n * 8 + 4, sprintf("%016x", n * 8 + 3), 3, "ask prices", at + 10, at + 20 + slow)
  span("prices", -hour, n * 8 + 5, sprintf("%016x", n * 8 + 4), 2, "price", at + 11, at + 19 + slow) } }' >apart.jsonl
pythia tree -q apart.jsonl | tail -n +2 # of which only the lengths are known
for skew in --skew --no-skew; do
    pythia replay --verbose -q $skew apart.jsonl | head -9
    pythia replay -q $skew --format json apart.jsonl >report.json
    # No time is below zero or beyond a request's, 60 ms.
    jq -c '[paths(numbers) as $p | select($p[-1] | tostring | test("_ns$")) | getpath($p)] | [min >= 0, max <= 60000000]' report.json
    jq -c '.groups[0].edges[0] | [.from.trace_point, .to.trace_point, .mean_ns, .sd_ns]' report.json
done
# Whatever the clocks of services show, the verdict is that of the clocks that are right: the same place, in the same context,
# with as large a share. In bushy and deep files a service is called without a span for the call, so that only the spans around
# and beside it say when it was.
shift_clocks() { # conductor by $1 s, scheduler by $2 s, compute by $3 s
    jq -c '.resourceSpans[] | {resourceSpans: [.]}' | awk -v a="$1" -v b="$2" -v c="$3" '{
        by = /"conductor"/ ? a : /"scheduler"/ ? b : /"compute"/ ? c : 0; out = ""
        while (match($0, /UnixNano":"[0-9]*"/)) {
            out = out substr($0, 1, RSTART + 10) (substr($0, RSTART + 11, 10) + by)
            $0 = substr($0, RSTART + 21) }
        print out $0 }'
}
verdict() {
    pythia replay -q --format json "$@" |
        jq -c '.groups[0].edges[0] | [.from.trace_point, .from.event, .to.trace_point, .to.event, .context, .share > .97]'
}
try() { # SHAPE:SEED OPTION...
    made=$1 shape=${1%:*}${2:+, $2}
    shift
    pythia generate --shape "${made%:*}" --seed "${made#*:}" -n 60 -r 100 --services 4 "$@" -o right.jsonl
    right=$(verdict right.jsonl)
    shift_clocks 3600 -3600 0 <right.jsonl >one.jsonl
    shift_clocks -3600 3600 3601 <right.jsonl >two.jsonl
    sed 's/{"key":"host.name"/{"key":"no.name"/g' <one.jsonl >three.jsonl # hosts are not known
    for file in one two three; do
        [ "$(verdict $file.jsonl)" = "$right" ] && echo "$shape: same" || echo "$made, $file: another"
    done
    [ "$(verdict --skew one.jsonl)" = "$right" ] && echo "$shape, --skew: same" || echo "$made, --skew: another"
}
{
    for made in bushy:4 bushy:8 bushy:11 bushy:14 deep:2 deep:7 deep:9 deep:12 openstack:11 openstack:14 openstack:17 openstack:18; do
        try "$made"
    done
    # Messages, which nobody waits for.
    for made in bushy:1 bushy:3 bushy:5 bushy:7 deep:5 deep:8 openstack:11 openstack:18; do
        try "$made" --async .2
    done
} | sort | uniq -c
