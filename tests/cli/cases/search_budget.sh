# No cycle plans to spend more than a budget; too small a one says what did not fit, and what it would take.
pythia generate --nodes 60 --requests 300 --seed 4 --output requests.jsonl
check='.search.budget as $b | [.loop[].planned | (.points <= ($b.points // 1e99)) and (.added_ns <= ($b.added_ns // 1e99))
    and (.bytes_per_second <= ($b.bytes_per_second // 1e99))] | [length > 1, all]'
search() { pythia replay --verbose -q --closed-loop --cycle-requests 50 "$@" requests.jsonl; }
for budget in '--points-open 2' '--added-ns 2000' '--bytes-per-second 700' '--points-open 3 --added-ns 2500 --bytes-per-second 800'; do
    search $budget --format json > loop.json
    echo "$budget: $(jq -c "$check" loop.json) $(jq -c '.search.problems[] | [.state, (.causes | length)]' loop.json)"
done
search --points 0 | sed -n '/^The search/p; /^   6 /,/^$/p'; echo "exit ${PIPESTATUS[0]}"
search --bytes-per-second 200 | sed -n '/^The search/p; /^   6 /,/^$/p'; echo "exit ${PIPESTATUS[0]}"
search --points-open 2 --added-ns 5000 --bytes-per-second 1000 | sed -n '/^The search/,/^   2 /p'
# A search space from before spans were measured: 416 bytes each.
contention=$DATASETS/openstack/contention.jsonl.zst
pythia space build -q -o new.space $contention
jq -c 'del(.types[].bytes)' new.space > old.space
for space in new old; do
    pythia replay -q --closed-loop --cycles 1 --space $space.space --format json $contention |
        jq -r --arg space $space '.loop[0] | "\($space): \(.opened[0].bytes_per_second * .seconds / 93 | round) bytes a request"'
done
for wrong in '--bytes-per-second -1' '--added-ns x' '--points-open -2'; do
    search $wrong; echo "exit $?"
done
pythia replay --verbose -q --bytes-per-second 100 requests.jsonl; echo "exit $?"
