# Forks, loops, retries, spikes and coarse clocks do not hide the cause.
for shape in bushy openstack; do
    for structure in '--forks 0.4' '--loops 0.2' '--retries 0.2' '--spikes 0.004' '--tick 1000000' '--load 0.1'; do
        # shellcheck disable=SC2086 # structure is words
        pythia generate --shape $shape --nodes 80 --requests 250 --seed 4 $structure --truth truth.json |
            pythia replay -q --format json - >report.json
        jq -rn --arg name "$shape $structure" --slurpfile truth truth.json --slurpfile report report.json '
            $truth[0].causes[0] as $cause | $report[0].groups[0].edges[0] as $edge
            | "\($name): \($edge.from.trace_point == $cause.trace_point and $edge.context == $cause.context)"'
    done
done
