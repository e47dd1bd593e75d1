# Spans that are delivered twice are counted, and change nothing else in the report. 300 deliveries: 100 bodies of a whole
# request (30 spans) a second time, 100 single spans in the bodies of other requests, and 100 single spans at the end, when
# their requests have long been finished: a request is finished after 65536 spans of others. No span comes three times.
pythia generate -n 30 -r 3000 --seed 5 -c sleep:0.3 --services 3 -o made.jsonl
head -8 made.jsonl | jq -c '.resourceSpans[] | .resource as $r | .scopeSpans[].spans[] | {r: $r, s: .}' |
    jq -s -c 'group_by(.s.traceId) | map(select(length == 30))[]' >requests
function='def body: {resourceSpans: map({resource: .r, scopeSpans: [{spans: [.s]}]})};'
jq -c "$function body" <(head -100 requests) >whole.jsonl
tail -n +101 requests | jq -c '.[]' >spans
jq -s -c "$function .[:100] | _nwise(5) | body" spans >single.jsonl
jq -s -c "$function . as \$all | range(120; 1120; 10) | [\$all[.]] | body" spans >late.jsonl
paste -d '\n' single.jsonl <(sed -n 9,28p made.jsonl) | jq -s -c '_nwise(2) | {resourceSpans: map(.resourceSpans[])}' >mixed.jsonl
{ head -8 made.jsonl; cat whole.jsonl mixed.jsonl; tail -n +29 made.jsonl; cat late.jsonl; } >twice.jsonl
pythia replay -q --format json made.jsonl >once
pythia replay --threads 1 --format json twice.jsonl >file # read again, as some spans come late; more threads wait longer
jq -c '.input | {spans, traces, repaired, dropped}' file
diff <(jq 'del(.input)' once) <(jq 'del(.input)' file) && echo same
pythia replay --format json - <twice.jsonl >stream # cannot be read again: what is late is dropped
jq -c '.input | {spans, traces, repaired, dropped}' stream
diff <(jq 'del(.input)' once) <(jq 'del(.input)' stream) && echo same
# The text differs in its first line, which says how much was read.
diff <(pythia replay --verbose -q made.jsonl) <(pythia replay --verbose -q twice.jsonl)
