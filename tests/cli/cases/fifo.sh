mkfifo pipe
cat $DATA/retry.jsonl > pipe &
pythia replay -q pipe | head -1
