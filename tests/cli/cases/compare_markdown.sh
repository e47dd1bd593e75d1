awk -f $DATA/compare.awk > before.jsonl
awk -v after=1 -f $DATA/compare.awk > after.jsonl
pythia compare -q --format markdown --top 2 before.jsonl after.jsonl
