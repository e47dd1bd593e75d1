# A large file is decoded in pieces, which threads share, also if it is compressed: the report is that of the same traces from
# a pipe, which nobody divides, for any number of threads; what is broken is told with its line and byte in the file.
cat > write.py <<'END'
import json
import random
import sys

form, size = sys.argv[1:]
draw = random.Random(form)
look_alike = 'a}},{"traceID":"1","spans":[{"b\n{'


def requests():
    for i in range(int(size)):
        start = 1_700_000_000_000_000 + i * 5000
        first, second = draw.randint(100, 900), draw.randint(100, 2000)
        yield i + 1, [(1, 0, "shop", start, first + second + 20), (2, 1, "stock", start + 5, first),
                      (3, 1, "pay", start + 10 + first, second)]


def otlp(trace, spans):
    return {"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
            "scopeSpans": [{"spans": [{"traceId": "%032x" % trace, "spanId": "%016x" % i,
                                       "parentSpanId": "%016x" % p if p else "", "name": name,
                                       "startTimeUnixNano": str(at * 1000), "endTimeUnixNano": str((at + us) * 1000),
                                       "attributes": [{"key": "note", "value": {"stringValue": look_alike}}]}
                                      for i, p, name, at, us in spans]}]}]}


def jaeger(trace, spans):
    return {"traceID": "%032x" % trace,
            "spans": [{"traceID": "%032x" % trace, "spanID": "%016x" % i, "operationName": name,
                       "references": [{"refType": "CHILD_OF", "traceID": "%032x" % trace, "spanID": "%016x" % p}] if p
                       else [], "startTime": at, "duration": us, "processID": "p1",
                       "tags": [{"key": "note", "type": "string", "value": look_alike}]}
                      for i, p, name, at, us in spans],
            "processes": {"p1": {"serviceName": "shop", "tags": []}}}


def zipkin(trace, spans):
    return [{"traceId": "%032x" % trace, "id": "%016x" % i, **({"parentId": "%016x" % p} if p else {}), "name": name,
             "timestamp": at, "duration": us, "localEndpoint": {"serviceName": "shop"}, "tags": {"note": look_alike}}
            for i, p, name, at, us in spans]


def osprofiler(trace, spans):
    unit = "00000000-0000-0000-%04x-%012x"
    for i, p, name, at, us in spans:
        for what, when in ("start", at), ("stop", at + us):
            yield {"name": f"{name}-{what}", "base_id": unit % (1, trace), "trace_id": unit % (2, trace * 4 + i),
                   "parent_id": unit % ((2, trace * 4 + p) if p else (1, trace)), "project": "shop", "service": "shop",
                   "timestamp": "2023-11-14T22:%02d:%02d.%06d" % (when // 60_000_000 % 60, when // 1_000_000 % 60,
                                                                  when % 1_000_000), "info": {"note": look_alike}}


def varint(n):
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3 | 1) + value.to_bytes(8, "little")
    return varint(number << 3 | 2) + varint(len(value)) + value


def protobuf(trace, spans):
    text = field(1, b"service.name") + field(2, field(1, b"shop"))
    message = field(1, field(1, field(1, text)) + field(2, b"".join(
        field(2, field(1, trace.to_bytes(16, "big")) + field(2, i.to_bytes(8, "big")) +
              (field(4, p.to_bytes(8, "big")) if p else b"") + field(5, name.encode()) + field(7, at * 1000) +
              field(8, (at + us) * 1000) + field(9, field(1, b"note") + field(2, field(1, look_alike.encode()))))
        for i, p, name, at, us in spans)))
    return (b"" if form == "otlp-proto-message" else len(message).to_bytes(4, "big")) + message


out = sys.stdout.buffer
text = lambda value, **how: out.write(json.dumps(value, separators=(",", ":"), **how).encode())
spaces = {"jaeger-spaced": None, "jaeger-pretty": 4}
arrays = {"zipkin-array": lambda: [span for trace, spans in requests() for span in zipkin(trace, spans)],
          "zipkin-traces": lambda: [zipkin(trace, spans) for trace, spans in requests()],
          "otlp-document": lambda: {"resourceSpans": [one for trace, spans in requests()
                                                      for one in otlp(trace, spans)["resourceSpans"]]}}
if form in arrays:
    text(arrays[form](), indent=1 if form == "otlp-document" else None)
    sys.exit()
if form in spaces:
    data = [jaeger(trace, spans) for trace, spans in requests()]
    out.write(json.dumps({"data": data, "total": 0}, indent=spaces[form]).encode())
    sys.exit()
if form == "jaeger":
    out.write(b'{"data":[')
for trace, spans in requests():
    if form in ("otlp-proto", "otlp-proto-message"):
        out.write(protobuf(trace, spans))
    elif form == "osprofiler":
        for event in osprofiler(trace, spans):
            text(event)
            out.write(b"\n")
    elif form == "jaeger":
        out.write(b"," if trace > 1 else b"")
        text(jaeger(trace, spans))
    elif form == "otlp-pretty":
        text(otlp(trace, spans), indent=1)
        out.write(b"\r\n")
    else:
        text({"otlp": otlp, "jaeger-lines": jaeger, "zipkin": zipkin}[form](trace, spans))
        out.write(b"\n")
if form == "jaeger":
    out.write(b'],"total":0,"limit":0,"offset":0,"errors":null}\n')
END
report() { pythia replay -q --format json "$@" | jq 'del(.input.sources)'; }
for form in otlp otlp-pretty otlp-document otlp-proto otlp-proto-message jaeger jaeger-spaced jaeger-pretty jaeger-lines \
    zipkin zipkin-array zipkin-traces osprofiler; do
    case $form in otlp-proto*) size=18001 ;; *) size=8001 ;; esac
    python3 write.py $form $size > file
    report --threads 1 - < file > whole
    gzip -1 < file > file.gz
    zstd -q -f file
    [ "$(stat -c %s file)" -gt 4194304 ] || echo "$form: too small to be divided"
    echo $form: $(jq .input.traces whole)
    for threads in 1 2 3 8; do
        for name in file file.gz file.zst; do report --threads $threads $name | cmp -s whole - || echo $threads $name; done
    done
done

# Seven broken lines in two pieces, and one in the last
python3 write.py otlp 7001 | sed -e '3001,3004s/^/[}/' -e '6000,6002s/"spanId":"[0-9a-f]*"/"spanId":"no"/' \
                                 -e '7001s/.$//' > broken.jsonl
pythia replay --threads 1 --format json broken.jsonl 2> told | jq -c .input | tee one
sed -n 's/.*\(broken.jsonl:[0-9]*\): .*(\(byte [0-9]*\)).*/\1 \2/p' told
grep -o '[0-9]* more broken records' told
# and the same of them, in order, by any number of threads
for threads in 2 3 5; do
    pythia replay --threads $threads --format json broken.jsonl 2> told.$threads | jq -c .input | cmp - one &&
        cmp told told.$threads && echo same
done
# and of the same, compressed
gzip -1 < broken.jsonl > broken.jsonl.gz
for threads in 1 2 3 8; do
    pythia replay --threads $threads --format json broken.jsonl.gz 2> told.$threads | jq -c .input |
        sed 's/broken.jsonl.gz/broken.jsonl/g' | cmp - one
    sed 's/broken.jsonl.gz/broken.jsonl/g' told.$threads | cmp - told && echo same
done
# A file that is cut off is read as far as it goes
head -c 300000 broken.jsonl.gz > cut.gz
for threads in 1 2 3 8; do
    pythia replay --threads $threads --format json cut.gz 2> cut.$threads | jq -c .input > cut.json.$threads
    cmp cut.json.1 cut.json.$threads && cmp cut.1 cut.$threads && echo same
done
grep -o 'the compressed data end prematurely' cut.1
