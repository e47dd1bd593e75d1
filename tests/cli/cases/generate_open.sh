# Spans of closed trace points are left out, and nothing else changes: the report is the one of all spans of which
# the same are hidden. What is not known is not in a search space.
printf '%s\n' '# two' 'api:POST /servers' 'api:op_00001?' >open.txt
pythia generate --nodes 40 --requests 100 >all.jsonl
pythia generate --nodes 40 --requests 100 --open open.txt >some.jsonl
pythia replay -q --format json --open open.txt all.jsonl | jq -S '.groups' >hidden.json
pythia replay -q --format json --open open.txt some.jsonl | jq -S '.groups' >written.json
cmp hidden.json written.json && jq -c '.[0] | [.count, (.edges | length)]' written.json
jq -r '.resourceSpans[].scopeSpans[].spans[].name' some.jsonl | sort | uniq -c
pythia generate --nodes 40 --unknown 0.2 --requests 100 --truth truth.json | pythia space build -q -o all.json -
pythia generate --nodes 40 --unknown 0.2 --requests 100 --known | pythia space build -q -o known.json -
jq -cn --slurpfile truth truth.json --slurpfile all all.json --slurpfile known known.json '
    [($all[0].trace_points | map(.[0])) - ($known[0].trace_points | map(.[0])) | length,
     ($all[0].trace_points | map(.[0])) - ($known[0].trace_points | map(.[0])) == ($truth[0].unknown_trace_points | sort)]'
echo 'other:*' >none.txt
pythia generate --open none.txt | wc -c
