# A cause in one call's own time, spread over the gaps between its children: no single edge holds it, and the report and
# the verdict name the call and not a neighbour.
for seed in 1 2 3; do
    pythia generate --requests 200 --nodes 60 --seed $seed --causes own-time:1:0.5 -o own.jsonl --truth truth.json
    planted=$(jq -r .causes[0].trace_point truth.json)
    pythia replay -q --format json own.jsonl > report.json
    jq -r --arg planted "$planted" '.groups[0].own_time as $own
        | "own time of the planted call: \($own.edge.from.trace_point == $planted), share at least .9: \($own.share >= .9)",
          "more than half in one segment: \(.groups[0].edges[0].share > .5 * $own.share)",
          "verdict: \(.verdicts[0].state), the same place: \(.verdicts[0].found[0].edge == $own.edge)"' report.json
done
pythia replay --verbose -q own.jsonl | grep -A 8 'where '
pythia replay -q --format markdown own.jsonl | grep 'own time'
pythia replay -q --format html own.jsonl | grep -c 'own time'
