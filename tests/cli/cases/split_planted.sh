# Planted: requests of one plan take very much longer, and a second cause, with a key of its own, makes less than a
# hundredth of the variance: the whole does not show it, the parts that are proposed do, and so does the search in them.
pythia generate --shape bushy --nodes 60 --requests 600 --causes categorical:0.3:5,numeric::0.2 --seed 5 --truth truth.json > traces.jsonl
jq -c '.causes[] | [.kind, .key]' truth.json
jq -n --slurpfile truth truth.json '$truth[0].causes[] | .trace_point' > points
pythia replay -q --format json traces.jsonl > whole.json
jq -r '.groups[0] | "the whole: \(.explanations[0].key), share of the best edge \(.edges[0].share * 100 | round) %"' whole.json
option=$(jq -r '.groups[0].splits[0].option' whole.json)
echo "$option"
eval "pythia replay -q --format json $option traces.jsonl" > parts.json
jq -r --slurpfile truth truth.json '.groups[] | "\(.request_type | capture("\\[(?<part>.*)\\]").part): \(.explanations[0].key // "nothing")" +
    ", \(if .edges[0].from.trace_point == $truth[0].causes[1].trace_point then "the second cause" else "not the second cause" end)" +
    " has \(.edges[0].share >= .5 | if . then "most" else "less" end)"' parts.json | sort
for split in '' "$option"; do
    eval "pythia replay -q --closed-loop --format json $split traces.jsonl" |
        jq -r --slurpfile truth truth.json '.search.problems[] |
            "\(.request_type | if test("\\[") then capture("(?<part>\\[.*\\])").part else "whole" end): \(.state), finds " +
            ([.causes[].edge.from.trace_point] | map(. as $p | $truth[0].causes | map(.trace_point == $p) | index(true) // "nothing planted") | tostring)' | sort
done
