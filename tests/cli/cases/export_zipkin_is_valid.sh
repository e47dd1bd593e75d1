# A thousand requests over three hosts, the clock of one of which is 5 ms ahead: as Zipkin's API (v2) wants them, with one root each,
# each parent there, and each call within the call that has made it. Read again they are the same trees.
pythia generate --like mobject -r 1000 > true.jsonl
python3 - <<'P'
import json
with open("skewed.jsonl", "w") as to:
    for line in open("true.jsonl"):
        document = json.loads(line)
        for resource in document["resourceSpans"]:
            attributes = resource["resource"]["attributes"]
            service = next(a["value"]["stringValue"] for a in attributes if a["key"] == "service.name")
            attributes.append({"key": "host.name", "value": {"stringValue": "host of " + service}})
            ahead = 5_000_000 if service == "sdskv" else 0
            for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
                for time in "startTimeUnixNano", "endTimeUnixNano":
                    span[time] = str(int(span[time]) + ahead)
        print(json.dumps(document), file=to)
P
for name in true skewed; do
    pythia export -q --to zipkin $name.jsonl > $name.json
    python3 - $name.json <<'P'
import collections, json, re, sys
spans, traces = json.load(open(sys.argv[1])), collections.defaultdict(dict)
def whole(value): return isinstance(value, int) and not isinstance(value, bool)
for span in spans:
    assert re.fullmatch("[0-9a-f]{16}|[0-9a-f]{32}", span["traceId"]) and re.fullmatch("[0-9a-f]{16}", span["id"]), span
    assert "parentId" not in span or re.fullmatch("[0-9a-f]{16}", span["parentId"]), span
    assert whole(span["timestamp"]) and span["timestamp"] > 0 and whole(span["duration"]) and span["duration"] > 0, span
    assert span.get("kind") in (None, "CLIENT", "SERVER", "PRODUCER", "CONSUMER") and isinstance(span["localEndpoint"]["serviceName"], str), span
    assert all(isinstance(k, str) and isinstance(v, str) for k, v in span.get("tags", {}).items()), span
    assert all(whole(a["timestamp"]) and isinstance(a["value"], str) for a in span.get("annotations", [])), span
    assert span["id"] not in traces[span["traceId"]], span
    traces[span["traceId"]][span["id"]] = span
within = 0
for trace in traces.values():
    assert sum("parentId" not in span for span in trace.values()) == 1
    for span in trace.values():
        if "parentId" in span:
            parent = trace[span["parentId"]]
            within += parent["timestamp"] <= span["timestamp"] and span["timestamp"] + span["duration"] <= parent["timestamp"] + parent["duration"]
print(len(traces), "requests,", len(spans), "spans,", len(spans) - 1000 - within, "calls that leave their caller,",
      sum(bool(span.get("tags")) for span in spans), "spans with tags")
P
done
for name in true skewed; do
    pythia tree -q -n 1000 -f json $name.jsonl > before
    pythia tree -q -n 1000 -f json $name.json > after
    cmp before after && jq length after
done
