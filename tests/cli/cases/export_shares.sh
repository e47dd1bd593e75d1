# A place that accounts for the variance is red, and the counter is at its share while the critical path is in it. What varies
# is known: work, which takes 1 ms in two of three requests and 50 ms in the third; rest always takes 2 ms.
python3 - > shop.json <<'END'
import json
spans = []
for request in range(120):
    trace, at, work = f"{request + 1:032x}", request * 10**9 + 10**18, 50 if request % 3 == 0 else 1
    def span(number, parent, name, begin_ms, end_ms):
        spans.append({"traceId": trace, "spanId": f"{number:016x}", "parentSpanId": parent, "name": name, "kind": 2,
                      "startTimeUnixNano": str(at + begin_ms * 10**6), "endTimeUnixNano": str(at + end_ms * 10**6)})
    span(1, "", "order", 0, work + 4)
    span(2, f"{1:016x}", "work", 1, work + 1)
    span(3, f"{1:016x}", "rest", work + 1, work + 3)
print(json.dumps({"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
                                     "scopeSpans": [{"spans": spans}]}]}))
END
pythia export -q --shares shop.json > shares.json
python3 - <<'END'
import json
with open("shares.json", encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
for process in (0, 1):
    mine = [event for event in events if event["pid"] == process]
    for event in mine:
        if event["ph"] == "X":
            print(event["name"], event["cname"], round(event["args"]["share of the latency variance"], 2))
    print([(round(event["ts"] / 1000), round(event["args"]["share"], 2)) for event in mine if event["ph"] == "C"])
print({event["name"] for event in events if event["ph"] == "C"}, len({event["pid"] for event in events}))
END
# Without it nothing is known of shares, and other formats cannot show them.
pythia export -q shop.json | grep -cE 'cname|"C"|share'
pythia export -q --shares --to folded shop.json
echo "exit $?"
pythia export -q --shares - < shop.json > /dev/null
echo "exit $?"
