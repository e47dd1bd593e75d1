# A host that is slow in all it does: no place has much more of the variance than the others, and the host is the answer.
# Its requests take three times as long in each of eight steps.
python3 - <<'PYTHON' > slow.json
import json, random
random.seed(1)
spans = {}
def span(host, trace, name, start, end, parent=None, **more):
    own = "%016x" % random.getrandbits(64)
    of = {"traceId": trace, "spanId": own, "name": name, "startTimeUnixNano": str(start), "endTimeUnixNano": str(end), **more}
    spans.setdefault(host, []).append({**of, "parentSpanId": parent} if parent else of)
    return own
for n in range(400):
    trace, host, at = "%032x" % random.getrandbits(128), random.choice(["b1", "b2", "b3", "b4"]), 1700000000000000000 + n * 50000000
    took = [int((3 if host == "b2" else 1) * random.lognormvariate(0, .35) * 3e6) for _ in range(8)]
    end = at + 1200000 + sum(took) + 8 * 100000
    root = span("f1", trace, "GET /list", at, end + 600000, kind=2)
    work = span(host, trace, "list", at + 1000000, end + 100000, root, kind=2)
    at += 1200000
    for step, ns in enumerate(took):
        span(host, trace, f"step{step}", at, at + ns, work, kind=1)
        at += ns + 100000
def text(key, value):
    return {"key": key, "value": {"stringValue": value}}
print(json.dumps({"resourceSpans": [
    {"resource": {"attributes": [text("service.name", "front" if host == "f1" else "back"), text("host.name", host)]},
     "scopeSpans": [{"spans": of}]} for host, of in spans.items()]}))
PYTHON
for how in "" --closed-loop; do
    pythia replay -q $how slow.json | grep -E '^  (CAUSE|WHEN)'
    pythia replay -q $how --format json slow.json > report.json
    jq -r '.verdicts[0] | .spread, .sentence' report.json
done
