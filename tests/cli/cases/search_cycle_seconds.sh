# Cycles by the times in the traces: a request every second, from 0 on.
pythia generate --nodes 50 --requests 200 --interval 1000 --seed 2 --output requests.jsonl
cycles() { pythia replay -q --closed-loop --points 1 --format json "$@" requests.jsonl | jq -c '[.loop[] | [.requests, .under_way, (.seconds | round)]][:3]'; }
echo "40 seconds: $(cycles --cycle-seconds 40)"
echo "40 seconds or 35 requests: $(cycles --cycle-seconds 40 --cycle-requests 35)"
echo "40 seconds or 90 requests: $(cycles --cycle-seconds 40 --cycle-requests 90)"
echo "more than there is: $(cycles --cycle-seconds 100000)"
# A time with too few requests: they are evidence of the next cycle too, until there are enough.
pythia replay --verbose -q --closed-loop --cycle-seconds 20 requests.jsonl | sed -n '/^The search/,/^$/p'; echo "exit ${PIPESTATUS[0]}"
# In all of the capture there are not.
pythia generate --nodes 50 --requests 25 --interval 1000 --seed 2 --output few.jsonl
pythia replay --verbose -q --closed-loop --cycle-seconds 10 few.jsonl | sed -n '/^The search/,/^$/p'; echo "exit ${PIPESTATUS[0]}"
for wrong in 0 -1 nan soon; do
    pythia replay --verbose -q --closed-loop --cycle-seconds $wrong requests.jsonl; echo "exit $?"
done
pythia replay --verbose -q --closed-loop --cycle-requests 3 requests.jsonl; echo "exit $?"
pythia replay --verbose -q --cycle-seconds 5 requests.jsonl; echo "exit $?"
