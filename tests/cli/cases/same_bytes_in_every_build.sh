# The same report, byte for byte, from this build and from the release build, in another order and with more threads.
other=$ROOT/build/release/bin/pythia
[ -x "$other" ] || { echo "There is no $other to compare with" >&2; exit 77; }
pythia replay -q --format json --threads 1 $DATASETS/openstack/contention.jsonl.zst $DATASETS/openstack/baseline.jsonl.zst > one
"$other" replay -q --format json --threads 2 $DATASETS/openstack/baseline.jsonl.zst $DATASETS/openstack/contention.jsonl.zst > two
cmp one two && jq -r '.input | "\(.files) files, \(.traces) requests"' one
