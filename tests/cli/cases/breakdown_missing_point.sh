# What varies and has no open trace point lies in the rest of the target; the search opens the point below it, and then the
# rest no longer varies: all of the variance is the wait's.
awk -v requests=80 -v queue=0 -f $DATA/calls.awk > closed.jsonl
awk -v requests=80 -f $DATA/calls.awk > all.jsonl
pythia breakdown -q --callpath '*> store:get' --format json closed.jsonl |
    jq -r '.callpaths[0].parts | "own \(.own.variance_share), unaccounted \(.unaccounted.variance_share)"'
printf '%s\n' 'front:*' store:get store:call 'shard:*' > open
pythia replay -q --open open --format json all.jsonl | jq -c '.next | map(.trace_point? // .)'
pythia breakdown -q --callpath '*> store:get' --format json all.jsonl |
    jq -r '.callpaths[0].parts | "own \(.own.variance_share), handler \(.handler.variance_share)"'
