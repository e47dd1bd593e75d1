# Ten requests tell nothing: exit status 4.
awk -f $DATA/compare.awk | head -10 > before.jsonl
awk -v after=1 -f $DATA/compare.awk | head -10 > after.jsonl
pythia compare -q before.jsonl after.jsonl
