pythia replay -q --output report.txt $DATA/retry.jsonl && pythia replay -q $DATA/retry.jsonl | cmp - report.txt && ls
