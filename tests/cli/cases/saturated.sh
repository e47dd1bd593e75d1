# Of events 0 to 31, as many of each, 16 of 32 are 16 and more: with that limit half of the requests are at it. Multiples of 7 pass
# it in steps of 7, so that at most three requests in a row are at the limit: 16, 23 and 30, or 18 and 25.
awk -v limit=16 -f $DATA/ofi.awk > limited.jsonl
pythia replay -q --verbose limited.jsonl | sed -n '/What is saturated/,/^$/p;/At its limit/,/^$/p'
pythia replay -q --format json limited.jsonl | jq -c .saturated
pythia replay -q --format markdown limited.jsonl | grep -A 4 'What is saturated'
pythia replay -q --format html limited.jsonl > report.html
echo "dots: $(grep -o 'class="dot"' report.html | wc -l), at the limit: $(grep -o 'class="limit"' report.html | wc -l)"
# A limit that is never reached is none.
awk -v limit=64 -f $DATA/ofi.awk > free.jsonl
pythia replay -q --format json free.jsonl | jq -c .saturated
pythia replay -q --verbose free.jsonl | grep -c saturated || true
# A limit that is known: of 0 to 31, 24 to 31 are a quarter.
pythia replay -q --format json --limit variable.num_ofi_events_read.max=24 free.jsonl | jq -c '.saturated[] | [.key, .limit, .share]'
pythia replay -q --limit queue free.jsonl || echo $?
