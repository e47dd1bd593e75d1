# What a search found is known to the next one; a record that cannot be read is left alone.
pythia generate --nodes 100 --requests 250 --seed 5 --output requests.jsonl
search() { pythia replay -q --closed-loop --cycle-requests 50 --format json "$@" requests.jsonl; }
cycles='"\(.loop | length) cycles, \(.search.opened) opened: \([.search.problems[] | .causes[].edge.inside] | join(" "))"'
search --history searches.json | jq -r "$cycles"
jq -c '.schema, (.trace_points | length), [.trace_points[] | select(.[3] > 0) | [.[0], .[1], .[3]]]' searches.json
search --history searches.json | jq -r "$cycles"
jq -c '[.trace_points[] | select(.[3] > 0) | [.[0], .[1], .[3]]]' searches.json
echo "historic, without and with it:"
search --strategy historic | jq -r "$cycles"
search --strategy historic --history searches.json | jq -r "$cycles"
# The same report, whatever else is in the record.
search > without.json; search --history fresh.json | cmp - without.json && echo same
# A search that opens nothing adds nothing.
pythia replay -q --closed-loop --points 0 --cycles 2 --history empty.json requests.jsonl > /dev/null; cat empty.json
# Without a search it is read, and not written.
cp searches.json before.json
pythia replay -q --history searches.json requests.jsonl > /dev/null; echo "exit $?"; cmp searches.json before.json && echo "as it was"
pythia replay -q --history nowhere.json requests.jsonl > /dev/null; echo "exit $?"
try() {
    cp "$1" kept; pythia replay -q --closed-loop --history "$1" requests.jsonl > /dev/null; echo "exit $?"; cmp "$1" kept && echo "as it was"
}
echo '{"schema":"pythia.history/2","trace_points":[]}' > newer.json; try newer.json
printf '{"schema":"pythia.history/1",\n"trace_points":[["a",1,' > cut.json; try cut.json
echo '{"schema":"pythia.history/1","trace_points":[["a",1,0,2]]}' > wrong.json; try wrong.json
pythia replay -q --closed-loop --history - requests.jsonl > /dev/null; echo "exit $?"
mkdir folder; pythia replay -q --closed-loop --history folder requests.jsonl > /dev/null; echo "exit $?"
pythia replay -q --closed-loop --history no/such.json requests.jsonl > /dev/null; echo "exit $?"; ls
