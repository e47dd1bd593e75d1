# A search with what it cannot use: a strategy that there is not, a space without the type, a single request.
pythia replay --verbose -q --closed-loop --strategy boldest $DATA/retry.jsonl; echo "exit $?"
search() { pythia replay --verbose -q --closed-loop --space other.space "$@" $DATA/retry.jsonl; }
# Another system: neither the type nor where it begins is known. Then only that place is not.
for change in 's|/orders|/baskets|g' 's|/orders|/baskets|'; do
    sed "$change" $DATA/retry.jsonl > other.jsonl
    pythia space build -q -o other.space other.jsonl
    search | sed -n '/^The search/,/^$/p'; echo "exit ${PIPESTATUS[0]}"
    search --format json 2> /dev/null | jq -c '[.search.problems[] | [.request_type, .state, .why, .requests]], [.loop[] | [.requests, .unseen]]'
done
# The type is not known, and its trace points are.
pythia space build -q $DATA/retry.jsonl | jq -c '.types[].name = "shop POST /baskets"' > other.space
search | sed -n '/^The search/,/^$/p'; echo "exit ${PIPESTATUS[0]}"
head -1 $DATA/retry.jsonl > one.jsonl
pythia replay --verbose -q --closed-loop one.jsonl | sed -n '/^The search/,/^$/p'; echo "exit ${PIPESTATUS[0]}"
pythia replay -q --closed-loop --format json one.jsonl | jq -c '.search.problems[] | [.state, .why, .reason]'
: > none.jsonl
pythia replay --verbose -q --closed-loop none.jsonl; echo "exit $?"
