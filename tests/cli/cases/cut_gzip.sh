gzip -c $DATA/retry.jsonl | head -c 5000 > cut.jsonl.gz
pythia replay cut.jsonl.gz | head -1
exit ${PIPESTATUS[0]}
