# What a deployment changed, and the exit status 0.
awk -f $DATA/compare.awk > before.jsonl
awk -v after=1 -f $DATA/compare.awk > after.jsonl
pythia compare -q --verbose before.jsonl after.jsonl
