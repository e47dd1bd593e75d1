zstd -qc $DATA/retry.jsonl | head -c 5000 > cut.jsonl.zst
pythia replay -q cut.jsonl.zst > report
status=$?
wc -c < report | tr -d ' '
exit $status
