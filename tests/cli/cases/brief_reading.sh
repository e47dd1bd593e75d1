# A person on call reads eight lines. In each of twelve reports the verdict, the place and the key stand in them; what they
# are is known from how the requests were made.
cp $DATASETS/openstack/*.jsonl.zst $DATA/retry.jsonl .
cp $DATASETS/openstack/open.txt .
jq -nr '"[", (range(120) | . as $i | {traceId: "\($i + 4096)", t: (1700000000000000 + $i * 1000000), s: (if $i % 3 == 0 then 300000 else 20000 end)} |
    (.traceId + "0000")[0:8] as $id | [
    {traceId: $id, id: "\($id)01", name: "get /cart", timestamp: .t, duration: (.s + 5000), localEndpoint: {serviceName: "web"}},
    {traceId: $id, id: "\($id)02", parentId: "\($id)01", name: "read", timestamp: (.t + 1000), duration: .s, localEndpoint: {serviceName: "store"},
     tags: {shard: (if .s > 100000 then "s7" else "s1" end), size: "\(.s / 1000)"}}] | .[] | tojson + ","),
    "{\"traceId\":\"f\",\"id\":\"f\",\"name\":\"x\",\"timestamp\":1,\"duration\":1,\"localEndpoint\":{\"serviceName\":\"x\"}}]"' > zipkin.json
read8() { # what is looked for: PLACE KEY, then the command
    place=$1 key=$2; shift 2
    "$@" > report
    head -8 report > first
    echo "$(grep -cE 'accounts for' first)$(grep -cE "^  CAUSE .*$place|^         .*$place" first)$(grep -cE "^  WHEN .*$key|^         .*$key" first) $(sed -n 's/^  CAUSE  //p' first)"
}
read8 build_semaphore queue_length pythia replay -q contention.jsonl.zst
read8 build_semaphore queue_length pythia replay -q --closed-loop contention.jsonl.zst
read8 build_and_run_instance queue_length pythia replay -q --open open.txt contention.jsonl.zst
read8 build_semaphore queue_length env COLUMNS=72 pythia replay -q --trace-url "http://jaeger/trace/{trace_id}" contention.jsonl.zst
read8 'charge' 'retry: charge' pythia replay -q retry.jsonl
read8 charge charge env COLUMNS=72 pythia replay -q retry.jsonl
read8 read 'shard|size' pythia replay -q zipkin.json
read8 read 'shard|size' pythia replay -q --closed-loop --cycle-requests 40 zipkin.json
read8 read 'shard|size' env TERM=dumb pythia replay -q zipkin.json
for cause in contention:queue_length categorical:plan numeric:item_count; do
    pythia generate --nodes 60 --requests 300 --causes ${cause%:*} --seed 3 --truth truth.json > made.jsonl
    read8 "$(jq -r '.causes[0].trace_point | sub(".*:"; "")' truth.json)" ${cause#*:} pythia replay -q made.jsonl
done
