head -c 40000 $DATA/retry.jsonl > cut.jsonl
pythia replay cut.jsonl | head -1
exit ${PIPESTATUS[0]}
