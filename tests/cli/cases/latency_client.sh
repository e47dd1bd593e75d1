pythia replay -q --latency client --format json $DATA/retry.jsonl | jq -r '.groups[0] | .count, .cause'
