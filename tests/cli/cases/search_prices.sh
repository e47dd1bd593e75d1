# Prices of single trace points, and those that are none.
contention=$DATASETS/openstack/contention.jsonl.zst
printf '# measured\nbuild_semaphore=250\n\ndb:*=90\n' > prices.txt
pythia replay -q --closed-loop --price @prices.txt --price 'db:nova:*=40' --strategy all --points 64 --cycles 1 \
    --format json $contention > loop.json
jq -c '.loop[].opened[] | select(.trace_point == "build_semaphore") | [.trace_point, .price_ns, .cost_ns]' loop.json
jq -c '[.loop[].opened[] | [(.trace_point | split(":")[:2] | if .[0] == "db" then join(":") else "other" end), .price_ns]] |
    group_by(.) | map([.[0][0], .[0][1], length])[]' loop.json
pythia replay -q --closed-loop --price build_semaphore=1e12 --format json $contention |
    jq -c '[.search.problems[] | select(.cycles > 0) | .state, .why, .blocked, .needs.added_ns, .reason]'
for price in db=-5 db= db db=nan =5 db=1e999; do
    pythia replay -q --closed-loop --price "$price" $contention; echo "exit $?"
done
pythia replay -q --closed-loop --price-ns -1 $contention; echo "exit $?"
printf 'build_semaphore=250\ndb:x=-2\n' > wrong.txt
pythia replay -q --closed-loop --price @wrong.txt $contention; echo "exit $?"
pythia replay -q --closed-loop --price @nowhere.txt $contention; echo "exit $?"
pythia replay -q --price nothing=5 $DATA/retry.jsonl > /dev/null; echo "exit $?"
# A suggestion costs what its point does.
pythia space build -q -o shop.space $DATA/retry.jsonl
echo 'shop:http:POST /orders' > open.txt
pythia replay -q --space shop.space --open open.txt --price 'shop:http:pay=70' --format json $DATA/retry.jsonl |
    jq -c '.next[] | [.trace_point, .cost_ns]'
