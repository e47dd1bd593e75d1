# All calls of the shop have one name, HTTP POST. The way to payment takes 40 ms longer: payment is named, not the shop.
usual='-v stock=20000 -v pay=30000 -v rare=0'
awk $usual -v way=500 -f $DATA/waits.awk > before.jsonl
awk $usual -v way=40500 -v side=1 -f $DATA/waits.awk > after.jsonl
pythia compare -q --verbose before.jsonl after.jsonl
