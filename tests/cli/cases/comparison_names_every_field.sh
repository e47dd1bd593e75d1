# Each member of a comparison, at whatever depth, stands in its manual page. Counters have names of their own.
awk -f $DATA/compare.awk > before.jsonl
awk -v after=1 -f $DATA/compare.awk > after.jsonl
pythia compare -q --format json before.jsonl after.jsonl > one.json
pythia compare -q --split queue_length=2 --format json $DATASETS/openstack/baseline.jsonl.zst $DATASETS/openstack/contention.jsonl.zst > two.json
jq -r 'del(.before.repaired[], .before.dropped[], .after.repaired[], .after.dropped[]) | .. | objects | keys[]' one.json two.json | sort -u > fields
tr -c 'a-z0-9_\n' '\n' < $ROOT/engine/report/pythia-comparison.5.scd | sed 's/^_*//; s/_*$//' | sort -u > words
comm -23 fields words
test "$(wc -l < fields)" -gt 70
