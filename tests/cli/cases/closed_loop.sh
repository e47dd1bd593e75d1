# The capture as if it were live: found in few cycles, with few trace points open; the same with the space from a file,
# and in any order; no contention where there is none; it ends where it is told to.
pythia replay --verbose -q --closed-loop $DATASETS/openstack/contention.jsonl.zst | sed -n 3,9p
pythia replay -q --closed-loop --format json $DATASETS/openstack/contention.jsonl.zst > loop.json
jq -c '.search.problems[] | select(.state == "done") | [.request_type, .causes[0].edge.from.trace_point, .causes[0].share >= .95]' loop.json
jq -r '"explained by \(.groups[0].explanations[0].key)", "cycles at most 6: \(.loop | length <= 6)",
    "opened at most 8 % of all: \(.search.opened <= .08 * .search.trace_points)"' loop.json
pythia space build -q -o space.json $DATASETS/openstack/contention.jsonl.zst
pythia replay -q --closed-loop --space space.json --threads 2 --format json $DATASETS/openstack/contention.jsonl.zst |
    cmp - loop.json && echo same
pythia replay -q --closed-loop --format json $DATASETS/openstack/baseline.jsonl.zst |
    jq -r '"baseline: \([.search.problems[].causes[].edge.from.trace_point | select(. == "build_semaphore")] | length) causes at the semaphore"'
pythia replay -q --closed-loop --points 0 --format json $DATASETS/openstack/contention.jsonl.zst | jq -c '[.search.opened, .search.finished]'
pythia replay -q --closed-loop --cycles 1 --format json $DATASETS/openstack/contention.jsonl.zst | jq -c '[(.loop | length), .search.finished]'
# What was read, hidden and lost is told once, for the whole of it.
(cat $DATA/retry.jsonl; echo '{"broken') > broken.jsonl
pythia replay --verbose --closed-loop broken.jsonl > /dev/null
head -1 $DATA/retry.jsonl > one.jsonl
pythia replay --verbose -q --closed-loop one.jsonl | sed -n 3,5p
cat $DATA/retry.jsonl | pythia replay --verbose -q --closed-loop -
echo "exit $?"
