# A key has several values in a request, and one of them matters: it is named with that value, in a line and in full.
awk -f $DATA/members.awk > requests.json
pythia replay -q requests.json | sed -n '/WHEN/,/SURE/p'
pythia replay -q --verbose requests.json | sed -n '/  why/,/^$/p' | head -4
