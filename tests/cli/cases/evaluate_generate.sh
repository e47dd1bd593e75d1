# The options of pythia generate that a result names are options of it.
pythia evaluate --strategy all --seeds 1 --cycles 1 --requests 4 --format json >all.json
jq -r '.problems[].generate' all.json | while read -r options; do
    pythia generate $options --seed 1 --requests 1 --output one.jsonl || echo "$options"
done
jq -r '.problems[] | select(.name == "host" or .name == "retries") | .generate' all.json
jq '.problems | length' all.json
