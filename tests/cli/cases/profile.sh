# By hand from what data/calls.awk says of 4 requests, whose waits are 5, 15, 25 and 35 ms: the roots take 60, 70, 80 and 90 ms, of
# which front's call is 50 to 80, store's get 40 to 70, its queue 5 to 35, its call 20 and shard's read 16. What is own of get is
# 220 - 80 - 80 = 60 ms of 300.
awk -v requests=4 -f $DATA/calls.awk > calls.jsonl
pythia profile -q calls.jsonl
pythia profile -q --callpath '*get > *' --sort exclusive --spark calls.jsonl
pythia profile -q --format json --callpath 'front:GET /' --per-instance --pairs --spark calls.jsonl
pythia profile -q --format dot calls.jsonl
pythia profile -q --by level --sort count --top 2 --format markdown calls.jsonl
# One of 32 instances answers three times as many calls as each other one.
awk -f $DATA/servers.awk > servers.jsonl
pythia profile -q --callpath '*store:get' --per-instance servers.jsonl | grep -e most -e 'instance 1[67] '
pythia profile -q --callpath '*store:get' --per-instance --format json servers.jsonl | jq -c '.rows[0].imbalance'
# Of ten calls the store's span is missing: they are in the pairs, and counted.
awk -v missing=1 -f $DATA/servers.awk > missing.jsonl
pythia profile -q --pairs --top 100 missing.jsonl | grep -e 'not traced' -e 'one side only'
# The order that each --sort gives: retry.jsonl has three callpaths, of which POST /orders > pay > charge is hit most.
for sort in total exclusive count p99 var cov; do
    echo "$sort: $(pythia profile -q --sort $sort --format json $DATA/retry.jsonl | jq -r '.rows | map(.callpath[-1]) | join(", ")')"
done
# On critical paths, time of its own first.
pythia profile -q --critical --sort exclusive $DATA/retry.jsonl
# A pattern that nothing matches.
pythia profile -q --callpath 'nothing' calls.jsonl
pythia breakdown -q --callpath 'nothing' calls.jsonl
