# Each process has a file of its own, with the time that its callpaths take themselves: of front's 10 ms, store 1 takes 4 and store 2
# then 3; store 1 waits 1 ms of its 4 for disk. A second host has a process of the same number, and one has none.
cat > spans.py <<'P'
import json
def spans(service, attributes, *all_spans):
    attributes = [{"key": k, "value": {"stringValue": v}} for k, v in (("service.name", service), *attributes)]
    return {"resource": {"attributes": attributes}, "scopeSpans": [{"spans": [
        {"traceId": f"{1:032x}", "spanId": f"{i:016x}", **({"parentSpanId": f"{up:016x}"} if up else {}), "name": name, "kind": kind,
         "startTimeUnixNano": str(10**18 + a * 10**6), "endTimeUnixNano": str(10**18 + b * 10**6)} for i, up, name, kind, a, b in all_spans]}]}
print(json.dumps({"resourceSpans": [
    spans("front", [("service.instance.id", "7")], (1, 0, "buy;now", 2, 0, 10)),
    spans("store", [("host.name", "a"), ("service.instance.id", "1")], (2, 1, "get", 2, 1, 5), (3, 2, "disk", 1, 2, 3)),
    spans("store", [("host.name", "b"), ("service.instance.id", "1")], (4, 1, "get", 2, 5, 8)),
    spans("../etc", [], (5, 1, "log", 2, 9, 10))]}))
P
python3 spans.py > spans.json
pythia profile -q --folded stacks spans.json > table
for file in stacks/*; do echo "$file"; cat "$file"; done
# What flame graph tools add up is the whole of each process: 10 - 4 - 3 - 1, 4, 3 and 1 ms.
cat stacks/* | awk '{sum += $NF} END {print sum}'
pythia profile -q --folded stacks --by name spans.json; echo "exit $?"
pythia profile -q --folded stacks --summaries spans.json; echo "exit $?"
pythia profile -q --folded missing/stacks spans.json > table; echo "exit $?"
