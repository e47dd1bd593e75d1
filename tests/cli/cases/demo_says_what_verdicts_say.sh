# The closed loop of the demo: each diagnosed group is of a type whose verdict is found or still searching, the sentence
# of the first one is the verdict's, and nothing is suggested for a type whose search has ended.
pythia replay -q --closed-loop --format json $DATASETS/openstack/contention.jsonl.zst > loop.json
jq -r '[.verdicts[] | select(.state == "found" or .state == "searching") | .request_type] as $types
    | "found or searching: \($types | length)",
      "diagnosed beyond these: \([.groups[] | select(.status == "diagnosed") | .request_type] - $types | length)",
      "quiet groups that name a place: \([.groups[] | select(.status == "quiet" and .finding.why != null)] | length)",
      "suggested: \(.next | length)"' loop.json
jq -r '(.verdicts[] | select(.state == "found")) as $v | .groups[0].finding.where == $v.where' loop.json
# One replay with few points open: a point that shows a thousandth of what the best one shows is not suggested beside it.
pythia replay -q --open $DATASETS/openstack/open.txt --format json $DATASETS/openstack/contention.jsonl.zst |
    jq -r '"next: \(.next | map(.trace_point) | join(", "))"'
# A search that stops before its end still says what it would open.
pythia replay -q --closed-loop --cycles 1 --format json $DATASETS/openstack/contention.jsonl.zst |
    jq -r '"after one cycle: \([.next[].request_type] - [.verdicts[] | select(.state == "searching") | .request_type] | length) of others"'
