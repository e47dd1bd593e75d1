# Rows of spans, as a database and for COPY: as many as there are spans, with their times, and text with quotes as it was.
cat > odd.jsonl <<'J'
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"o'clock, \"now\""}}]},"scopeSpans":[{"spans":[{"traceId":"0000000000000000000000000000000a","spanId":"00000000000000aa","name":"line\nbreak","kind":3,"startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"1700000000000000010","status":{"code":2},"attributes":[{"key":"sql","value":{"stringValue":"'); DROP TABLE span; --"}},{"key":"n","value":{"intValue":"7"}}]}]}]}]}
J
pythia export -q --to sql -o t.db "$DATA/retry.jsonl"
pythia export -q --to csv -o t.csv "$DATA/retry.jsonl"
pythia export -q --to sql -o odd.db odd.jsonl
pythia export -q --to csv -o odd.csv odd.jsonl
python3 - "$DATA/retry.jsonl" <<'P'
import csv, json, sqlite3, sys
want = {}
for line in open(sys.argv[1]):
    for r in json.loads(line)["resourceSpans"]:
        for s in (s for scope in r["scopeSpans"] for s in scope["spans"]):
            want[s["traceId"], s["spanId"]] = (s.get("parentSpanId"), s["name"], int(s["startTimeUnixNano"]),
                                               int(s["endTimeUnixNano"]) - int(s["startTimeUnixNano"]))
db = sqlite3.connect("t.db")
rows = db.execute("SELECT trace_id, span_id, parent_id, name, start_ns, duration_ns FROM span").fetchall()
print("database:", len(rows), {r[:2]: r[2:] for r in rows} == want)
print("traces:", db.execute("SELECT count(*), sum(spans) FROM trace").fetchone(), len({t for t, _ in want}))
roots = {t: d for (t, _), (parent, _, _, d) in want.items() if not parent}
print("durations:", dict(db.execute("SELECT trace_id, duration_ns FROM trace")) == roots)
cells = list(csv.DictReader(open("t.csv", newline="")))
print("CSV:", len(cells), {(c["trace_id"], c["span_id"]): (c["parent_id"] or None, c["name"], int(c["start_ns"]), int(c["duration_ns"]))
                           for c in cells} == want)
odd = [tuple(str(x) if x is not None else "" for x in sqlite3.connect("odd.db").execute("SELECT * FROM span").fetchone()),
       tuple(list(csv.reader(open("odd.csv", newline="")))[1])]
print("alike:", odd[0] == odd[1], odd[0][4:10], json.loads(odd[0][10]))
P
pythia export -q --to sql odd.jsonl; echo "exit $?"
pythia export -q --to sql -o - odd.jsonl; echo "exit $?"
pythia export -q --to sql -o missing/t.db odd.jsonl; echo "exit $?"
pythia export -q --to sqlite odd.jsonl; echo "exit $?"
pythia export -q --to flamegraph -o f.svg "$DATA/retry.jsonl" && xmllint --noout f.svg && grep -c 'class="f"' f.svg
ls
