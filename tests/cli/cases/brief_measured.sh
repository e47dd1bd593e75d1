# Spans have keys that measure their time: a key that explains it is named, and where there is none, the number that is no cause.
pythia generate --timed --nodes 20 --requests 200 --distractors 2 --causes categorical >keyed.jsonl
pythia replay -q keyed.jsonl | sed -n '/CAUSE/,/SURE/p'
pythia generate --timed --nodes 20 --requests 200 --distractors 2 --causes exponential >bare.jsonl
pythia replay -q bare.jsonl | sed -n '/CAUSE/,/SURE/p'
pythia replay -q --verbose bare.jsonl | grep -A2 'keys tested' | head -3
pythia replay -q --format json bare.jsonl | jq -c '.groups[0].skipped_keys | map(select(.reason | startswith("measures"))) | .[0, 1]'
