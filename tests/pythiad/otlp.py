"""Bodies as senders of traces make them, written by hand from the protocols: OTLP in protobuf and JSON, Zipkin v2, zstd."""
import gzip
import json
import os
import struct
import time


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def fixed64(field, value):
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def read(content):
    """[(field, value)] of a message: numbers, and bytes."""
    fields, at = [], 0

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = content[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(content):
        tag = take()
        if tag & 7 == 0:
            fields.append((tag >> 3, take()))
        elif tag & 7 == 2:
            size = take()
            assert at + size <= len(content), "a field goes beyond its message"
            fields.append((tag >> 3, content[at:at + size]))
            at += size
        else:
            raise AssertionError(f"wire type {tag & 7} is not expected here")
    return fields


def key_value(key, value):
    if isinstance(value, bool):
        member = number(2, int(value))
    elif isinstance(value, int):
        member = number(3, value)
    elif isinstance(value, float):
        member = varint(4 << 3 | 1) + struct.pack("<d", value)
    else:
        member = message(1, value)
    return message(1, key) + message(2, member)


class Span:
    """What both encodings are made of. Times are nanoseconds."""

    def __init__(self, name="work", trace=None, span=None, parent=b"", start=None, length=1000000, kind=1, attributes=None,
                 events=(), links=0):
        self.name, self.trace, self.id, self.parent = name, trace or os.urandom(16), span or os.urandom(8), parent
        self.start = time.time_ns() - length if start is None else start
        self.end = self.start + length
        self.kind, self.attributes, self.events, self.links = kind, attributes or {}, events, links

    def protobuf(self):
        out = message(1, self.trace) + message(2, self.id)
        if self.parent:
            out += message(4, self.parent)
        out += message(5, self.name) + number(6, self.kind) + fixed64(7, self.start) + fixed64(8, self.end)
        for key, value in self.attributes.items():
            out += message(9, key_value(key, value))
        for event in self.events:
            name, values = event if isinstance(event, tuple) else (event, {})
            out += message(11, fixed64(1, self.start) + message(2, name) +
                           b"".join(message(3, key_value(key, value)) for key, value in values.items()))
        for _ in range(self.links):
            out += message(13, message(1, self.trace) + message(2, self.id))
        return out

    def json(self):
        out = {"traceId": self.trace.hex(), "spanId": self.id.hex(), "name": self.name, "kind": self.kind,
               "startTimeUnixNano": str(self.start), "endTimeUnixNano": str(self.end)}
        if self.parent:
            out["parentSpanId"] = self.parent.hex()
        def key_values(values):
            return [{"key": key, "value": {"stringValue": str(value)}} for key, value in values.items()]
        if self.attributes:
            out["attributes"] = key_values(self.attributes)
        if self.events:
            events = [event if isinstance(event, tuple) else (event, {}) for event in self.events]
            out["events"] = [{"timeUnixNano": str(self.start), "name": name, "attributes": key_values(values)}
                             for name, values in events]
        if self.links:
            out["links"] = [{"traceId": self.trace.hex(), "spanId": self.id.hex()}] * self.links
        return out

    def zipkin(self, service="shop"):
        out = {"traceId": self.trace.hex(), "id": self.id.hex(), "name": self.name, "timestamp": self.start // 1000,
               "duration": (self.end - self.start) // 1000, "localEndpoint": {"serviceName": service}}
        if self.parent:
            out["parentId"] = self.parent.hex()
        return out


def protobuf(spans, service="shop", scope="", resource=None):
    """An ExportTraceServiceRequest. A span may be bytes, which are put in as they are."""
    inner = message(1, message(1, scope)) if scope else b""
    inner += b"".join(message(2, span if isinstance(span, bytes) else span.protobuf()) for span in spans)
    about = b"".join(message(1, key_value(key, value)) for key, value in {"service.name": service, **(resource or {})}.items())
    return message(1, message(1, about) + message(2, inner))


def as_json(spans, service="shop"):
    return json.dumps({"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
        "scopeSpans": [{"spans": [span if isinstance(span, dict) else span.json() for span in spans]}]}]}).encode()


def zipkin(spans):
    return json.dumps([span if isinstance(span, dict) else span.zipkin() for span in spans]).encode()


def request(children=("step",), length=5000000, service_root="root", slow=None, start=None, attributes=None):
    """A request: a server's root and its children one behind the other; the child `slow[0]` takes slow[1] ns longer."""
    trace, root = os.urandom(16), os.urandom(8)
    at = begin = time.time_ns() - length if start is None else start
    spans = []
    for child in children:
        took = length // (len(children) + 1) + (slow[1] if slow and slow[0] == child else 0)
        spans.append(Span(child, trace, parent=root, start=at, length=took))
        at += took
    spans.append(Span(service_root, trace, root, start=begin, length=at - begin + length // (len(children) + 1), kind=2,
                      attributes=attributes))
    return spans


def partial_success(body):
    """(rejected spans, message) of an ExportTraceServiceResponse."""
    fields = dict(read(body))
    if 1 not in fields:
        return 0, ""
    inside = dict(read(fields[1]))
    return inside.get(1, 0), inside.get(2, b"").decode()


def status(body):
    """(code, message) of a google.rpc.Status."""
    fields = dict(read(body))
    return fields.get(1, 0), fields.get(2, b"").decode()


def retry_seconds(body):
    """What the RetryInfo in a google.rpc.Status says; None if there is none."""
    for field, value in read(body):
        if field == 3:
            inside = dict(read(value))
            assert inside[1] == b"type.googleapis.com/google.rpc.RetryInfo", inside[1]
            delay = dict(read(dict(read(inside[2]))[1]))
            return delay.get(1, 0) + delay.get(2, 0) / 1e9
    return None


ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def zstd(content):
    """A frame of raw blocks (RFC 8878): nothing is compressed, but it is Zstandard."""
    out = ZSTD_MAGIC + b"\x00\x58"  # a window of 2 MiB, no size stated
    pieces = [content[at:at + 131072] for at in range(0, len(content), 131072)] or [b""]
    for i, piece in enumerate(pieces):
        last = i == len(pieces) - 1
        out += struct.pack("<I", int(last) | 0 << 1 | len(piece) << 3)[:3] + piece
    return out


def zstd_of(content):
    """A frame of which a run of zeros at the end takes no place."""
    kept = content.rstrip(b"\0")
    return zstd(kept) + (zstd_bomb(len(content) - len(kept), b"\0") if len(kept) < len(content) else b"")


def zstd_bomb(size, byte=b"a", stated=None):
    """A frame that becomes `size` times the byte, of blocks that say so; `stated`: what its header says that it has."""
    header = b"\x00\x58" if stated is None else b"\xc0\x58" + struct.pack("<Q", stated)
    blocks = []
    while size > 0:
        count = min(size, 131072)
        size -= count
        blocks.append(struct.pack("<I", int(size == 0) | 1 << 1 | count << 3)[:3] + byte)
    return ZSTD_MAGIC + header + b"".join(blocks)


def gzipped(content):
    return gzip.compress(content, 1)
