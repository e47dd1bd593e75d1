# In the document: edges add up to the change of the type, types to that of all, and services to both.
pythia compare -q --format json $DATASETS/openstack/baseline.jsonl.zst $DATASETS/openstack/contention.jsonl.zst > c.json || exit 1
near() { jq -r 'def near($a; $b): ($a - $b | fabs) < 1e-9 * ($b | fabs);'"$1" c.json | sort | uniq -c; }
near '.request_types[] | select(.edges != []) | near([.edges[].mean_ns.change] | add; .sample_mean_ns.change)'
near '.request_types[] | select(.edges != []) | near([.edges[].variance_ns2.change] | add; .sample_variance_ns2.change)'
near '.request_types[] | select(.edges != []) | near([.edges[] | .longer_ns, .often_ns] | add; .sample_mean_ns.change)'
near 'near([.request_types[] | .within_ns, .mix_ns] | add; .mean_ns.change)'
# The semaphore of the second is what changed most, and it is the worst edge of all.
jq -r '[.request_types[].edges[] | {score_ns, name: .from.trace_point}] | max_by(.score_ns).name' c.json
