# Each member of an evaluation, at whatever depth, stands in its manual page.
pythia evaluate --strategy all --problem bushy-100,null --seeds 1 --cycles 1 --times --format json > one.json
jq -r '.. | objects | keys[]' one.json | sort -u > fields
tr -c 'a-z0-9_\n' '\n' < $ROOT/engine/report/pythia-evaluation.5.scd | sed 's/^_*//; s/_*$//' | sort -u > words
comm -23 fields words
test "$(wc -l < fields)" -gt 45
