# The main job on the captured OpenStack, as a script would read it.
pythia replay -q --format json $DATASETS/openstack/contention* > report.json
jq -r '
def top: .groups[0];
"top group: \(top.request_type), \(top.count) of \(top.type_count), \(top.status)",
"first edge: \(top.edges[0].from.trace_point) \(top.edges[0].from.event) to \(top.edges[0].to.trace_point) \(top.edges[0].to.event)",
"its share is at least .95, and its interval holds .97: \(top.edges[0] | .share >= .95 and .share_low <= .97 and .share_high >= .97)",
"shares add up to 1 in all groups: \([.groups[] | select(.clipping_removes != null and .clipping_removes <= .5) | [.edges[].share] | add | (. - 1) | fabs < 1e-9] | all)",
"first explanation: \(top.explanations[0].key), q below .001: \(top.explanations[0].q < .001)",
"keys that look like ids and were asked: \([.groups[].explanations[].key | select(test("request_?id|(^|[._])uuid|base_id|req-"; "i"))])",
"identifiers that were skipped: \(top.skipped_keys | map(select(.reason | test("identif"))) | length > 0)",
"server delete goes with: \([.groups[] | select(.request_type | contains(":DELETE:/v2.1/servers/")) | .explanations[0].key][0])",
"next: \(.next[0].trace_point)"' report.json
pythia replay -q --format json $DATASETS/openstack/baseline* |
    jq -r '"baseline, server create, explained by queue_length: \([.groups[] | select(.request_type | contains(":POST:/v2.1/servers")) | .explanations[]?.key | select(contains("queue_length"))])"'
