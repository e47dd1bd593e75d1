#!/usr/bin/env python3
"""Write the inputs of this corpus, which are binary: write.py writes them, write.py --check sees that they are as written
here. write.py --convert FILE [--framed] turns OTLP/JSON into protobuf, on standard output; --framed puts its size in
front of each document, as the collector's file exporter does.

The cases of ../otlp/valid are converted; the others are in the notation of tests/adapters/protobuf_text.h: a field is its
number and its value, one of {fields} 'text' #hex =varint !fixed64 ~fixed32; <hex> are bytes as they are. a-javascript-sdk
was serialized by OpenTelemetry JS 2.12, here and in JSON there, and is not written by this.
"""
import base64
import datetime
import json
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
JSON_VALID = os.path.join(HERE, '..', 'otlp', 'valid')

# ---- the wire format ----


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, kind, value):
    return varint(number << 3 | kind) + value


def number_field(number, value):
    return field(number, 0, varint(value))


def fixed64(number, value):
    return field(number, 1, struct.pack('<Q', value))


def bytes_field(number, value):
    return field(number, 2, varint(len(value)) + value)


def text_field(number, value):
    return bytes_field(number, value.encode('utf-8'))


def framed(message):
    return struct.pack('>I', len(message)) + message


# ---- the notation of the tests ----

TOKEN = re.compile(rb"\s*(?:(?P<end>\})|<(?P<raw>[0-9a-f]*)>|(?P<number>\d+)(?:(?P<open>\{)|'(?P<text>[^']*)'"
                   rb"|#(?P<hex>[0-9a-f]*)|=(?P<varint>-?\d+)|!(?P<fixed64>\d+)|~(?P<fixed32>\d+)))\s*")


def assemble(text, at=0, inner=False):
    """The bytes of fields, and where the text goes on behind them."""
    out = b''
    while at < len(text):
        token = TOKEN.match(text, at)
        if not token:
            sys.exit(f'write.py: cannot read {text[at:at + 40]!r}')
        at = token.end()
        number = int(token['number'] or 0)
        if token['end']:
            if inner:
                return out, at
            sys.exit('write.py: a brace too many')
        elif token['raw'] is not None:
            out += bytes.fromhex(token['raw'].decode())
        elif token['open']:
            message, at = assemble(text, at, True)
            out += bytes_field(number, message)
        elif token['text'] is not None:
            out += bytes_field(number, token['text'])
        elif token['hex'] is not None:
            out += bytes_field(number, bytes.fromhex(token['hex'].decode()))
        elif token['varint']:
            out += number_field(number, int(token['varint']))
        elif token['fixed64']:
            out += fixed64(number, int(token['fixed64']))
        else:
            out += field(number, 5, struct.pack('<I', int(token['fixed32'])))
    return out, at


def message(text):
    return assemble(text.encode('latin-1'))[0]


# ---- OTLP/JSON to protobuf: opentelemetry-proto 1.x ----


def member(of, name, otherwise=None):
    """A member in camel or snake case; null is as if it were not there."""
    for key in (name, re.sub('[A-Z]', lambda c: '_' + c.group().lower(), name)):
        if of.get(key) is not None:
            return of[key]
    return otherwise


def identifier(text, size):
    if len(text) == 2 * size:
        return bytes.fromhex(text)
    return base64.b64decode(text.replace('-', '+').replace('_', '/') + '===')[:size]


def enum(value, names):
    return names.index(value) if isinstance(value, str) and value in names else int(value)


def any_value(value):
    for name, of in (value or {}).items():
        name = re.sub('_([a-z])', lambda c: c.group(1).upper(), name)
        if name == 'stringValue':
            return text_field(1, of)
        if name == 'boolValue':
            return number_field(2, int(of))
        if name == 'intValue':
            return number_field(3, int(of))
        if name == 'doubleValue':
            return field(4, 1, struct.pack('<d', float(of)))
        if name == 'arrayValue':
            return bytes_field(5, b''.join(bytes_field(1, any_value(v)) for v in of.get('values') or []))
        if name == 'kvlistValue':
            return bytes_field(6, key_values(1, of.get('values')))
        if name == 'bytesValue':
            return bytes_field(7, base64.b64decode(of))
    return b''


def key_values(number, attributes):
    return b''.join(bytes_field(number, text_field(1, a['key']) + bytes_field(2, any_value(a.get('value'))))
                    for a in attributes or [])


def event(e):
    return (fixed64(1, int(member(e, 'timeUnixNano', 0))) + (text_field(2, e['name']) if 'name' in e else b'') +
            key_values(3, e.get('attributes')))


def span(s):
    kinds = ['SPAN_KIND_' + kind for kind in ('UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER')]
    codes = ['STATUS_CODE_' + code for code in ('UNSET', 'OK', 'ERROR')]
    out = bytes_field(1, identifier(member(s, 'traceId', ''), 16)) + bytes_field(2, identifier(member(s, 'spanId', ''), 8))
    if member(s, 'traceState'):
        out += text_field(3, member(s, 'traceState'))
    if member(s, 'parentSpanId'):
        out += bytes_field(4, identifier(member(s, 'parentSpanId'), 8))
    out += text_field(5, s.get('name') or '')
    if s.get('kind') is not None:
        out += number_field(6, enum(s['kind'], kinds))
    for number, name in ((7, 'startTimeUnixNano'), (8, 'endTimeUnixNano')):
        if member(s, name) is not None:
            out += fixed64(number, int(member(s, name)))
    out += key_values(9, s.get('attributes'))
    out += b''.join(bytes_field(11, event(e)) for e in s.get('events') or [])
    if s.get('status') is not None:
        code = s['status'].get('code')
        out += bytes_field(15, number_field(3, enum(code, codes)) if code is not None else b'')
    return out


def in_order(of, *makers):
    """Fields in the order of the members of a JSON object: (name, function of its value)."""
    out = b''
    for name in of:
        for wanted, make in makers:
            if name in (wanted, re.sub('[A-Z]', lambda c: '_' + c.group().lower(), wanted)) and of[name] is not None:
                out += make(of[name])
    return out


def scope_spans(s):
    def scope(of):
        return bytes_field(1, text_field(1, of['name']) if 'name' in of else b'')
    return in_order(s, ('scope', scope), ('instrumentationLibrary', scope),
                    ('spans', lambda all: b''.join(bytes_field(2, span(one)) for one in all)))


def resource_spans(r):
    def scopes(number):
        return lambda all: b''.join(bytes_field(number, scope_spans(one)) for one in all)
    return in_order(r, ('resource', lambda of: bytes_field(1, key_values(1, of.get('attributes')))),
                    ('scopeSpans', scopes(2)), ('instrumentationLibrarySpans', scopes(1000)))


def printed_time(text):
    """Nanoseconds since 1970 of a time that Go prints."""
    date, fraction, zone = re.fullmatch(r'(.{19})(?:\.(\d+))?(Z|[+-].{5})', text).groups()
    whole = datetime.datetime.fromisoformat(date + zone.replace('Z', '+00:00'))
    return round((whole - EPOCH).total_seconds()) * 10**9 + int((fraction or '0').ljust(9, '0'))


def printed_attributes(attributes):
    def value(kind, of):
        if kind.endswith('SLICE'):
            return {'arrayValue': {'values': [value(kind[:-5], one) for one in of]}}
        return {{'STRING': 'stringValue', 'INT64': 'intValue', 'BOOL': 'boolValue', 'FLOAT64': 'doubleValue'}[kind]: of}
    return [{'key': a['Key'], 'value': value(a['Value']['Type'], a['Value']['Value'])} for a in attributes or []]


def printed(s):
    """The ResourceSpans of a span as Go's stdouttrace prints it."""
    events = [{'name': e['Name'], 'attributes': printed_attributes(e['Attributes'])} for e in s.get('Events') or []]
    out = {'traceId': s['SpanContext']['TraceID'].zfill(32), 'spanId': s['SpanContext']['SpanID'].zfill(16),
           'traceState': s['SpanContext'].get('TraceState'),
           'traceState': s['SpanContext'].get('TraceState'),
           'parentSpanId': s.get('Parent', {}).get('SpanID', ''), 'name': s['Name'], 'kind': s.get('SpanKind'),
           'startTimeUnixNano': printed_time(s['StartTime']), 'attributes': printed_attributes(s.get('Attributes')),
           'endTimeUnixNano': None if s['EndTime'].startswith('0001') else printed_time(s['EndTime']), 'events': events,
           'status': {'code': ['Unset', 'Ok', 'Error'].index(s['Status']['Code'])} if 'Status' in s else None}
    return {'resource': {'attributes': printed_attributes(s.get('Resource'))},
            'scopeSpans': [{'scope': {'name': s.get('InstrumentationLibrary', {}).get('Name', '')}, 'spans': [out]}]}


def documents(text):
    """The TracesData in a text, each as protobuf."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        document, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip()) if at < len(text) and text[at].isspace() else 0
        for one in document if isinstance(document, list) else [document]:
            one = one.get('trace') or one  # what Tempo answers
            all = [printed(one)] if 'SpanContext' in one else member(one, 'resourceSpans') or one.get('batches')
            if all is not None:
                yield b''.join(bytes_field(1, resource_spans(r)) for r in all)


def converted(path, frame):
    with open(path, encoding='utf-8') as file:
        all = list(documents(file.read()))
    return b''.join(framed(one) if frame else one for one in all)


# ---- the cases ----

IDS = '1#000000000000000000000000000000ab 2#00000000000000cd'
GOOD = f'2{{{IDS} 7!1}}'  # a span of 39 bytes, the first 2 of them its field

VALID = {
    'messages-behind-their-sizes': framed(message(f"1{{2{{1{{1'a'}} {GOOD}}}}}")) + framed(b'') +
    framed(message(f"1{{2{{1{{1'b'}} {GOOD}}}}}")),
    'fields-that-are-not-known': message(
        "1{1{1{1'service.name' 2{1's' 8'x'} 3=1} 3{1'entity'}} 2{1{1'lib' 3{1'k' 2{1'v'}} 4=0} "
        f"2{{{IDS} 3'a=b' 5'o' 7!1 8!4 10=1 12=0 13{{1#01 4{{1'k'}}}} 14=0 16~257 99'x' 536870911{{90=5}}}} 3'url'}} 3'url'}}"),
    # of number 1 around a request, in messages, with a span in one of number 2, and in a span one in another
    'groups': message(f"<0b> 1{{2{{{GOOD}}}}} <0c> 1{{<0b0c> 2{{{GOOD} <1314> 2{{<4b> 5'x' <4b4c4c> {IDS} 7!1}} <13> {GOOD} <14> {GOOD}}}}}"),
    'what-stands-twice': message(
        "1{1{1{1'service.name' 2{1'a'}}} 1{1{1'service.name' 2{1'b'}}} "
        f"2{{2{{{IDS} 5'p' 5'o' 7!9 7!1 15{{3=2}} 15{{2'm'}} 9{{1'k' 2{{5{{1{{3=1}}}}}} 2{{5{{1{{3=2}}}}}}}}}}}}}}"),
}

INVALID = {
    'empty': b'',
    # the span that is whole ends at byte 43, 2 + 2 + 39; of the next one there are 10 bytes
    'cut-in-a-span': message(f'1{{2{{{GOOD} {GOOD}}}}}')[:53],
    'cut-in-a-size': framed(message(f'1{{2{{{GOOD}}}}}')) + b'\0\0',
    'ids-of-wrong-length': message(f'1{{2{{2{{1#ab}} 2{{1#{"00" * 17}}} 2{{2#{"00" * 7}}} 2{{4#{"00" * 9}}} {GOOD}}}}}'),
    'times-out-of-range': message(f'1{{2{{2{{7!9223372036854775808}} 2{{7!1 8!18446744073709551615}} {GOOD}}}}}'),
    'without-what-a-span-needs': message('1{2{2{2#00000000000000cd 7!1} 2{1#000000000000000000000000000000ab 7!1} '
                                         f'2{{{IDS}}} 2{{}}}}}}'),
    'fields-of-another-type': message(f"1{{2{{2{{1=7}} 2{{9=7}} 2{{9{{1=7}}}} 2{{15'bad'}} 2{{6'x'}} {GOOD}}}}}"),
    'the-end-of-a-group-in-a-span': message(f'1{{2{{2{{{IDS} <4c4b>}} {GOOD}}}}}'),
    'the-end-of-a-group-between-spans': message(f'1{{2{{{GOOD} <1413> {GOOD}}} 2{{{GOOD}}}}}'),
    'field-zero': message(f'1{{2{{2{{<0000>}} {GOOD}}}}}'),
    'a-number-without-an-end': message(f'1{{2{{2{{<30{"ff" * 11}>}} {GOOD}}}}}'),
    'a-size-past-the-end-of-a-span': message(f'1{{2{{2{{<2aff7f6e>}} {GOOD}}}}}'),
    'a-size-past-the-end-of-a-scope': message(f'1{{2{{{GOOD} <12ff7f>}} 2{{{GOOD}}}}} 1{{2{{{GOOD}}}}}'),
    'a-size-past-the-end-of-all': message(f'1{{2{{{GOOD}}}}} <0affffffffffffffffff01>'),
    'nested-too-deep': message("1{2{2{9{1'k' 2{" + "6{1{1'k' 2{" * 33 + '3=1' + '}}}' * 33 + f'}}}}}} {GOOD}}}}}'),
    'broken-utf8': message(f"1{{2{{2{{{IDS} 7!1 5'caf\xe9' 9{{1'k\x7f\xff' 2{{1'\x80'}}}} 9{{1'z' 2{{1#6100}}}}}}}}}}"),
    'a-broken-message-between-others': framed(message(f'1{{2{{{GOOD}}}}}')) + framed(b'\x0f' * 8) +
    framed(message(f'1{{2{{{GOOD}}}}}')),
    # ResourceMetrics 1: Resource, 2: ScopeMetrics 2: Metric 1: name, 5: Gauge 1: NumberDataPoint 3: time, 4: double
    'metrics': message("1{1{1{1'service.name' 2{1's'}}} 2{1{1'm'} 2{1'requests' 3'1' 5{1{3!1 4!2}}}}}"),
    'no-sampling-threshold': message(f"1{{2{{2{{{IDS} 3'ot=th:' 7!1}} 2{{{IDS} 3'ot=th:E6' 7!1}} 2{{{IDS} 3'ot=th:ffffffffffffff' 7!1}} "
                                     f"2{{{IDS} 3'ot=rv:1' 7!1}}}}}}"),
    'not-protobuf': b'{"resourceSpans":[]}\n',
    'zero-bytes': bytes(64),
}


def cases():
    """Where each input belongs, and what it is."""
    for name in sorted(os.listdir(JSON_VALID)):
        if name != 'a-javascript-sdk':
            path = os.path.join(JSON_VALID, name, 'input')
            yield os.path.join('valid', name, 'input'), converted(path, name == 'one-document-a-line')
    for kind, table in (('valid', VALID), ('invalid', INVALID)):
        for name, content in table.items():
            yield os.path.join(kind, name, 'input'), content


def main(arguments):
    if arguments[:1] == ['--convert'] and len(arguments) in (2, 3):
        sys.stdout.buffer.write(converted(arguments[1], arguments[2:] == ['--framed']))
        return 0
    if arguments not in ([], ['--check']):
        print(__doc__, file=sys.stderr)
        return 2
    different = 0
    for path, content in cases():
        path = os.path.join(HERE, path)
        if arguments:
            with open(path, 'rb') as file:
                if file.read() != content:
                    print(f'{path}: is not what write.py writes')
                    different += 1
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(content)
    return 1 if different else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
