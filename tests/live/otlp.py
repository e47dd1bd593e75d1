# SPDX-License-Identifier: MIT
"""Spans as an OpenTelemetry SDK sends them, read by hand from the protobuf: nothing here is shared with what is tested."""
import collections
import gzip

Span = collections.namedtuple('Span', 'service scope name trace id parent kind start_ns end_ns attributes')


def fields(data):
    """(number, value) of each field of a message; value is an integer or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        wire = key & 7
        if wire == 0:
            yield key >> 3, varint()
            continue
        size = varint() if wire == 2 else {1: 8, 5: 4}[wire]
        value = data[at:at + size]
        if len(value) != size:
            raise ValueError('a field beyond the end')
        at += size
        yield key >> 3, value if wire == 2 else int.from_bytes(value, 'little')


def attributes(messages):
    """Those whose values are texts or integers."""
    out = {}
    for message in messages:
        pair = dict(fields(message))
        value = dict(fields(pair.get(2, b'')))
        out[pair[1].decode()] = value[1].decode() if 1 in value else value.get(3)
    return out


def spans(body):
    """All spans of an ExportTraceServiceRequest."""
    for _, resource_spans in fields(body):
        parts = list(fields(resource_spans))
        resource = {}
        for number, value in parts:
            if number == 1:
                resource = attributes(value for field, value in fields(value) if field == 1)
        for number, scope_spans in parts:
            if number != 2:
                continue
            inner = list(fields(scope_spans))
            scope = next((dict(fields(value)).get(1, b'').decode() for number, value in inner if number == 1), '')
            for number, message in inner:
                if number == 2:
                    yield span(resource.get('service.name', ''), scope, message)


def span(service, scope, message):
    one = collections.defaultdict(bytes, {n: v for n, v in fields(message) if n != 9})
    return Span(service, scope, one[5].decode(), one[1].hex(), one[2].hex(), one[4].hex(), one[6] or 0, one[7] or 0, one[8] or 0,
                attributes(value for number, value in fields(message) if number == 9))


def unpacked(body, encoding):
    return gzip.decompress(body) if encoding == 'gzip' else body


def read_body(headers, stream):
    """The body of a request, whose length is told before it, or before each of its parts."""
    if 'Content-Length' in headers:
        return stream.read(int(headers['Content-Length']))
    body = b''
    while size := int(stream.readline().partition(b';')[0], 16):
        body += stream.read(size)
        stream.readline()
    while stream.readline().strip():
        pass
    return body


def orphans(all_spans):
    """Spans whose parent did not come."""
    known = {(one.trace, one.id) for one in all_spans}
    return [one for one in all_spans if one.parent and (one.trace, one.parent) not in known]
