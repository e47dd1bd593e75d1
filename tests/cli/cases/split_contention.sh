# A captured OpenStack: servers that wait for others to be built, and those that hardly do, each by themselves; and the
# search for what makes them differ, in each part.
pythia replay --verbose -q --split 'queue_length=2' $DATASETS/openstack/contention.jsonl.zst | sed -n '1,/^3\. /p' | head -n -2
pythia replay -q --closed-loop --split 'queue_length=2' --format json $DATASETS/openstack/contention.jsonl.zst |
    jq -r '.search.problems[] | select(.request_type | test("queue_length")) |
           "\(.request_type | split(" [")[1]): \(.state), \(.causes[0].edge.from.trace_point)"'
