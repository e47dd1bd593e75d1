pythia replay $DATA/retry.jsonl
