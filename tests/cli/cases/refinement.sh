# What stays when trace points open: a group is the same group, refined; and what opened points explained is measured.
capture=$DATASETS/openstack/contention.jsonl.zst
pythia replay -q --format json --open skeleton $capture > skeleton.json
jq -r '.open[]' skeleton.json > open.txt
printf '%s\n' build_semaphore do_build_and_run_instance >> open.txt
pythia replay -q --format json --open open.txt $capture > more.json
jq -n -r --slurpfile a skeleton.json --slurpfile b more.json '
    ([$a[0].groups[].parent] | unique | "of the skeleton: parents \(.)"),
    ($b[0].groups[] | select(.parent and .count >= 30) as $g | $a[0].groups[] | select(.id == $g.parent) |
        "\($g.count) requests refine a group of \(.count), with other ids: \(.id != $g.id)"),
    ([$b[0].groups[] | .id as $id | select(.parent == null) | .lineage | any(. == $id)] | "else in their own lineage: \(all)")'
echo "# without the skeleton, and with part of it"
pythia replay -q --format json $capture | jq -c '[.groups[] | [.parent, .lineage]] | unique'
pythia replay -q --format json --open $DATASETS/openstack/open.txt $capture | jq -c '[.groups[] | [.parent, .lineage]] | unique'

echo "# a search that opens several"
pythia generate --shape openstack --nodes 200 --requests 400 --seed 5 --noise .2 --loops .1 --retries .1 > made.jsonl
pythia replay -q --closed-loop --points 2 --format json made.jsonl > loop.json
jq -r '"one group in all cycles: \([.loop[].group.id] | unique | length == 1)",
    "opened and measured: \([.loop[].opened[].trace_point] | sort | . == ([$all[0].loop[].effects[].trace_point] | sort))",
    "each in the cycle behind: \([.loop[] | .cycle as $c | .effects[] | .opened_in + 1 == $c] | all)",
    (.loop[].effects[] | "\(.trace_point) \(.verdict) \(.because): \(.inside * 100 | round + 0) % inside, \(.part.share * 100 | round) of \(.stretch.share * 100 | round) %, eta squared \(.eta_squared * 100 | round) %"),
    "closed with what was measured: \([.loop[].closed[].reason | test("measured after it was opened in cycle")] | all)"' \
    --slurpfile all loop.json loop.json
pythia replay --verbose -q --closed-loop --points 2 made.jsonl | sed -n '/^The search/,/^$/p'
pythia replay -q --closed-loop --points 2 --format markdown made.jsonl | grep -o 'explains: .* where it was opened\.' | head -1
pythia replay -q --closed-loop --points 2 --format html made.jsonl | grep -c 'What opened trace points explained'
