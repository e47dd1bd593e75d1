# Each strategy by its name, and its first reason in its own words; behind it one that is unknown.
pythia space build -q -o shop.space $DATA/retry.jsonl
echo 'shop:http:POST /orders' > open.txt
for strategy in information-gain hierarchical flat binary historic covariance thompson random all; do
    pythia replay -q --format json --space shop.space --open open.txt --strategy $strategy \
        --points 1 --seed 3 $DATA/retry.jsonl |
        jq -r --arg name $strategy '.next[] | $name + ": " + .trace_point + ": " + .reason'
done
pythia replay -q --strategy boldest $DATA/retry.jsonl 2>&1
