# A folder of LTTng becomes requests by rules, wherever it lies below the folder that is named.
"$DATA"/lttng_trace.py session/ust/uid/1000/64-bit
cat >rules.yaml <<'R'
service: shop
provider: shop
points:
  sell: {start: sell_begin, done: sell_end, request: true}
  disk: {start: disk_begin, done: disk_end, keys: {shard: start shard}}
  mail: {start: mail_begin, done: mail_end}
R
echo "== without rules"
pythia replay session >/dev/null
echo "exit status $?"
echo "== rules that are wrong"
sed 's/start: sell_begin/begin: sell_begin/' rules.yaml >wrong.yaml
pythia replay --events wrong.yaml session >/dev/null
echo "exit status $?"
echo "== by rules, of which one has the wrong name"
pythia replay --events rules.yaml session
pythia replay --quiet --events rules.yaml --threads 1 --format json session >one.json 2>/dev/null
pythia replay --quiet --events rules.yaml --threads 4 --format json session/ust/uid/1000/64-bit session/ust >four.json 2>/dev/null
jq -S '.input.incomplete, .input.dropped, .input.spans' one.json
cmp <(jq 'del(.input.sources, .input.files)' one.json) <(jq 'del(.input.sources, .input.files)' four.json) && echo same
echo "== by rules that can be read once only"
pythia replay --quiet --events <(cat rules.yaml) --format json session 2>/dev/null | jq .input.spans
