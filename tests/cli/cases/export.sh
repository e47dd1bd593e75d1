head -2 $DATA/retry.jsonl > two.jsonl
for to in chrome dot folded zipkin; do
    echo "== $to"
    pythia export -q --to $to two.jsonl
done
