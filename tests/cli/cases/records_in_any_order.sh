# Shuffled and repeated lines give the same findings.
{ cat $DATA/retry.jsonl; head -20 $DATA/retry.jsonl; } | shuf > mixed.jsonl
pythia replay -q --format json mixed.jsonl | jq 'del(.input)' > a
pythia replay -q --format json $DATA/retry.jsonl | jq 'del(.input)' | cmp - a && echo same
pythia replay -q --format json mixed.jsonl | jq -c '.input.repaired'
