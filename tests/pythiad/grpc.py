"""The least of HTTP/2 (RFC 9113), HPACK (RFC 7541) and gRPC that a test needs, over a socket, one thing at a time."""
import base64
import collections
import socket
import struct
import urllib.parse

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
(OK, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE,
 UNAUTHENTICATED) = 0, 3, 8, 12, 13, 14, 16

STATIC = [("", "")] + [(name, value) for name, value in (line.split("=", 1) for line in """\
:authority=
:method=GET
:method=POST
:path=/
:path=/index.html
:scheme=http
:scheme=https
:status=200
:status=204
:status=206
:status=304
:status=400
:status=404
:status=500
accept-charset=
accept-encoding=gzip, deflate
accept-language=
accept-ranges=
accept=
access-control-allow-origin=
age=
allow=
authorization=
cache-control=
content-disposition=
content-encoding=
content-language=
content-length=
content-location=
content-range=
content-type=
cookie=
date=
etag=
expect=
expires=
from=
host=
if-match=
if-modified-since=
if-none-match=
if-range=
if-unmodified-since=
last-modified=
link=
location=
max-forwards=
proxy-authenticate=
proxy-authorization=
range=
referer=
refresh=
retry-after=
server=
set-cookie=
strict-transport-security=
transfer-encoding=
user-agent=
vary=
via=
www-authenticate=""".splitlines())]

# Lengths of the Huffman codes of those characters that headers here can have; codes are given in order of length, then
# of character (RFC 7541, appendix B).
LENGTHS = {5: "012aceiost", 6: " %-./3456789=A_bdfghlmnpru", 7: ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz", 8: "&*,;XZ",
           10: "!\"()?", 11: "'+|", 12: "#>", 13: "\0$@[]~", 14: "^}", 15: "<`{"}


def huffman_codes():
    codes, code, last = {}, 0, 5
    for length, characters in LENGTHS.items():
        code <<= length - last
        last = length
        for character in characters:
            codes[(length, code)] = character
            code += 1
    return codes


HUFFMAN = huffman_codes()


def unhuffman(coded):
    out, code, length = [], 0, 0
    for byte in coded:
        for bit in range(7, -1, -1):
            code, length = code << 1 | byte >> bit & 1, length + 1
            if (length, code) in HUFFMAN:
                out.append(HUFFMAN[(length, code)])
                code = length = 0
    assert length < 8 and code == (1 << length) - 1, "the padding is not of ones"
    return "".join(out)


def integer(block, at, bits):
    most = (1 << bits) - 1
    value, at = block[at] & most, at + 1
    shift = 0
    while value >= most:
        value += (block[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if block[at - 1] < 128:
            break
    return value, at


def text(block, at):
    size, behind = integer(block, at, 7)
    content = block[behind:behind + size]
    return (unhuffman(content) if block[at] & 128 else content.decode("latin-1")), behind + size


def unpack_headers(block):
    """[(name, value)]; the table of the connection was set to a size of 0."""
    out, at = [], 0
    while at < len(block):
        first = block[at]
        if first & 0x80:
            index, at = integer(block, at, 7)
            out.append(STATIC[index])
        elif first & 0xE0 == 0x20:
            size, at = integer(block, at, 5)
            assert size == 0, "the table is to be empty"
        else:
            index, at = integer(block, at, 6 if first & 0x40 else 4)
            name, at = (STATIC[index][0], at) if index else text(block, at)
            value, at = text(block, at)
            out.append((name, value))
    return out


def pack_headers(headers):
    """Literals that are not put into the table, and not coded."""
    out = bytearray()

    def put(what):
        what = what.encode("latin-1")
        if len(what) < 127:
            out.append(len(what))
        else:
            out.append(127)
            rest = len(what) - 127
            while rest > 127:
                out.append(rest & 127 | 128)
                rest >>= 7
            out.append(rest)
        out.extend(what)
    for name, value in headers:
        out.append(0)
        put(name)
        put(value)
    return bytes(out)


def framed(content, packed=False):
    return struct.pack(">BI", int(packed), len(content)) + content


class Reply:
    """What came of a call: its message (None: there was none) and the status with what belongs to it."""

    def __init__(self):
        self.headers, self.trailers, self.blocks, self.body, self.reset, self.done = {}, {}, 0, b"", None, False

    @property
    def status(self):
        return int(self.trailers["grpc-status"])

    @property
    def message(self):
        return urllib.parse.unquote(self.trailers.get("grpc-message", ""))

    @property
    def details(self):
        coded = self.trailers.get("grpc-status-details-bin", "")
        return base64.b64decode(coded + "=" * (-len(coded) % 4))

    @property
    def answer(self):
        packed, size = struct.unpack(">BI", self.body[:5])
        assert packed == 0 and size == len(self.body) - 5
        return self.body[5:]

    @property
    def trailers_only(self):
        return self.blocks == 1 and not self.body


class Connection:
    def __init__(self, port, tls=None, timeout=60, path=None):
        self.socket = socket.socket(socket.AF_UNIX) if path else socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.settimeout(timeout)
        if path:
            self.socket.connect(path)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1) if not path else None
        self.buffer, self.stream, self.replies = b"", -1, collections.defaultdict(Reply)
        self.window, self.windows, self.first_window = 65535, {}, 65535
        self.settings, self.goaway, self.ended = {}, None, False
        # No table for headers, and windows as large as can be.
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                            self.pack(SETTINGS, 0, 0, struct.pack(">HIHI", 1, 0, 4, 0x7FFFFFFF)))

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def pack(kind, flags, stream, content):
        return struct.pack(">I", len(content))[1:] + struct.pack(">BBI", kind, flags, stream) + content

    def frame(self, kind, flags, stream, content=b""):
        self.socket.sendall(self.pack(kind, flags, stream, content))

    def receive(self):
        """Take the next frame in; False: the connection has ended."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
            try:
                piece = self.socket.recv(65536)
            except ConnectionError:
                piece = b""
            if not piece:
                self.ended = True
                return False
            self.buffer += piece
        size = int.from_bytes(self.buffer[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", self.buffer[3:9])
        content, self.buffer = self.buffer[9:9 + size], self.buffer[9 + size:]
        self.take(kind, flags, stream & 0x7FFFFFFF, content)
        return True

    def take(self, kind, flags, stream, content):
        reply = self.replies[stream] if stream else None
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, len(content), 6):
                name, value = struct.unpack(">HI", content[at:at + 6])
                self.settings[name] = value
                if name == 4:
                    for one in self.windows:
                        self.windows[one] += value - self.first_window
                    self.first_window = value
            self.frame(SETTINGS, ACK, 0)
        elif kind == PING and not flags & ACK:
            self.frame(PING, ACK, 0, content)
        elif kind == WINDOW_UPDATE:
            more = struct.unpack(">I", content)[0]
            if stream:
                self.windows[stream] = self.windows.get(stream, self.first_window) + more
            else:
                self.window += more
        elif kind == GOAWAY:
            self.goaway = struct.unpack(">II", content[:8])
        elif kind == HEADERS:
            assert flags & END_HEADERS, "headers in several frames are not expected"
            reply.blocks += 1
            (reply.headers if reply.blocks == 1 else reply.trailers).update(unpack_headers(content))
            if flags & END_STREAM:
                reply.done = True
                if reply.blocks == 1:
                    reply.trailers = reply.headers
        elif kind == DATA:
            reply.body += content
            reply.done = reply.done or bool(flags & END_STREAM)
        elif kind == RST_STREAM:
            reply.reset = struct.unpack(">I", content)[0]
            reply.done = True

    def begin(self, path=EXPORT, coding=None, method="POST", kind="application/grpc", ends=False, more=()):
        """Send the headers of a call; its stream."""
        self.stream += 2
        headers = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "127.0.0.1"),
                   ("content-type", kind), ("te", "trailers")]
        if coding:
            headers.append(("grpc-encoding", coding))
        self.frame(HEADERS, END_HEADERS | (END_STREAM if ends else 0), self.stream, pack_headers([*headers, *more]))
        self.windows[self.stream] = self.first_window
        return self.stream

    def data(self, stream, content, ends=True, piece=16384):
        """Send a body in frames of that size, as the windows allow. False: the call was ended meanwhile."""
        at = 0
        while at < len(content) or not content:
            room = min(piece, self.window, self.windows[stream], len(content) - at)
            if room <= 0 and content:
                if self.replies[stream].done or not self.receive():
                    return False
                continue
            last = at + room == len(content)
            self.frame(DATA, END_STREAM if ends and last else 0, stream, content[at:at + room])
            self.window -= room
            self.windows[stream] -= room
            at += room
            if not content:
                break
        return True

    def wait(self, stream):
        while not self.replies[stream].done:
            if not self.receive():
                raise ConnectionError("the connection ended before the answer")
        return self.replies[stream]

    def call(self, content, packed=False, piece=16384, **how):
        """A unary call."""
        stream = self.begin(**how)
        self.data(stream, framed(content, packed), piece=piece)
        return self.wait(stream)
