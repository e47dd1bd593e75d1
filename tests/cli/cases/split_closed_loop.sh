# A live search can part requests by what it sees alone: the trace point that reports the key stays open from the start,
# and no other does. What parts them is known before the first cycle.
awk -f $DATA/split.awk > orders.jsonl
for split in '' '--split queue=6' '--split queue' '--split host' '--split count:shop:pay=1'; do
    pythia replay -q --closed-loop --cycle-requests 200 $split --format json orders.jsonl 2> /dev/null |
        jq -r --arg split "$split" '"\($split): \(.search.skeleton) of \(.search.trace_points) open from the start; " +
            ([.search.problems[] | "\(.request_type) \(.state)"] | sort | join(", "))'
done
pythia replay --verbose -q --closed-loop --split queue=6 orders.jsonl | sed -n 3,11p
