# A change of the mean that may be chance is not called none: only means that are surely close are as good as equal.
findings() { pythia compare -q --format json before.jsonl after.jsonl | jq -r '.request_types[0].findings[]'; }
awk -v stock=20000 -v pay=30000 -v way=500 -v rare=4000000 -f $DATA/waits.awk > before.jsonl
awk -v stock=20000 -v pay=30000 -v way=20500 -v rare=6000000 -v side=1 -f $DATA/waits.awk > after.jsonl
findings
awk -v stock=20000 -v pay=30000 -v way=500 -v rare=0 -f $DATA/waits.awk > before.jsonl
awk -v stock=19000 -v pay=31000 -v way=500 -v rare=0 -v side=1 -f $DATA/waits.awk > after.jsonl
findings
