cp $DATA/retry.jsonl .
pythia replay retry.jsonl
echo; echo --verbose; pythia replay -q --verbose retry.jsonl
