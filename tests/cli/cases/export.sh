head -2 $DATA/retry.jsonl > two.jsonl
for to in chrome csv dot folded jaeger otlp zipkin; do
    echo "== $to"
    pythia export -q --to $to two.jsonl
done
