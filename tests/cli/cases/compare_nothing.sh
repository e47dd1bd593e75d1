# The same on both sides: nothing changed, exit status 3.
awk -f $DATA/compare.awk > before.jsonl
pythia compare -q before.jsonl before.jsonl
