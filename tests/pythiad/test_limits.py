#!/usr/bin/env python3
"""Limits, at one below, at, and one above (security 7); and what is made to go far beyond them. usage: test_limits.py BIN [SANITIZER]"""
import gzip
import http.client
import json
import signal
import socket
import time
import unittest
import zlib

import grpc
import otlp
import rig
from otlp import Span

GIB = 1 << 30


def padded(size):
    """A good body of exactly so many bytes."""
    body = otlp.protobuf([Span()])
    for pad in range(size, 0, -1):
        whole = body + otlp.message(15, b"\0" * pad)  # a field of the future
        if len(whole) == size:
            return whole
    raise AssertionError("no such size can be made")


class Bodies(unittest.TestCase):
    MAX = 64 << 10

    def setUp(self):
        self.pythiad = rig.Pythiad(self, "--body-max=64K", "--inflated-max=64K")

    def tearDown(self):
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def statuses(self, send):
        return [send(padded(self.MAX + more)) for more in (-1, 0, 1)]

    def test_body_over_http(self):
        self.assertEqual(self.statuses(lambda body: self.pythiad.send(body).status), [200, 200, 413])

        def in_chunks(body):
            link = http.client.HTTPConnection("127.0.0.1", self.pythiad.http, timeout=60)
            link.request("POST", "/v1/traces", iter([body[:1000], body[1000:]]), {"Content-Type": rig.PROTOBUF},
                         encode_chunked=True)
            status = link.getresponse().status
            link.close()
            return status
        self.assertEqual(self.statuses(in_chunks), [200, 200, 413])
        metrics = self.pythiad.metrics()
        self.assertEqual(metrics["pythia_bodies_too_large_total"], 2)
        self.assertEqual(metrics["pythia_spans_total"], 4)
        self.assertEqual(metrics["pythia_body_bytes_held"], 0)

    def test_chunks_of_a_byte(self):
        """They cost more than their bytes: they are not all taken in one turn of the loop, and all of them are taken."""
        body = padded(self.MAX // 2)
        with socket.create_connection(("127.0.0.1", self.pythiad.http), 60) as link:
            link.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\n"
                         b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n")
            self.assertTrue(link.recv(1000).startswith(b"HTTP/1.1 200 "))
        metrics = self.pythiad.metrics()
        self.assertEqual((metrics["pythia_spans_total"], metrics["pythia_body_bytes_total"]), (1, len(body)))
        self.assertGreater(metrics["pythia_reads_deferred_total"], 0)

    def test_body_to_zipkin(self):
        text = otlp.zipkin([Span()])

        def send(body):
            return rig.ask(self.pythiad.zipkin, "POST", "/api/v2/spans", text + b" " * (len(body) - len(text)),
                           rig.JSON).status
        self.assertEqual(self.statuses(send), [202, 202, 413])

    def test_message_over_grpc(self):
        with grpc.Connection(self.pythiad.grpc) as link:
            self.assertEqual(self.statuses(lambda body: link.call(body).status),
                             [grpc.OK, grpc.OK, grpc.RESOURCE_EXHAUSTED])
            self.assertEqual(link.call(otlp.protobuf([Span()])).status, grpc.OK)  # the connection is still good
        self.assertEqual(self.pythiad.metric("pythia_bodies_too_large_total"), 1)

    def test_a_length_that_is_not_true(self):
        """A message that says it is of 4 GiB is refused when as much has come as is taken, not when all has."""
        with grpc.Connection(self.pythiad.grpc) as link:
            stream = link.begin()
            link.data(stream, b"\0\xff\xff\xff\xff" + b"\0" * (self.MAX + 1), ends=False)
            self.assertEqual(link.wait(stream).status, grpc.RESOURCE_EXHAUSTED)

    def test_unpacked(self):
        for coding, pack in (("gzip", gzip.compress), ("zstd", otlp.zstd_of)):
            self.assertEqual(self.statuses(lambda body, coding=coding, pack=pack:
                                           self.pythiad.send(pack(body), Content_Encoding=coding).status),
                             [200, 200, 413], coding)
            with grpc.Connection(self.pythiad.grpc) as link:
                self.assertEqual(self.statuses(lambda body, coding=coding, pack=pack, link=link:
                                               link.call(pack(body), True, coding=coding).status),
                                 [grpc.OK, grpc.OK, grpc.RESOURCE_EXHAUSTED], coding)
        # Nothing of a body that was refused counts.
        self.assertEqual(self.pythiad.metric("pythia_spans_total"), 8)

    def test_nothing_of_a_body_that_is_too_large_is_taken(self):
        """Also where the limit comes after thousands of good spans."""
        body = otlp.protobuf([Span() for _ in range(2000)])
        self.assertGreater(len(body), self.MAX)
        self.assertEqual(self.pythiad.send(gzip.compress(body), Content_Encoding="gzip").status, 413)
        self.assertEqual(self.pythiad.metric("pythia_spans_total"), 0)
        self.assertEqual(self.pythiad.metric("pythia_open_spans"), 0)


class Connections(unittest.TestCase):
    def setUp(self):
        self.pythiad = rig.Pythiad(self, "--connections=4", "--streams=3")
        self.links = []

    def tearDown(self):
        for link in self.links:
            link.close()
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def http(self, timeout=60):
        link = http.client.HTTPConnection("127.0.0.1", self.pythiad.http, timeout=timeout)
        self.links.append(link)
        return rig.on(link, "POST", "/v1/traces", otlp.protobuf([Span()]), rig.PROTOBUF).status

    def held(self):
        return self.pythiad.metric("pythia_body_bytes_held")

    def evicted(self, why):
        return self.pythiad.metric(f'pythia_connections_evicted_total{{reason="{why}"}}')

    def test_connections_of_http(self):
        """At the limit a new one takes the place of that which was idle for longest."""
        self.assertEqual([self.http() for _ in range(3)], [200] * 3)
        self.assertEqual([self.evicted("idle"), self.http(), self.evicted("idle")], [0, 200, 0])
        time.sleep(.05)
        self.assertEqual(self.again(0), 200)  # so that the second has been idle for longest
        self.assertEqual(self.http(timeout=rig.patience(1)), 200)
        self.assertEqual(self.evicted("idle"), 1)
        with self.assertRaises((ConnectionError, http.client.RemoteDisconnected)):
            self.again(1)
        self.assertEqual([self.again(i) for i in (0, 2, 3, 4)], [200] * 4)
        self.assertEqual(self.pythiad.metric("pythia_connections_refused_total"), 0)
        self.assertEqual(self.pythiad.get("/healthz").status, 200)  # another listener has its own

    def again(self, number):
        return rig.on(self.links[number], "POST", "/v1/traces", otlp.protobuf([Span()]), rig.PROTOBUF).status

    def test_connections_of_http_that_deliver_stay(self):
        head = (b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 10000\r\n\r\n")
        for _ in range(4):
            link = socket.create_connection(("127.0.0.1", self.pythiad.http), 60)
            link.sendall(head + b"{" + b" " * 4999)
            self.links.append(link)
        rig.until(lambda: self.held() >= 4 * 5000, 10, lambda: str(self.pythiad.metrics()))
        with self.assertRaises((ConnectionError, http.client.RemoteDisconnected)):
            self.http(timeout=rig.patience(5))
        self.assertEqual(self.pythiad.metric("pythia_connections_refused_total"), 1)
        for link in self.links[:4]:
            link.sendall(b" " * 4999 + b"}")
            self.assertTrue(link.recv(1000).startswith(b"HTTP/1.1 200 "))
        if not rig.SANITIZER:  # one that has stopped in the middle goes, though it began last
            for number in (0, 1, 3):
                self.links[number].sendall(head + b"{" + b" " * 4999)
            rig.until(lambda: self.held() >= 3 * 5000, 5)
            self.links[2].sendall(head + b"{")
            rig.until(lambda: self.held() > 3 * 5000, 5)
            self.assertEqual([self.evicted("body"), self.evicted("idle")], [0, 0])
            self.assertEqual(self.http(timeout=rig.patience(5)), 200)
            self.assertEqual([self.evicted("body"), self.evicted("idle")], [1, 0])

    def test_connections_of_grpc(self):
        self.links = [grpc.Connection(self.pythiad.grpc) for _ in range(4)]
        for link in self.links:
            self.assertEqual(link.call(otlp.protobuf([Span()])).status, grpc.OK)
            time.sleep(.02)
        self.assertEqual([self.evicted("idle"), self.pythiad.metric("pythia_connections_refused_total")], [0, 0])
        fifth = grpc.Connection(self.pythiad.grpc, timeout=rig.patience(1))
        self.links.append(fifth)
        self.assertEqual(fifth.call(otlp.protobuf([Span()])).status, grpc.OK)
        self.assertEqual(self.evicted("idle"), 1)
        with self.assertRaises(ConnectionError):
            self.links[0].call(otlp.protobuf([Span()]))
        body = grpc.framed(otlp.protobuf([Span(attributes={"key": "v" * 2000})]))
        streams = [(link, link.begin()) for link in self.links[1:]]
        for link, stream in streams:  # all of them deliver
            link.data(stream, body[:-1], ends=False)
        rig.until(lambda: self.pythiad.metric("pythia_body_bytes_held") >= 3 * (len(body) - 1), 10,
                  lambda: str(self.pythiad.metrics()))
        with grpc.Connection(self.pythiad.grpc) as sixth, self.assertRaises(ConnectionError):
            sixth.call(b"")
        self.assertEqual(self.pythiad.metric("pythia_connections_refused_total"), 1)
        for link, stream in streams:
            link.data(stream, body[-1:])
            self.assertEqual(link.wait(stream).status, grpc.OK)

    def test_streams(self):
        link = grpc.Connection(self.pythiad.grpc)
        self.links.append(link)
        other = grpc.Connection(self.pythiad.grpc)
        self.links.append(other)
        link.call(b"")
        self.assertEqual(link.settings[3], 3)  # SETTINGS_MAX_CONCURRENT_STREAMS
        for count in (2, 3):
            streams = [link.begin() for _ in range(count)]
            for stream in streams:
                link.data(stream, grpc.framed(otlp.protobuf([Span()])))
                self.assertEqual(link.wait(stream).status, grpc.OK)
        for _ in range(4):
            link.begin()
        while link.receive():  # whoever goes beyond what was said to them breaks the protocol
            pass
        self.assertEqual(link.goaway[1], 1)
        self.assertEqual(other.call(otlp.protobuf([Span()])).status, grpc.OK)

    def test_streams_that_are_begun_and_reset_without_end(self):
        link = grpc.Connection(self.pythiad.grpc)
        self.links.append(link)
        other = grpc.Connection(self.pythiad.grpc)
        self.links.append(other)
        try:
            for _ in range(20000):
                stream = link.begin()
                link.frame(grpc.RST_STREAM, 0, stream, b"\0\0\0\x08")
            while link.receive():
                pass
        except ConnectionError:
            link.ended = True
        self.assertTrue(link.ended or link.goaway, "20000 streams were reset, and it is still served")
        self.assertEqual(other.call(otlp.protobuf([Span()])).status, grpc.OK)


class Heads(unittest.TestCase):
    def setUp(self):
        self.pythiad = rig.Pythiad(self)

    def tearDown(self):
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def test_headers_of_http(self):
        body = otlp.protobuf([Span()])
        self.assertEqual(self.pythiad.send(body, X_Long="x" * (16 << 10)).status, 200)
        for headers in ({"X-Long": "x" * (40 << 10)}, {f"X-{i}": "x" * 1000 for i in range(40)}):
            link = http.client.HTTPConnection("127.0.0.1", self.pythiad.http, timeout=60)
            link.putrequest("POST", "/v1/traces")
            for name, value in headers.items():
                link.putheader(name, value)
            link.putheader("Content-Length", "0")
            try:
                link.endheaders()
                self.assertIn(link.getresponse().status, (431, 400))
            except ConnectionError:
                pass  # it was refused before all of it was sent
            link.close()
        self.assertEqual(self.pythiad.send(body).status, 200)
        self.assertIn(rig.ask(self.pythiad.http, "GET", "/" + "x" * (16 << 10)).status, (404, 414))

    def test_headers_of_grpc(self):
        """16 KiB as HTTP/2 counts them: name, value and 32 bytes for each."""
        body = otlp.protobuf([Span()])
        with grpc.Connection(self.pythiad.grpc) as link:
            link.call(b"")
            limit = link.settings[6]  # SETTINGS_MAX_HEADER_LIST_SIZE
            self.assertEqual(limit, 16 << 10)
            ours = [(":method", "POST"), (":scheme", "http"), (":path", grpc.EXPORT), (":authority", "127.0.0.1"),
                    ("content-type", "application/grpc"), ("te", "trailers")]
            used = sum(len(name) + len(value) + 32 for name, value in ours)
            for more, wanted in ((-1, grpc.OK), (0, grpc.OK), (1, grpc.RESOURCE_EXHAUSTED)):
                value = "x" * (limit - used - 32 - len("x-long") + more)
                # In one frame of at most 16 KiB: the peer's limit.
                block = grpc.pack_headers([*ours, ("x-long", value)])
                link.stream += 2
                link.frame(grpc.HEADERS, 0, link.stream, block[:16000])
                link.frame(grpc.CONTINUATION, grpc.END_HEADERS, link.stream, block[16000:])
                link.windows[link.stream] = link.first_window
                link.data(link.stream, grpc.framed(body))
                self.assertEqual(link.wait(link.stream).status, wanted, more)

    def test_a_request_that_came_while_the_loop_was_held_up(self):
        """It is not taken for one that did not come in time."""
        with socket.create_connection(("127.0.0.1", self.pythiad.http), 60) as link, grpc.Connection(self.pythiad.grpc) as other:
            rig.until(lambda: self.pythiad.get("/healthz").status == 200, 5)  # so that both were taken
            self.pythiad.signal(signal.SIGSTOP)
            link.sendall(b"GET /v1/traces HTTP/1.1\r\nHost: localhost\r\n\r\n")
            stream = other.begin()
            other.data(stream, grpc.framed(otlp.protobuf([Span()])))
            time.sleep(11)  # more than a header may take
            self.pythiad.signal(signal.SIGCONT)
            self.assertTrue(link.recv(1000).startswith(b"HTTP/1.1 405 "))
            self.assertEqual(other.wait(stream).status, grpc.OK)
        self.assertEqual(self.pythiad.metric("pythia_connections_timed_out_total"), 0)

    def long_list(self, link, references):
        """Send a list in which one header of 4000 bytes comes so many times; its stream."""
        link.stream += 2
        long = b"\x40\x01x" + b"\x7f" + bytes((4000 - 127 & 127 | 128, 4000 - 127 >> 7)) + b"y" * 4000
        ours = grpc.pack_headers([(":method", "POST"), (":scheme", "http"), (":path", grpc.EXPORT), (":authority", "x"),
                                  ("content-type", "application/grpc"), ("te", "trailers")])
        link.frame(grpc.HEADERS, grpc.END_HEADERS, link.stream, ours + long + b"\xbe" * (references - 1))
        return link.stream

    def test_lists_of_headers_that_are_too_long_again(self):
        """The first ends its stream, the next one its connection."""
        with grpc.Connection(self.pythiad.grpc) as link:
            reply = link.wait(self.long_list(link, 6))
            self.assertEqual((reply.status, reply.trailers_only), (grpc.RESOURCE_EXHAUSTED, True))
            while reply.reset is None:
                self.assertTrue(link.receive())
            self.assertEqual(reply.reset, 0)  # its sender need not go on
            self.assertEqual(link.call(otlp.protobuf([Span()])).status, grpc.OK)
            self.long_list(link, 6)
            while link.receive():
                pass
            self.assertEqual(link.goaway[1], 11)  # ENHANCE_YOUR_CALM
        metrics = self.pythiad.metrics()
        self.assertEqual((metrics["pythia_grpc_header_lists_refused_total"], metrics["pythia_grpc_connections_ended_total"]), (2, 1))

    def test_a_list_of_headers_that_is_far_too_long(self):
        """No more of it is decoded than four times the limit."""
        with grpc.Connection(self.pythiad.grpc) as link:
            self.long_list(link, 12000)
            while link.receive():
                pass
            self.assertEqual(link.goaway[1], 11)
        metrics = self.pythiad.metrics()
        self.assertEqual((metrics["pythia_grpc_header_lists_refused_total"], metrics["pythia_grpc_connections_ended_total"]), (1, 1))

    def test_trailers_that_are_too_long(self):
        with grpc.Connection(self.pythiad.grpc) as link:
            stream = link.begin()
            link.data(stream, grpc.framed(otlp.protobuf([Span()])), ends=False)
            link.frame(grpc.HEADERS, grpc.END_HEADERS | grpc.END_STREAM, stream,
                       grpc.pack_headers([(f"x-{i}", "y" * 1000) for i in range(16)]))
            self.assertEqual(link.wait(stream).status, grpc.RESOURCE_EXHAUSTED)
        self.assertEqual(self.pythiad.metric("pythia_spans_total"), 0)

    def test_headers_that_never_end(self):
        """CONTINUATION frames without an end (CVE-2024-28182) end the connection; memory stays."""
        before = self.pythiad.memory()
        with grpc.Connection(self.pythiad.grpc) as link:
            link.frame(grpc.HEADERS, 0, 1, grpc.pack_headers([(":method", "POST")]))
            more = grpc.pack_headers([("x", "y" * 1000)])
            try:
                for _ in range(20000):
                    link.frame(grpc.CONTINUATION, 0, 1, more)
                while link.receive():
                    pass
            except ConnectionError:
                link.ended = True
            self.assertTrue(link.ended or link.goaway)
        if not rig.SANITIZER:
            self.assertLess(self.pythiad.memory() - before, 4 << 20)


    def connect(self):
        """A connection with a call whose body has not begun; its stream."""
        link = grpc.Connection(self.pythiad.grpc)
        self.addCleanup(link.close)
        return link, link.begin()

    def test_frames_without_content_end_their_connection(self):
        """64 KiB of them are accepted, heads included: 7281 empty frames, and 3855 pings."""
        empty = (("data", lambda stream: grpc.Connection.pack(grpc.DATA, 0, stream, b"")),
                 ("padding", lambda stream: grpc.Connection.pack(grpc.DATA, 8, stream, b"\xff" + bytes(255))),
                 ("window updates", lambda stream: grpc.Connection.pack(grpc.WINDOW_UPDATE, 0, stream, b"\0\0\0\1")),
                 ("priorities", lambda stream: grpc.Connection.pack(2, 0, stream, b"\0\0\0\0\x10")),
                 ("answers to pings", lambda stream: grpc.Connection.pack(grpc.PING, grpc.ACK, 0, bytes(8))),
                 ("unknown", lambda stream: grpc.Connection.pack(99, 0, stream, b"")))
        for number, (name, make) in enumerate(empty):
            with self.subTest(name):
                link, stream = self.connect()
                frame = make(stream)
                try:
                    link.socket.sendall(frame * (2 * (64 << 10) // len(frame)))
                    while link.receive():
                        pass
                except ConnectionError:
                    link.ended = True
                self.assertTrue(link.ended)
                self.assertEqual(self.pythiad.metric("pythia_grpc_connections_ended_total"), number + 1)

    def test_content_pays_for_frames_without_it(self):
        """Empty frames below the limit, before each message that is larger than all of them."""
        link, stream = self.connect()
        body = otlp.protobuf([Span(attributes={"long": "x" * 1000}) for _ in range(80)])
        self.assertGreater(len(body), 64 << 10)
        for _ in range(4):
            link.socket.sendall(grpc.Connection.pack(grpc.DATA, 0, stream, b"") * 7200)
            link.data(stream, grpc.framed(body))
            self.assertEqual(link.wait(stream).status, grpc.OK)
            stream = link.begin()
        self.assertEqual(self.pythiad.metric("pythia_grpc_connections_ended_total"), 0)

    def test_calls_pay_for_what_clients_send_beside_them(self):
        """A ping and window updates with each of 2000 empty calls."""
        link, stream = self.connect()
        for _ in range(2000):
            for _ in range(2):
                link.frame(grpc.WINDOW_UPDATE, 0, 0, b"\0\0\0\1")
            link.frame(grpc.PING, 0, 0, bytes(8))
            link.data(stream, grpc.framed(b""))
            self.assertEqual(link.wait(stream).status, grpc.OK)
            stream = link.begin()
        self.assertEqual(self.pythiad.metric("pythia_grpc_connections_ended_total"), 0)


class Spans(unittest.TestCase):
    pythiad = None

    def metric(self, name):
        return self.pythiad.metric(f'pythia_spans_dropped_total{{reason="{name}"}}')

    def tearDown(self):
        if self.pythiad:
            self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def test_key_values_of_a_span(self):
        self.pythiad = rig.Pythiad(self, "--attributes-max=20")
        for count, dropped in ((19, 0), (20, 0), (21, 1), (120, 100)):
            for way, body, kind in (("protobuf", otlp.protobuf, rig.PROTOBUF), ("json", otlp.as_json, rig.JSON)):
                before = self.metric("attribute")
                span = Span(attributes={f"key-{i}": "v" for i in range(count)})
                self.assertEqual(self.pythiad.send(body([span]), kind).status, 200)
                self.assertEqual(self.metric("attribute") - before, dropped, (way, count))
        before = self.metric("attribute")
        tags = Span().zipkin() | {"tags": {f"key-{i}": "v" for i in range(21)}}
        self.assertEqual(rig.ask(self.pythiad.zipkin, "POST", "/api/v2/spans", otlp.zipkin([tags]), rig.JSON).status, 202)
        self.assertEqual(self.metric("attribute") - before, 1)

    def ways(self, span):
        """(name, a function that sends the span and checks the answer) of each way that has attributes and events."""
        notes = [{"timestamp": span.start // 1000, "value": event if isinstance(event, str) else event[0]}
                 for event in span.events]
        tags = span.zipkin() | {"tags": span.attributes, "annotations": notes}
        return (("protobuf", lambda: self.assertEqual(self.pythiad.send(otlp.protobuf([span])).status, 200)),
                ("json", lambda: self.assertEqual(self.pythiad.send(otlp.as_json([span]), rig.JSON).status, 200)),
                ("zipkin", lambda: self.assertEqual(
                    rig.ask(self.pythiad.zipkin, "POST", "/api/v2/spans", otlp.zipkin([tags]), rig.JSON).status, 202)))

    def dropped(self, send):
        """What is counted as dropped, by reason, once `send` was called."""
        before = {name: self.metric(name) for name in ("attribute", "event", "link")}
        send()
        return tuple(int(self.metric(name) - before[name]) for name in before)

    def test_events_and_links(self):
        """Events do not count as key-values of the span; what they say does, for all of them together."""
        self.pythiad = rig.Pythiad(self, "--attributes-max=30", "--events-max=20", "--links-max=10")
        for events, dropped in ((19, 0), (20, 0), (21, 1), (120, 100)):
            span = Span(events=[f"event {i}" for i in range(events)], attributes={f"key-{i}": "v" for i in range(30)})
            for way, send in self.ways(span):
                self.assertEqual(self.dropped(send), (0, dropped, 0), (way, events))
        for values, dropped in ((29, 0), (30, 0), (31, 1)):
            half = values // 2
            span = Span(events=[("a", {f"key-{i}": "v" for i in range(half)}),
                                ("b", {f"key-{i}": "v" for i in range(values - half)})],
                        attributes={f"key-{i}": "v" for i in range(30)})
            for way, send in self.ways(span)[:2]:  # Zipkin's have none
                self.assertEqual(self.dropped(send), (dropped, 0, 0), (way, values))
        for links, dropped in ((9, 0), (10, 0), (11, 1), (200, 190)):
            for way, send in self.ways(Span(links=links))[:2]:
                self.assertEqual(self.dropped(send), (0, 0, dropped), (way, links))
        self.assertLess(self.pythiad.metric("pythia_window_bytes"), 64 << 10)

    def test_the_defaults_are_128(self):
        self.pythiad = rig.Pythiad(self)
        for count, over in ((127, 0), (128, 0), (129, 1)):
            names = [f"name-{i}" for i in range(count)]
            for what, span, dropped in (("attributes", Span(attributes=dict.fromkeys(names, "v")), (over, 0, 0)),
                                        ("events", Span(events=names), (0, over, 0)),
                                        ("links", Span(links=count), (0, 0, over))):
                for way, send in self.ways(span)[:2 if what == "links" else 3]:
                    self.assertEqual(self.dropped(send), dropped, (what, way, count))

    def test_limits_are_shown(self):
        defaults = {"body-max": 4 << 20, "inflated-max": 16 << 20, "attributes-max": 128, "value-max": 160, "events-max": 128,
                    "links-max": 128, "request-spans-max": 100000, "connections": 256, "streams": 100}
        defaults |= {"memory": 100 << 20, "memory-hard": 125 << 20}
        given = ["--body-max=2M", "--value-max=1000", "--links-max=7", "--memory=100M"]
        code, said = rig.run(self, "--check-config", *given)
        self.assertEqual(code, 0, said)
        self.assertIn("body-max=2M, inflated-max=16M, attributes-max=128, value-max=1000, events-max=128, links-max=7, "
                      "request-spans-max=100000, connections=256, streams=100, memory=100M, memory-hard=125M", said)
        self.pythiad = rig.Pythiad(self, *given, env={"PYTHIAD_STREAMS": "9"}, config="events-max: 8\n")
        wanted = defaults | {"body-max": 2 << 20, "value-max": 1000, "links-max": 7, "streams": 9, "events-max": 8}
        self.assertEqual(self.pythiad.get("/v1/status").json["limits"], wanted)
        metrics = self.pythiad.metrics()
        self.assertEqual({name: metrics[f'pythia_limit{{name="{name}"}}'] for name in wanted}, wanted)
        shown = self.pythiad.ctl("status").stdout
        self.assertIn("limits: body-max 2097152, inflated-max 16777216, attributes-max 128, value-max 1000, events-max 8, "
                      "links-max 7, request-spans-max 100000, connections 256, streams 9, memory 104857600, "
                      "memory-hard 131072000\n", shown)

    def test_limits_that_are_none(self):
        numbers = {"attributes-max": "65537", "events-max": "65537", "links-max": "65537", "connections": "65537",
                   "streams": "65537", "request-spans-max": "100000001"}
        sizes = {"body-max": "2G", "inflated-max": "5G", "value-max": "4097"}
        for name, too_large in (numbers | sizes).items():
            for value in ("0", "-1", too_large, "many", "", "1.5"):
                code, said = rig.run(self, "--check-config", f"--{name}={value}")
                self.assertEqual(code, 2, (name, value, said))
                self.assertRegex(said, f"--{name} requires a number (of bytes )?from .*, not '{value}'")
        code, said = rig.run(self, "--check-config", "--value-max=31")
        self.assertEqual((code, "from 32 to 4K, not '31'" in said), (2, True), said)

    def test_a_long_value_is_held_short_and_counted(self):
        self.pythiad = rig.Pythiad(self, "--quiet-ms=50", "--cycle-requests=30", "--cycle-seconds=1", "--learn-requests=10")
        cut = 'pythia_values_cut_total{reason="length"}'
        self.values_are_cut(cut, ((159, 0), (160, 0), (161, 1), (4 << 10, 1), (3 << 20, 1)))
        self.assertLess(self.pythiad.metric("pythia_window_bytes"), 64 << 10)
        # The report has it among what came in.
        def reported():
            for _ in range(40):
                self.pythiad.send(otlp.protobuf(otlp.request(("a", "b"))))
            return self.pythiad.metric("pythia_cycles_total")
        rig.until(reported, 10)
        self.assertEqual(self.pythiad.get("/v1/report").json["input"]["long_values"], 9)

    def test_a_value_may_be_of_4_KiB(self):
        self.pythiad = rig.Pythiad(self, "--value-max=4K")
        self.values_are_cut('pythia_values_cut_total{reason="length"}', ((4095, 0), (4096, 0), (4097, 1)))

    def values_are_cut(self, cut, sizes):
        for size, counted in sizes:
            span = Span(attributes={"key": "v" * size, "short": "v"})
            for send in (lambda span=span: self.pythiad.send(otlp.protobuf([span])).status,
                         lambda span=span: self.pythiad.send(otlp.as_json([span]), rig.JSON).status,
                         lambda span=span: rig.ask(self.pythiad.zipkin, "POST", "/api/v2/spans", otlp.zipkin(
                             [span.zipkin() | {"tags": span.attributes}]), rig.JSON).status - 2):
                before = self.pythiad.metric(cut)
                self.assertEqual(send(), 200)
                self.assertEqual(self.pythiad.metric(cut) - before, counted, size)

    def test_spans_of_a_request(self):
        self.pythiad = rig.Pythiad(self, "--request-spans-max=1000", "--quiet-ms=50")
        for count, dropped in ((999, 0), (1000, 0), (1001, 1)):
            before = self.metric("oversize")
            spans = otlp.request([f"step {i % 10}" for i in range(count - 1)])
            self.assertEqual(len(spans), count)
            finished = self.pythiad.metric('pythia_requests_finished_total{by="any"}')
            self.pythiad.send(otlp.protobuf(spans))
            rig.until(lambda finished=finished:
                      self.pythiad.metric('pythia_requests_finished_total{by="any"}') > finished, 10)
            self.assertEqual(self.metric("oversize") - before, dropped, count)
        self.pythiad.stop()
        self.assertIn("spans=3000, kept=2999,", self.pythiad.log)

    def test_a_million_spans_in_one_request(self):
        if rig.SANITIZER:
            self.skipTest("a million spans are for a plain build")
        self.pythiad = rig.Pythiad(self, "--quiet-ms=10000")
        trace, last = b"t" * 16, b""
        begin = time.time_ns()
        for _ in range(50):
            spans = []
            for _ in range(20000):
                span = Span("deep", trace, parent=last, start=begin, length=1000)
                last = span.id
                spans.append(span)
            self.assertEqual(self.pythiad.send(otlp.protobuf(spans)).status, 200)
        rig.until(lambda: self.pythiad.metric("pythia_open_spans") == 0, 20)
        self.assertEqual(self.metric("oversize"), 900000)
        self.assertEqual(self.pythiad.metric('pythia_requests_finished_total{by="size"}'), 1)
        self.assertLess(self.pythiad.memory("VmHWM"), 256 << 20)


class Bombs(unittest.TestCase):
    """Fault 8: 1 GiB in 1 MiB is refused for good within 0.2 s of the daemon's time and with less than 32 MiB more memory,
    whatever it consists of."""

    def setUp(self):
        self.pythiad = rig.Pythiad(self)
        for _ in range(5):  # what is needed anyway
            body = gzip.compress(otlp.protobuf([Span()]))
            self.pythiad.send(body, Content_Encoding="gzip")
            self.pythiad.send(otlp.zstd(otlp.as_json([Span()])), rig.JSON, Content_Encoding="zstd")
        with grpc.Connection(self.pythiad.grpc) as link:
            link.call(body, True, coding="gzip")

    def tearDown(self):
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    @staticmethod
    def gzip_bomb(byte, head=b""):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        begin = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
        piece = packer.compress(byte * ((64 << 20) // len(byte))) + packer.flush(zlib.Z_FULL_FLUSH)
        return begin + piece * 16  # behind a full flush the same bytes mean the same again

    def defuse(self, what, send):
        before, took = self.pythiad.memory("VmHWM"), []
        for _ in range(3):
            begun = self.pythiad.cpu_seconds()  # others use this machine too
            self.assertIn(send(), (413, grpc.RESOURCE_EXHAUSTED), what)
            took.append(self.pythiad.cpu_seconds() - begun)
        rig.within(self, max(took), .2, f"CPU time of {what}")
        if not rig.SANITIZER:
            self.assertLess(self.pythiad.memory("VmHWM") - before, 32 << 20, what)

    def everywhere(self, what, coding, bomb, kinds=(rig.PROTOBUF, rig.JSON)):
        self.assertLess(len(bomb), 4 << 20)
        for kind in kinds:
            self.defuse((what, kind), lambda kind=kind: self.pythiad.send(bomb, kind, Content_Encoding=coding).status)
        if rig.JSON in kinds:
            self.defuse((what, "zipkin"), lambda: rig.ask(self.pythiad.zipkin, "POST", "/api/v2/spans", bomb, rig.JSON,
                                                          Content_Encoding=coding).status)
        if rig.PROTOBUF in kinds:
            with grpc.Connection(self.pythiad.grpc) as link:
                self.defuse((what, "grpc"), lambda: link.call(bomb, True, coding=coding).status)

    SPANS = b'{"resourceSpans":[{"scopeSpans":[{"spans":['
    VALUE = b'{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":'

    def test_gzip_of_json(self):
        for what, piece, head in (("spaces", b" ", b""),
                                  ("a text", b"a", b'{"resourceSpans":[{"resource":{"x":"'),
                                  ("brackets", b"[", b'{"resourceSpans":['),
                                  ("brackets at the top", b"[", b""),
                                  ("brackets in a value", b"[", self.VALUE + b'{"arrayValue":{"values":['),
                                  ("objects in objects", b'{"a":', b'{"x":'),
                                  ("objects in objects in a list", b'{"a":', b'{"resourceSpans":['),
                                  ("values in values", b'{"kvlistValue":{"values":[{"key":"a","value":', self.VALUE),
                                  ("empty resources", b"{},", b'{"resourceSpans":['),
                                  ("empty spans", b"{},", self.SPANS),
                                  ("empty documents", b"{}\n", b""),
                                  ("numbers for spans", b"1,", self.SPANS),
                                  ("texts for spans", b'"",', self.SPANS)):
            self.everywhere(what, "gzip", self.gzip_bomb(piece, head), (rig.JSON,))

    def test_gzip_of_protobuf(self):
        record = otlp.varint(1 << 3 | 2) + otlp.varint(GIB)  # one field of a GiB, and in it one span
        empty = otlp.message(1, otlp.message(2, otlp.message(2, b"")))  # spans without anything in them
        for what, piece, head in (("zeros", b"\0", b""), ("a field", b"\0", record * 3),
                                  ("fields in fields", otlp.varint(1 << 3 | 2) + otlp.varint((1 << 31) - 1), b""),
                                  ("broken spans", empty * 64, b""), ("groups", b"\x0b", b"")):
            self.everywhere(what, "gzip", self.gzip_bomb(piece, head), (rig.PROTOBUF,))

    def test_zstd(self):
        self.everywhere("zeros", "zstd", otlp.zstd_bomb(GIB, b"\0"), (rig.PROTOBUF,))
        self.everywhere("spaces", "zstd", otlp.zstd_bomb(GIB, b" "), (rig.JSON,))
        self.everywhere("brackets", "zstd", otlp.zstd_bomb(GIB, b"["), (rig.JSON,))
        # Its header says that it is small, that it is large, that it is larger than anything.
        for stated in (1, GIB, (1 << 63) + 5):
            bomb = otlp.zstd_bomb(GIB, b"\0", stated)
            before, cpu = self.pythiad.memory("VmHWM"), self.pythiad.cpu_seconds()
            self.assertIn(self.pythiad.send(bomb, Content_Encoding="zstd").status, (400, 413), stated)
            rig.within(self, self.pythiad.cpu_seconds() - cpu, .2, f"CPU time of a bomb that states {stated} bytes")
            if not rig.SANITIZER:
                self.assertLess(self.pythiad.memory("VmHWM") - before, 32 << 20, stated)

    def test_what_expands_much_and_keeps_the_limit_is_taken(self):
        """16 MiB in 20 KiB: looked at to its end before, and then taken."""
        body = otlp.protobuf([Span()] * 200) + otlp.message(15, b"\0" * ((16 << 20) - (64 << 10)))
        for coding, pack in (("gzip", gzip.compress), ("zstd", otlp.zstd_of)):
            before = self.pythiad.metric("pythia_spans_total")
            self.assertLess(len(pack(body)), 64 << 10)
            self.assertEqual(self.pythiad.send(pack(body), Content_Encoding=coding).status, 200)
            self.assertEqual(self.pythiad.metric("pythia_spans_total") - before, 200)
        # What is broken behind its middle is told as ever.
        self.assertEqual(self.pythiad.send(gzip.compress(body)[:-20], Content_Encoding="gzip").status, 200)

    def test_broken_records_of_a_body(self):
        """At one below the limit, at it and one above; none of the last is taken."""
        good = otlp.message(1, otlp.message(2, b"".join([otlp.message(2, Span().protobuf())])))
        most = 100000
        for count, status in ((most - 1, 200), (most, 200), (most + 1, 413)):
            for kind in (rig.PROTOBUF, rig.JSON):
                spans, cpu = self.pythiad.metric("pythia_spans_total"), self.pythiad.cpu_seconds()
                if kind == rig.PROTOBUF:
                    body = good + otlp.message(1, otlp.message(2, otlp.message(2, b"") * count))
                else:
                    body = otlp.as_json([Span()]).replace(b'"spans": [', b'"spans": [' + b"{}," * count)
                    self.assertEqual(body.count(b"{},"), count)
                answer = self.pythiad.send(body, kind)
                self.assertEqual(answer.status, status, (count, kind, answer.body[:300]))
                self.assertEqual(self.pythiad.metric("pythia_spans_total") - spans, int(status == 200))
                if status == 413:
                    self.assertIn(b"more than 100000 of its records are broken; the first: body", answer.body)
                elif kind == rig.JSON:
                    self.assertEqual(answer.json["partialSuccess"]["rejectedSpans"], str(count))
                rig.within(self, self.pythiad.cpu_seconds() - cpu, .2, f"CPU time of {count} broken records")

    def test_packed_twice_is_unpacked_once(self):
        inner = gzip.compress(otlp.protobuf([Span()]))
        self.assertEqual(self.pythiad.send(gzip.compress(inner), Content_Encoding="gzip").status, 400)
        self.assertEqual(self.pythiad.send(gzip.compress(inner), Content_Encoding="gzip, gzip").status, 415)

    def test_many_members_of_nothing(self):
        """Empty members and frames, by the hundred thousand, come to an end."""
        for coding, member in (("gzip", gzip.compress(b"")), ("zstd", otlp.zstd(b""))):
            begun = time.monotonic()
            body = member * ((4 << 20) // len(member))
            self.assertEqual(self.pythiad.send(body, Content_Encoding=coding).status, 200, coding)
            rig.within(self, time.monotonic() - begun, 2, f"4 MiB of empty members of {coding}")


if __name__ == "__main__":
    rig.main()
