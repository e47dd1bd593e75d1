# Orders that find a long queue take twice as long as before: parted by the queue, only these have changed. What parts them
# is the same on both sides; a key that only one side has is no reason to call the other side's requests lost.
awk -f $DATA/split.awk > before.jsonl
awk -v slow=2 -f $DATA/split.awk | sed 's/"5b/"5c/g' > after.jsonl
pythia compare -q --verbose --split queue before.jsonl after.jsonl
pythia compare -q --split queue --format json before.jsonl after.jsonl | jq -c '.split_by[0], [.request_types[] | [.name, .status]]'
pythia compare -q --split queue --format markdown before.jsonl after.jsonl | head -3
pythia compare -q --split queue --format html before.jsonl after.jsonl | grep -o 'Split by[^<]*'
sed 's/"queue"/"length"/' before.jsonl > other.jsonl
pythia compare -q --split 'queue=*' --format json other.jsonl after.jsonl | jq -c '[.request_types[] | [.name, .status]]'
