# Each member of a report, at whatever depth, stands in its manual page. Counters have names of their own.
pythia replay -q --format json --open $DATASETS/openstack/open.txt $DATASETS/openstack/contention.jsonl.zst > report.json
pythia replay -q --format json $DATA/retry.jsonl > retry.json
pythia replay -q --closed-loop --format json $DATASETS/openstack/contention.jsonl.zst > loop.json
pythia replay -q --split queue_length --split request.query --format json $DATASETS/openstack/contention.jsonl.zst > split.json
cat > expected.yaml <<'Y'
- type: "*"
  where: queue_length < 2
  p99: < 1ns
  same_path_as: "*DELETE*"
- type: "*DELETE*"
  same_path_as: "*POST*"
Y
pythia check -q --format json expected.yaml $DATASETS/openstack/contention.jsonl.zst > check.json
jq -r 'del(.input.repaired[], .input.dropped[]) | .. | objects | keys[]' report.json retry.json loop.json split.json check.json | sort -u > fields
tr -c 'a-z0-9_\n' '\n' < $ROOT/engine/report/pythia-report.5.scd | sed 's/^_*//; s/_*$//' | sort -u > words
comm -23 fields words
test "$(wc -l < fields)" -gt 80
