# What is exported for Zipkin tells the same story when it is read.
pythia export -q --to zipkin -o zipkin.json $DATA/retry.jsonl
pythia replay -q --format json zipkin.json | jq -r '.groups[0] | .count, .cause, .explanations[0].key'
