for by in share variance cov modes tail slow; do
    pythia replay -q --format json --rank-by $by $DATA/retry.jsonl | jq -r '[.ranked_by, .groups[0].edges[0].from.trace_point, .groups[0].edges[0].to.event] | join(" ")'
done
