# What is planted is what a diagnosis of the requests names: the node with most of the variance, where
# its time is spent, and the key that goes with it (with @service where several services have it). The lock is at three
# nodes, most of it at the first.
for causes in sleep:0.3 sleep:0.05 exponential uniform contention host numeric categorical; do
    for shape in bushy deep openstack; do
        pythia generate --shape $shape --nodes 80 --requests 250 --causes $causes --seed 7 --truth truth.json |
            pythia replay -q --format json - >report.json
        jq -rn --arg name "$causes in a $shape tree" --slurpfile truth truth.json --slurpfile report report.json '
            $truth[0].causes[0] as $cause | $report[0].groups[0] as $group | $group.edges[0] as $edge
            | ($edge.from.trace_point == $cause.trace_point and $edge.from.event == "start"
               and $edge.context == $cause.context) as $place
            | ($cause.key == null or ($group.explanations[0].key | split("@")[0]) == $cause.key) as $key
            | "\($name): \(if $place then "right place" else "wrong place" end), " +
              "\(if $cause.key == null then "no key" elif $key then "right key" else "wrong key" end)"'
    done
done
