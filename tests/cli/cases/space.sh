pythia space build -q -o shop.space $DATA/retry.jsonl
pythia space show shop.space
pythia space show --skeleton shop.space
pythia space build -q --threads 2 $DATA/retry.jsonl | cmp - shop.space
