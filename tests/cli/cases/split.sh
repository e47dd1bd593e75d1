# What a person on call does: reads what to part requests by, pastes it, and looks at each part by itself.
awk -f $DATA/split.awk > orders.jsonl
pythia replay --verbose -q orders.jsonl
option=$(pythia replay -q --format json orders.jsonl | jq -r '.groups[0].splits[0].option')
echo "$option"
eval "pythia replay --verbose -q $option orders.jsonl"
