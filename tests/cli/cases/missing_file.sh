pythia replay -q nowhere.json $DATA/retry.jsonl | head -1
exit ${PIPESTATUS[0]}
