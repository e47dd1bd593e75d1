# Which thread gathers a request follows from a hash of its id, and each keeps little more than its share of the rows. Here one of
# two threads has all requests, by ids that were chosen for it, and so not rows enough: the report is the same all the same.
python3 - > events.jsonl <<'PYTHON'
import random

ONES = (1 << 64) - 1


def mix(start, number):
    """As pythia_hash_mix."""
    z = (start * 0x9E3779B97F4A7C15 + number + 0x632BE59BD9B4E019) & ONES
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & ONES
    z = (z ^ z >> 27) * 0x94D049BB133111EB & ONES
    return z ^ z >> 31


draw = random.Random(1)
span = ('{"traceId":"%032x","spanId":"%016x","parentSpanId":"%s","name":"%s","startTimeUnixNano":"%d","endTimeUnixNano":"%d",'
        '"attributes":[{"key":"queue","value":{"intValue":"%d"}}]}')
number = 0
for request in range(4000):
    number += 1
    while mix(0, number) % 2:
        number += 1
    start, queue = 1_700_000_000 * 10**9 + request * 10**6, draw.randrange(20)
    took = 10_000 + queue * 1000 + draw.randrange(500)
    spans = [span % (number, 1, "", "order", start, start + took + 200, queue),
             span % (number, 2, "%016x" % 1, "pay", start + 100, start + 100 + took, queue)]
    print('{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},'
          '"scopeSpans":[{"spans":[%s]}]}]}' % ",".join(spans))
PYTHON
sed 's/"name":"pay"/"name":"charge"/' events.jsonl > later.jsonl
for threads in 1 2 3 8; do
    pythia replay --quiet --threads $threads --format json events.jsonl > report.$threads
    cmp report.1 report.$threads && echo same
done
jq -c '[.input.traces, .groups[0].count, .groups[0].explanations[0].key]' report.1
printf '%s\n' '- type: "*order"' '  where: queue >= 10' '  p99: < 20us' > expected.yaml
for threads in 1 2 3 8; do
    pythia check --quiet --threads $threads --format json expected.yaml events.jsonl > checked.$threads; echo "exit $?"
    cmp checked.1 checked.$threads && echo same
    pythia compare --quiet --threads $threads --rows 2048 --format json events.jsonl later.jsonl > compared.$threads; echo "exit $?"
    cmp compared.1 compared.$threads && echo same
done
jq -c '.expectations[0] | [.state, .requests]' checked.1
jq -c '[.compared_types, .request_types[0].requests, .request_types[0].status]' compared.1
