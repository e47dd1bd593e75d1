"""Records of libpythia-tracepoints, written by hand from pythia-records(5), and spans as OSProfiler and Jaeger report them."""
import datetime
import json
import struct
import uuid

PROCESS, POINT, ENTER, EXIT, VALUE = 1, 2, 16, 17, 19
LAST = 2


def fnv(content):
    value = 0xCBF29CE484222325
    for byte in content:
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return value


def record(kind, number, content):
    content += b"\0" * (-len(content) % 8)
    return struct.pack("<HBBI", 8 + len(content), kind, 0, number) + content


class Process:
    """A process with one trace point, "work", that sends frames over a connection."""

    def __init__(self, link, service="shop"):
        self.link, self.position, self.id = link, {}, uuid.uuid4().int
        service = service.encode()
        self.frame(0, record(PROCESS, 0, struct.pack("<IHH", 1, len(service), 0) + service) +
                   record(POINT, 1, struct.pack("<HHHH", 4, 0, 0, 0) + b"work"))

    def frame(self, stream, payload):
        at = self.position.get(stream, 0)
        head = struct.pack("<8sHHIQQIIQQQqdQQQQQ", b"\x89PYREC\r\n", 1, 128, len(payload), self.id >> 64,
                           self.id & (1 << 64) - 1, stream, LAST, at, 0, 0, 0, 1., 0, 0, 0, 0, 0)
        self.position[stream] = at + len(payload)
        self.link.sendall(head + struct.pack("<Q", fnv(head)) + payload)

    def send(self, spans):
        """Spans as otlp.Span has them, each with its key-values (texts)."""
        payload = b""
        for span in spans:
            which = span.trace + span.id
            high, low, number = struct.unpack(">QQQ", which)
            parent = struct.unpack(">Q", span.parent)[0] if span.parent else 0
            payload += record(ENTER, 1, struct.pack("<QQQQQIBBBB", span.start, high, low, number, parent, 0, 0, 0, 0, 0))
            for key, value in span.attributes.items():
                key, value = key.encode(), value.encode()
                payload += record(VALUE, 0, struct.pack("<QQQBBHI", high, low, number, 0, len(key), len(value), 0) + key + value)
            payload += record(EXIT, 0, struct.pack("<QQQQ", span.end, high, low, number))
        self.frame(1, payload)


def when(time_ns):
    at = datetime.datetime.fromtimestamp(time_ns // 10**9, datetime.timezone.utc)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{time_ns % 10**9:09}"


def events(span, stop=None):
    """The two events of OSProfiler for a span; its key-values are in the first one, `stop` in the second."""
    ids = {"base_id": str(uuid.UUID(bytes=span.trace)), "trace_id": str(uuid.UUID(bytes=span.id * 2)),
           "parent_id": str(uuid.UUID(bytes=span.parent * 2 or span.trace)), "project": "shop", "service": "api"}
    return [json.dumps(ids | {"name": span.name + end, "timestamp": when(time_ns), "info": {"host": "a", **values}}).encode()
            for end, time_ns, values in (("-start", span.start, span.attributes), ("-stop", span.end, stop or {}))]


def jaeger(spans, tags=None, **more):
    """A trace in Jaeger's JSON; `tags` are of its process."""
    def key_values(values):
        return [{"key": key, "type": "string", "value": value} for key, value in values.items()]

    def of(span):
        link = {"refType": "CHILD_OF", "traceID": "1", "spanID": "1"}
        logs = [event if isinstance(event, tuple) else (event, {}) for event in span.events]
        parent = [{"refType": "CHILD_OF", "traceID": span.trace.hex(), "spanID": span.parent.hex()}] if span.parent else []
        return {"traceID": span.trace.hex(), "spanID": span.id.hex(), "operationName": span.name, "processID": "p1",
                "startTime": span.start // 1000, "duration": (span.end - span.start) // 1000, "references":
                parent + [link] * span.links, "tags": key_values(span.attributes),
                "logs": [{"timestamp": span.start // 1000, "fields": key_values({"event": name} | values)}
                         for name, values in logs], **more}
    return json.dumps({"traceID": spans[0].trace.hex(), "spans": [of(span) for span in spans],
                       "processes": {"p1": {"serviceName": "shop", "tags": key_values(tags or {})}}}).encode()
