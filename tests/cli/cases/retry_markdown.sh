pythia replay -q --format markdown $DATA/retry.jsonl
