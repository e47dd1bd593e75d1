pythia profile -q $DATA/retry.jsonl
