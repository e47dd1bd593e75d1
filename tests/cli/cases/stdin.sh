gzip -c $DATA/retry.jsonl | pythia replay -q - | head -3
