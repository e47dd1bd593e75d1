pythia tree -q --keys --slowest 2 $DATA/retry.jsonl
pythia tree -q --trace 5a170000000000000000000000000000 $DATA/retry.jsonl
