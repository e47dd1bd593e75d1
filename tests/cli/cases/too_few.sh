head -5 $DATA/retry.jsonl | pythia replay -q -
