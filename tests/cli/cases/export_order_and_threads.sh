# Traces are exported in the order in which they began, in all formats, whatever the order of files and the number of threads.
pythia generate -r 3000 -n 20 --seed 3 > all.jsonl
split -l 24 all.jsonl part.
for to in chrome csv dot folded jaeger otlp zipkin; do
    for n in 1 2 4; do pythia export -q --to $to --threads $n $(ls -r part.*) | cksum; done | uniq | wc -l
done
pythia export -q --to csv --threads 4 part.* > all.csv
pythia export -q --to csv --threads 4 --traces 7 part.* > some.csv
python3 - <<'P'
import csv, json
begins = {}
for line in open("all.jsonl"):
    for r in json.loads(line)["resourceSpans"]:
        for s in (s for scope in r["scopeSpans"] for s in scope["spans"]):
            begins[s["traceId"]] = min(begins.get(s["traceId"], 1 << 64), int(s["startTimeUnixNano"]))
wanted = [t for _, t in sorted((at, t) for t, at in begins.items())]
for name, count in ("all.csv", 3000), ("some.csv", 7):
    print(name, list(dict.fromkeys(row["trace_id"] for row in csv.DictReader(open(name, newline="")))) == wanted[:count])
P
