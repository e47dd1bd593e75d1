#!/usr/bin/env python3
"""What of HTTP/1.1 is refused because two readers could understand it differently (RFC 9112, RFC 9110), and what a page of
another site may not ask. usage: test_wire_rules.py BIN [SANITIZER]"""
import json
import socket
import unittest

import otlp
import rig
from otlp import Span

LINE = b"POST /v1/traces HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
LENGTH = b"Content-Length: 2\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
PIECE = b"\r\n2\r\n{}\r\n0\r\n\r\n"
BODY = b"\r\n{}"

GOOD = {
    "a length": LINE + HOST + JSON + LENGTH + BODY,
    "chunks": LINE + HOST + JSON + CHUNKED + PIECE,
    "chunks, in other letters": LINE + HOST + JSON + b"transfer-encoding: Chunked\r\n" + PIECE,
    "a chunk with an extension": LINE + HOST + JSON + CHUNKED + b"\r\n2;a=b\r\n{}\r\n0\r\n\r\n",
    "a target of absolute form": b"POST http://localhost/v1/traces HTTP/1.1\r\n" + HOST + JSON + LENGTH + BODY,
    "an escape in the path": b"POST /v1/trace%73 HTTP/1.1\r\n" + HOST + JSON + LENGTH + BODY,
    "HTTP/1.0 without Host": b"POST /v1/traces HTTP/1.0\r\n" + JSON + LENGTH + BODY,
    "a tab and letters beyond ASCII in a value": LINE + HOST + JSON + b"X: a\tb\xc3\xa4\r\n" + LENGTH + BODY,
}

# By section of RFC 9112, if no other is named.
BAD = {
    "6.3: two lengths": LINE + HOST + JSON + LENGTH + b"Content-Length: 30\r\n" + BODY,
    "6.3: the same length twice": LINE + HOST + JSON + LENGTH + LENGTH + BODY,
    "6.3: a list of lengths": LINE + HOST + JSON + b"Content-Length: 2, 2\r\n" + BODY,
    "6.3: a length below 0": LINE + HOST + JSON + b"Content-Length: -1\r\n" + BODY,
    "6.3: a length with a sign": LINE + HOST + JSON + b"Content-Length: +2\r\n" + BODY,
    "6.3: a length with letters": LINE + HOST + JSON + b"Content-Length: 0x2\r\n" + BODY,
    "6.1: a length and chunks": LINE + HOST + JSON + LENGTH + CHUNKED + PIECE,
    "6.1: chunks and a length": LINE + HOST + JSON + CHUNKED + LENGTH + PIECE,
    "6.1: chunks in HTTP/1.0": b"POST /v1/traces HTTP/1.0\r\n" + HOST + JSON + CHUNKED + PIECE,
    "6.1: chunked twice": LINE + HOST + JSON + CHUNKED + CHUNKED + PIECE,
    "5.1: a blank before the colon": LINE + HOST + JSON + b"Transfer-Encoding : chunked\r\n" + PIECE,
    "5.1: a tab before the colon": LINE + HOST + JSON + b"Transfer-Encoding\t: chunked\r\n" + PIECE,
    "5.1: a blank before the colon of a length": LINE + HOST + JSON + b"Content-Length : 2\r\n" + BODY,
    "2.2: a blank before the first header": LINE + b" X: a\r\n" + HOST + JSON + LENGTH + BODY,
    "2.2: a line that ends with CR alone": LINE + HOST + JSON + b"X: a\rY: b\r\n" + LENGTH + BODY,
    "5: a line without a colon": LINE + HOST + JSON + b"X\r\n" + LENGTH + BODY,
    "RFC 9110, 5.6.2: a bracket in a name": LINE + HOST + JSON + b"X(: a\r\n" + LENGTH + BODY,
    "RFC 9110, 5.5: a control character in a value": LINE + HOST + JSON + b"X: a\x01b\r\n" + LENGTH + BODY,
    "3.2: no Host": LINE + JSON + LENGTH + BODY,
    "3.2: two Hosts": LINE + HOST + HOST + JSON + LENGTH + BODY,
    "3.2: a Host with a blank": LINE + b"Host: local host\r\n" + JSON + LENGTH + BODY,
    "3.2: a Host with a path": LINE + b"Host: localhost/x\r\n" + JSON + LENGTH + BODY,
    "3.2.2: a target of another host": b"POST http://elsewhere/v1/traces HTTP/1.1\r\n" + HOST + JSON + LENGTH + BODY,
    "3: a blank in the target": b"POST /v1/traces x HTTP/1.1\r\n" + HOST + JSON + LENGTH + BODY,
    "3: no version": b"POST /v1/traces\r\n" + HOST + JSON + LENGTH + BODY,
    "an escaped NUL": b"POST /v1/traces%00 HTTP/1.1\r\n" + HOST + JSON + LENGTH + BODY,
    "an escaped NUL, and more": b"POST /v1/traces%00/x HTTP/1.1\r\n" + HOST + JSON + LENGTH + BODY,
    "an escaped NUL in a query": b"POST /v1/traces?a=%00 HTTP/1.1\r\n" + HOST + JSON + LENGTH + BODY,
    "an escape that is none": b"POST /v1/traces?a=%zz HTTP/1.1\r\n" + HOST + JSON + LENGTH + BODY,
    "7.1: a chunk with 0x": LINE + HOST + JSON + CHUNKED + b"\r\n0x2\r\n{}\r\n0\r\n\r\n",
    "7.1: a chunk below 0": LINE + HOST + JSON + CHUNKED + b"\r\n-2\r\n{}\r\n0\r\n\r\n",
    "7.1: a chunk that ends with something else": LINE + HOST + JSON + CHUNKED + b"\r\n2\r\n{}xx0\r\n\r\n",
}

# As libmicrohttpd 0.9.75 adds such a line to the name of the header before it, a length or a coding would be lost.
BAD.update({
    "5.2: a length in the next line": LINE + HOST + JSON + b"Content-Length:\r\n 2\r\n" + BODY,
    "5.2: a length that goes on": LINE + HOST + JSON + b"Content-Length: 2\r\n 3\r\n" + BODY,
    "5.2: chunks in the next line": LINE + HOST + JSON + b"Transfer-Encoding:\r\n chunked\r\n" + PIECE,
    "5.2: chunks that go on": LINE + HOST + JSON + b"Transfer-Encoding: chunked\r\n x\r\n" + PIECE,
    "5.2: chunks in the next line, and a length": LINE + HOST + JSON + b"transfer-encoding:\r\n\tchunked\r\n" + LENGTH + PIECE,
    "5.2: a Host that goes on": LINE + b"Host: localhost\r\n x\r\n" + JSON + LENGTH + BODY,
    "a name that begins with one of them": LINE + HOST + JSON + b"Content-Length-Of: 2\r\n" + LENGTH + BODY,
})

# What libmicrohttpd 0.9.75 takes, and pythiad cannot see, or need not refuse. SECURITY.md has the list with the reasons; one that is
# refused one day leaves both.
TAKEN = {
    "2.2: lines that end with LF": (LINE + HOST + JSON + LENGTH).replace(b"\r\n", b"\n") + b"\n{}",
    "2.2: empty lines before the request": b"\r\n\r\n" + LINE + HOST + JSON + LENGTH + BODY,
    "3: two blanks before the target": LINE.replace(b" /", b"  /") + HOST + JSON + LENGTH + BODY,
    "2.3: a later version 1": LINE.replace(b"1.1", b"1.9") + HOST + JSON + LENGTH + BODY,
    "3.2: bytes of a query that should be escaped": LINE.replace(b"traces", b"traces?\xc3\xa4\"<>") + HOST + JSON + LENGTH + BODY,
    "6.3: a length with zeros": LINE + HOST + JSON + b"Content-Length: 0002\r\n" + BODY,
    "5.2: another header that goes on": LINE + HOST + JSON + b"X: a\r\n b\r\n" + LENGTH + BODY,
    "RFC 9110, 5.5: a NUL in a value": LINE + HOST + JSON + b"X: a\0b\r\n" + LENGTH + BODY,
    "a NUL after a length": LINE + HOST + JSON + b"Content-Length: 2\0 3\r\n" + BODY,
    "a NUL after a coding": LINE + HOST + JSON + b"Transfer-Encoding: chunked\0x\r\n" + PIECE,
    "a NUL after a Host": LINE + b"Host: localhost\0.evil\r\n" + JSON + LENGTH + BODY,
    "a NUL in the target": LINE.replace(b"traces", b"traces\0x") + HOST + JSON + LENGTH + BODY,
    "a NUL after the method": LINE.replace(b"POST", b"POST\0") + HOST + JSON + LENGTH + BODY,
    "5.1: a line without a name": LINE + HOST + JSON + LENGTH + b": x\r\n" + BODY,
    "7.1: chunks whose lines end with LF": LINE + HOST + JSON + CHUNKED + b"\r\n2\n{}\n0\n\n",
    "7.1: a chunk's extension with a NUL": LINE + HOST + JSON + CHUNKED + b"\r\n2;a\0b\r\n{}\r\n0\r\n\r\n",
    "7.1: a chunk's extension with CR": LINE + HOST + JSON + CHUNKED + b"\r\n2;a\rb\r\n{}\r\n0\r\n\r\n",
    "7.1.2: a trailer of any kind": LINE + HOST + JSON + CHUNKED + b"\r\n2\r\n{}\r\n0\r\nContent-Length: 5\r\nX y: \1\r\n\r\n",
    "RFC 9110, 10.1.1: an Expect that is not known": LINE + HOST + JSON + b"Expect: 200-ok\r\n" + LENGTH + BODY,
}

UNKNOWN = {
    "6.1: another coding": b"Transfer-Encoding: gzip\r\n",
    "6.1: another coding before chunks": b"Transfer-Encoding: gzip, chunked\r\n",
    "6.1: a coding whose name ends with chunked": b"Transfer-Encoding: xchunked\r\n",
    "6.1: no coding at all": b"Transfer-Encoding: identity\r\n",
}


class Case(unittest.TestCase):
    def setUp(self):
        self.pythiad = rig.Pythiad(self)

    def tearDown(self):
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)


class Framing(Case):
    def answer(self, request, port=None, closes=False):
        """The status of the answer to a request, that to what was sent after it not included."""
        with socket.create_connection(("127.0.0.1", port or self.pythiad.http), rig.patience(10)) as link:
            link.sendall(request)
            got = b""
            while closes or b"\r\n\r\n" not in got:
                try:
                    piece = link.recv(65536)
                except ConnectionResetError:  # it was closed with bytes of ours unread
                    piece = b""
                if not piece:
                    break
                got += piece
            return int(got.split(b" ", 2)[1])

    def test_what_is_good_is_taken(self):
        for name, request in GOOD.items():
            self.assertEqual(self.answer(request), 200, name)

    def test_what_is_bad_is_refused_and_its_connection_closed(self):
        for name, request in BAD.items():
            self.assertEqual(self.answer(request, closes=True), 400, name)
        for name, coding in UNKNOWN.items():
            self.assertEqual(self.answer(LINE + HOST + JSON + coding + PIECE, closes=True), 501, name)
        self.assertEqual(self.pythiad.metric("pythia_bodies_total"), 0)

    def test_what_libmicrohttpd_takes_is_known(self):
        for name, request in TAKEN.items():
            self.assertEqual(self.answer(request), 200, name)

    def test_a_line_without_a_name_ends_the_headers(self):
        """So the length after it is no length: the body is a request of its own, which is refused."""
        with socket.create_connection(("127.0.0.1", self.pythiad.http), rig.patience(10)) as link:
            link.sendall(LINE + HOST + JSON + b": x\r\n" + LENGTH + BODY)
            got = b""
            while piece := link.recv(65536):
                got += piece
        self.assertEqual([answer.split(b" ", 1)[0] for answer in got.split(b"HTTP/1.1 ")[1:]], [b"200", b"400"])

    def test_nothing_after_a_refused_request_is_answered(self):
        """A second request, hidden in what two readers take for different bodies."""
        hidden = b"GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
        before = self.pythiad.metric('pythia_answers_total{listener="otlp-http",class="4xx"}')
        for headers in (LENGTH + b"Content-Length: 0\r\n", LENGTH + CHUNKED, b"Transfer-Encoding : chunked\r\nContent-Length: 0\r\n"):
            self.assertEqual(self.answer(LINE + HOST + JSON + headers + b"\r\n" + hidden, closes=True), 400)
        self.assertEqual(self.pythiad.metric('pythia_answers_total{listener="otlp-http",class="4xx"}') - before, 3)

    def test_all_listeners_of_http(self):
        for port in (self.pythiad.http, self.pythiad.zipkin, self.pythiad.control):
            for request in (b"GET /healthz%00 HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /healthz HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
                            b"GET /healthz HTTP/1.1\r\n" + HOST + LENGTH + CHUNKED + PIECE):
                self.assertEqual(self.answer(request, port, closes=True), 400, request)


class Strangers(Case):
    """A page of another site, also one whose name was rebound to the loopback, neither reads the list of switches nor reports
    trace points nor sends spans."""
    REPORT = json.dumps({"service": "shop", "instance": "1", "points": [{"id": "shop:a"}]})

    def statuses(self, headers):
        port = self.pythiad.http
        return [rig.ask(port, "GET", "/v1/trace-points?service=shop", **headers).status,
                rig.ask(port, "POST", "/v1/trace-points", self.REPORT, rig.JSON, **headers).status,
                rig.ask(port, "POST", "/v1/traces", otlp.as_json([Span()]), rig.JSON, **headers).status,
                rig.ask(self.pythiad.zipkin, "POST", "/api/v2/spans", otlp.zipkin([Span()]), rig.JSON, **headers).status]

    def test_a_page_of_another_site_is_refused(self):
        port = self.pythiad.http
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"https://localhost.evil:{port}"},
                        {"Host": "evil.example"}, {"Host": f"evil.example:{port}"}, {"Host": f"127.0.0.1.evil:{port}"},
                        {"Host": "evil.example", "Origin": "http://evil.example"}):
            self.assertEqual(self.statuses(headers), [403] * 4, headers)
        metrics = self.pythiad.metrics()
        self.assertEqual((metrics["pythia_points_known"], metrics["pythia_spans_total"]), (0, 0))

    def test_programs_of_this_machine_are_taken(self):
        for host in ("localhost", "LOCALHOST:4318", "127.0.0.1", "127.1.2.3:80", "[::1]:4318"):
            self.assertEqual(self.statuses({"Host": host}), [200, 200, 200, 202], host)

    def test_a_service_has_a_quota_of_points(self):
        port = self.pythiad.http
        points = [{"id": f"shop:{number}"} for number in range(10001)]
        report = json.dumps({"service": "shop", "instance": "1", "points": points})
        answer = rig.ask(port, "POST", "/v1/trace-points", report, rig.JSON)
        self.assertEqual((answer.status, answer.json), (200, {"taken": 10000, "refused": 1}))
        report = json.dumps({"service": "bank", "instance": "1", "points": [{"id": "bank:a"}]})
        self.assertEqual(rig.ask(port, "POST", "/v1/trace-points", report, rig.JSON).json, {"taken": 1, "refused": 0})
        self.assertEqual(self.pythiad.metric("pythia_agent_points_refused_total"), 1)


if __name__ == "__main__":
    rig.main()
