# A request of 50 000 nodes is cut into lines that a reader can hold, and read back whole.
pythia generate --shape deep --nodes 50000 --requests 2 --distractors 0 >requests.jsonl
awk 'length > longest { longest = length } END { print NR, (longest < 2000000) }' requests.jsonl
pythia replay -q --format json requests.jsonl | jq -c '[.input.traces, .input.spans]'
