# One side is not enough, three are too many; a side that is not there is told.
awk -f $DATA/compare.awk > before.jsonl
pythia compare before.jsonl; echo "exit status $?"
pythia compare before.jsonl before.jsonl before.jsonl; echo "exit status $?"
pythia compare --alpha 2 before.jsonl before.jsonl; echo "exit status $?"
pythia compare -q before.jsonl nothing.jsonl > /dev/null; echo "exit status $?"
pythia compare - - < before.jsonl; echo "exit status $?"
: > empty.jsonl
pythia compare -q before.jsonl empty.jsonl; echo "exit status $?"
pythia compare -q -o /nowhere/report before.jsonl before.jsonl; echo "exit status $?"
