# The whole truth of a small workflow whose causes move.
pythia generate --shape openstack --nodes 12 --requests 25 --causes contention,categorical:0.4:0.5 --unknown 0.2 \
    --drift move --drift-requests 20 --truth truth.json --output requests.jsonl
cat truth.json
pythia replay -q --format json requests.jsonl | jq -c '[.input.traces, .input.spans]'
