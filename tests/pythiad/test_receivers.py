#!/usr/bin/env python3
"""What senders are answered: OTLP over HTTP and gRPC, and Zipkin. usage: test_receivers.py BIN [SANITIZER]"""
import gzip
import http.client
import json
import random
import subprocess
import unittest

import grpc
import otlp
import rig
from otlp import Span


class Case(unittest.TestCase):
    options = ()

    def setUp(self):
        self.pythiad = rig.Pythiad(self, *self.options)

    def tearDown(self):
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def spans(self):
        return self.pythiad.metric("pythia_spans_total")


class OtlpOverHttp(Case):
    def test_protobuf_and_json_give_the_same_spans(self):
        spans = otlp.request(("a", "b"))
        answer = self.pythiad.send(otlp.protobuf(spans))
        self.assertEqual((answer.status, answer.body, answer.headers["Content-Type"]), (200, b"", rig.PROTOBUF))
        self.assertEqual(self.spans(), 3)
        answer = self.pythiad.send(otlp.as_json(spans), rig.JSON)
        self.assertEqual((answer.status, answer.json, answer.headers["Content-Type"]), (200, {}, rig.JSON))
        self.assertEqual(self.spans(), 6)
        self.pythiad.stop()
        # Sent twice, counted once: both encodings had the same ids.
        self.assertIn("spans=6, kept=3,", self.pythiad.log)

    def test_a_body_may_be_packed(self):
        body, text = otlp.protobuf([Span(), Span()]), otlp.as_json([Span(), Span()])
        for coding, packed in (("gzip", gzip.compress(body)), ("x-gzip", gzip.compress(body)), ("zstd", otlp.zstd(body)),
                               ("identity", body), ("GZIP", gzip.compress(body))):
            self.assertEqual(self.pythiad.send(packed, Content_Encoding=coding).status, 200, coding)
        done = subprocess.run(["zstd", "-q", "-c"], input=text, capture_output=True, check=True)
        for coding, packed in (("gzip", gzip.compress(text)), ("zstd", done.stdout)):
            self.assertEqual(self.pythiad.send(packed, rig.JSON, Content_Encoding=coding).status, 200, coding)
        self.assertEqual(self.spans(), 14)

    def test_an_unknown_coding_is_refused_for_good(self):
        answer = self.pythiad.send(b"x", Content_Encoding="br")
        self.assertEqual((answer.status, answer.headers["Accept-Encoding"]), (415, "gzip, zstd"))
        self.assertEqual(otlp.status(answer.body)[0], grpc.INVALID_ARGUMENT)
        self.assertIsNone(answer.headers["Retry-After"])

    def test_an_empty_body_says_nothing_and_is_no_fault(self):
        answer = self.pythiad.send(b"")
        self.assertEqual((answer.status, answer.body), (200, b""))
        answer = self.pythiad.send(b"{}", rig.JSON)
        self.assertEqual((answer.status, answer.json), (200, {}))
        self.assertEqual(self.spans(), 0)

    def test_another_content_type_is_refused(self):
        for kind in ("text/plain", "application/x-protobuffer", "application/jsonp", None):
            answer = self.pythiad.send(otlp.protobuf([Span()]), kind)
            self.assertEqual(answer.status, 415, kind)
        for kind in ("application/x-protobuf; charset=utf-8", "Application/X-Protobuf"):
            self.assertEqual(self.pythiad.send(otlp.protobuf([Span()]), kind).status, 200, kind)

    def test_a_body_of_which_nothing_can_be_read_is_refused_in_its_own_encoding(self):
        for body in (b"garbage", b"\xff" * 50, otlp.protobuf([Span()])[:20], otlp.protobuf([Span(trace=b"abc")])):
            answer = self.pythiad.send(body)
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (400, rig.PROTOBUF), body)
            code, why = otlp.status(answer.body)
            self.assertEqual(code, grpc.INVALID_ARGUMENT)
            self.assertTrue(why.startswith("body: "), why)
            self.assertIsNone(answer.headers["Retry-After"])
        for body in (b"{", b"no JSON", otlp.as_json([{"traceId": "no id"}])):
            answer = self.pythiad.send(body, rig.JSON)
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (400, rig.JSON), body)
            self.assertEqual(answer.json["code"], grpc.INVALID_ARGUMENT)
            self.assertIn("body:1: ", answer.json["message"])
        for packed in (b"no gzip", gzip.compress(otlp.protobuf([Span()]))[:-20]):
            self.assertEqual(self.pythiad.send(packed, Content_Encoding="gzip").status, 400, packed)
        self.assertEqual(self.spans(), 0)

    def test_another_method_or_path_is_refused(self):
        pythiad = self.pythiad
        self.assertEqual(rig.ask(pythiad.http, "GET", "/v1/traces").status, 405)
        self.assertEqual(rig.ask(pythiad.http, "PUT", "/v1/traces", b"{}", rig.JSON).status, 405)
        for path in ("/v1/metric", "/v1/traces/", "/", "/v1/traces/../traces", "/v1/status", "/metrics"):
            self.assertEqual(rig.ask(pythiad.http, "POST", path, b"{}", rig.JSON).status, 404, path)

    def test_what_could_not_be_read_is_told_with_the_rest_taken(self):
        broken = [Span(trace=b"abc"), Span(span=b"1234567")]
        answer = self.pythiad.send(otlp.protobuf([Span(), *broken, Span()]))
        self.assertEqual(answer.status, 200)
        count, why = otlp.partial_success(answer.body)
        self.assertEqual((count, "traceId has 3 bytes, expected 16" in why), (2, True), why)
        answer = self.pythiad.send(otlp.as_json([Span(), {"traceId": "no id"}]), rig.JSON)
        self.assertEqual(answer.status, 200)
        partial = answer.json["partialSuccess"]
        self.assertEqual(partial["rejectedSpans"], "1")  # a number of 64 bits is a text in protobuf's JSON
        self.assertIn("is not an id", partial["errorMessage"])
        metrics = self.pythiad.metrics()
        self.assertEqual(metrics["pythia_spans_total"], 3)
        self.assertEqual(metrics["pythia_records_broken_total"], 3)
        self.assertEqual(metrics['pythia_spans_dropped_total{reason="broken_record"}'], 3)

    def test_a_packed_body_that_ends_early_is_told_with_what_there_was(self):
        body = b"".join(otlp.protobuf([Span()]) for _ in range(2000))
        cut = gzip.compress(body)[:-3000]
        answer = self.pythiad.send(cut, Content_Encoding="gzip")
        count, why = otlp.partial_success(answer.body)
        self.assertEqual((answer.status, count >= 1, "end prematurely" in why), (200, True, True), why)
        self.assertTrue(0 < self.spans() < 2000)

    def test_many_requests_on_one_connection(self):
        link = http.client.HTTPConnection("127.0.0.1", self.pythiad.http, timeout=60)
        for i in range(200):
            answer = rig.on(link, "POST", "/v1/traces", otlp.protobuf([Span()]), rig.PROTOBUF)
            self.assertEqual(answer.status, 200, i)
        link.close()
        self.assertEqual(self.spans(), 200)

    def test_a_body_in_chunks(self):
        body = otlp.protobuf([Span() for _ in range(100)])
        link = http.client.HTTPConnection("127.0.0.1", self.pythiad.http, timeout=60)
        link.request("POST", "/v1/traces", iter([body[:10], body[10:5000], body[5000:]]), {"Content-Type": rig.PROTOBUF},
                     encode_chunked=True)
        self.assertEqual(link.getresponse().status, 200)
        link.close()
        self.assertEqual(self.spans(), 100)


class OtherSignals(Case):
    """Stock agents send metrics and logs to where their traces go, and log an error for each refusal."""

    def dropped(self):
        return {s: self.pythiad.metric(f'pythia_signals_dropped_total{{signal="{s}"}}') for s in ("metrics", "logs")}

    def test_metrics_and_logs_are_answered_counted_and_dropped(self):
        for signal in ("metrics", "logs"):
            for kind, body in ((rig.PROTOBUF, b""), (rig.JSON, b"{}")):
                answer = rig.ask(self.pythiad.http, "POST", f"/v1/{signal}", b"\x0a\x00", kind)
                self.assertEqual((answer.status, answer.body, answer.headers["Content-Type"]), (200, body, kind))
            self.assertEqual(rig.ask(self.pythiad.http, "POST", f"/v1/{signal}", b"x", "text/plain").status, 415)
        self.assertEqual(self.dropped(), {"metrics": 2, "logs": 2})
        with grpc.Connection(self.pythiad.grpc) as link:
            for path in ("metrics.v1.MetricsService", "logs.v1.LogsService"):
                reply = link.call(b"\x0a\x00", path=f"/opentelemetry.proto.collector.{path}/Export")
                self.assertEqual((reply.status, reply.message), (grpc.OK, ""), path)
        self.assertEqual(self.dropped(), {"metrics": 3, "logs": 3})
        self.assertEqual((self.spans(), self.pythiad.metric("pythia_bodies_total")), (0, 0))
        for signal in ("metrics", "logs"):
            self.assertEqual(self.pythiad.log.count(f"it is answered and dropped: signal={signal}"), 1)


class Zipkin(Case):
    def send(self, body, kind=rig.JSON, **headers):
        return rig.ask(self.pythiad.zipkin, "POST", "/api/v2/spans", body, kind, **headers)

    def test_spans_are_accepted(self):
        answer = self.send(otlp.zipkin(otlp.request(("a", "b"))))
        self.assertEqual((answer.status, answer.body), (202, b""))
        body = otlp.zipkin([Span()])
        self.assertEqual(self.send(gzip.compress(body), Content_Encoding="gzip").status, 202)
        self.assertEqual(self.spans(), 4)

    def test_what_is_no_zipkin_is_refused(self):
        self.assertEqual(self.send(b"[{").status, 400)
        self.assertEqual(self.send(json.dumps([{"traceId": "no id"}]).encode()).status, 400)
        self.assertEqual(self.send(b"[]", "application/x-thrift").status, 415)
        self.assertEqual(rig.ask(self.pythiad.zipkin, "POST", "/api/v1/spans", b"[]", rig.JSON).status, 404)
        self.assertEqual(rig.ask(self.pythiad.zipkin, "GET", "/api/v2/spans").status, 405)
        self.assertEqual(self.spans(), 0)

    def test_the_rest_of_a_body_with_a_broken_span_is_taken(self):
        self.assertEqual(self.send(otlp.zipkin([Span(), {"traceId": "no id"}, Span()])).status, 202)
        metrics = self.pythiad.metrics()
        self.assertEqual((metrics["pythia_spans_total"], metrics["pythia_records_broken_total"]), (2, 1))


class OtlpOverGrpc(Case):
    def setUp(self):
        super().setUp()
        self.link = grpc.Connection(self.pythiad.grpc)
        self.addCleanup(self.link.close)

    def test_a_call(self):
        reply = self.link.call(otlp.protobuf([Span(), Span()]))
        self.assertEqual((reply.status, reply.answer), (grpc.OK, b""))
        self.assertEqual((reply.headers[":status"], reply.headers["content-type"]), ("200", "application/grpc"))
        self.assertEqual(reply.blocks, 2)  # headers, and trailers behind the message
        self.assertEqual(self.spans(), 2)

    def test_messages_may_be_packed(self):
        body = otlp.protobuf([Span(), Span()])
        self.assertEqual(self.link.call(gzip.compress(body), True, coding="gzip").status, grpc.OK)
        self.assertEqual(self.link.call(otlp.zstd(body), True, coding="zstd").status, grpc.OK)
        # A call whose messages could be packed, with one that is not.
        self.assertEqual(self.link.call(body, False, coding="gzip").status, grpc.OK)
        self.assertEqual(self.spans(), 6)

    def test_an_unknown_coding(self):
        reply = self.link.call(b"x", True, coding="snappy")
        self.assertEqual((reply.status, reply.trailers_only), (grpc.UNIMPLEMENTED, True))
        self.assertIn("gzip", reply.headers["grpc-accept-encoding"])
        # Packed, and nobody said how.
        self.assertEqual(self.link.call(gzip.compress(otlp.protobuf([Span()])), True).status, grpc.INTERNAL)
        self.assertEqual(self.spans(), 0)

    def test_trailers_change_nothing(self):
        """Not how a message is decoded, and not whether there is such a method (RFC 9113, 8.1: they come after the body)."""
        body = otlp.protobuf([Span(), Span()])
        for content, coding, trailers in ((body, None, [("grpc-encoding", "gzip")]), (gzip.compress(body), "gzip", [("grpc-encoding", "identity")]),
                                          (body, None, [("grpc-encoding", "snappy"), ("content-type", "text/plain")])):
            stream = self.link.begin(coding=coding)
            self.link.data(stream, grpc.framed(content, bool(coding)), ends=False)
            self.link.frame(grpc.HEADERS, grpc.END_HEADERS | grpc.END_STREAM, stream, grpc.pack_headers(trailers))
            self.assertEqual(self.link.wait(stream).status, grpc.OK, trailers)
        self.assertEqual(self.spans(), 6)

    def test_what_comes_after_a_refusal_is_not_read(self):
        for how in ({"path": "/"}, {"coding": "snappy"}):
            stream = self.link.begin(**how)
            reply = self.link.wait(stream)
            self.assertEqual(reply.status, grpc.UNIMPLEMENTED)
            while reply.reset is None:
                self.assertTrue(self.link.receive())
            self.assertEqual(reply.reset, 0)  # NO_ERROR
        self.assertEqual(self.link.call(otlp.protobuf([Span()])).status, grpc.OK)

    def test_a_broken_message(self):
        reply = self.link.call(b"garbage")
        self.assertEqual((reply.status, reply.trailers_only), (grpc.INVALID_ARGUMENT, True))
        self.assertTrue(reply.message.startswith("body: "), reply.message)
        self.assertEqual(reply.details, b"")
        # The length in front of it is not true, or there is none, or there are two messages.
        for content in (b"", b"\0\0", grpc.framed(b"abc")[:-1], grpc.framed(b"") * 2, b"\7" + grpc.framed(b"")[1:],
                        b"\0\xff\xff\xff\xff" + 100 * b"x"):
            stream = self.link.begin()
            self.link.data(stream, content)
            self.assertEqual(self.link.wait(stream).status, grpc.INTERNAL, content)
        self.assertEqual(self.link.call(otlp.protobuf([Span()])).status, grpc.OK)

    def test_names_of_errors_cannot_break_the_headers(self):
        reply = self.link.call(otlp.message(1, b"\x0a\x03\r\n\0"))
        self.assertEqual(reply.status, grpc.INVALID_ARGUMENT)
        self.assertEqual([c for c in reply.trailers["grpc-message"] if not " " <= c <= "~"], [])

    def test_an_unknown_method(self):
        for how in ({"path": "/opentelemetry.proto.collector.profiles.v1.ProfilesService/Export"}, {"path": "/"},
                    {"path": grpc.EXPORT + "/"}):
            reply = self.link.call(b"", **how)
            self.assertEqual((reply.status, reply.trailers_only), (grpc.UNIMPLEMENTED, True), how)
        self.assertEqual(self.link.call(otlp.protobuf([Span()]), kind="application/grpc+proto").status, grpc.OK)

    def test_a_request_that_is_no_call(self):
        """It is answered as in HTTP, with a sentence; if its body is long, before that has come."""
        for how, status, text in (({"method": "PUT"}, "405", b"POST only"), ({"method": "GET", "path": "/"}, "405", b"POST only"),
                                  ({"kind": "application/json"}, "415", b"application/grpc")):
            reply = self.link.call(b"{}", **how)
            self.assertEqual((reply.headers[":status"], reply.headers["content-type"]), (status, "text/plain; charset=utf-8"), how)
            self.assertIn(text, reply.body)
            stream = self.link.begin(**how)
            self.assertFalse(self.link.replies[stream].done)
            self.link.data(stream, bytes(70 << 10), ends=False)
            reply = self.link.wait(stream)
            while reply.reset is None:
                self.assertTrue(self.link.receive())
            self.assertEqual((reply.headers[":status"], reply.reset), (status, 0))
        self.assertEqual(self.link.call(otlp.protobuf([Span()])).status, grpc.OK)

    def test_a_message_in_many_frames(self):
        body = otlp.protobuf([Span() for _ in range(50)])
        for piece in (1, 2, 4, 5, 6, 7):  # what is in front of the message is in several frames, too
            stream = self.link.begin()
            self.link.data(stream, grpc.framed(body), piece=piece)
            self.assertEqual(self.link.wait(stream).status, grpc.OK, piece)
        self.assertEqual(self.spans(), 300)

    def test_calls_one_after_the_other_and_at_once(self):
        for _ in range(100):
            self.assertEqual(self.link.call(otlp.protobuf([Span()])).status, grpc.OK)
        streams = [self.link.begin() for _ in range(50)]
        body = grpc.framed(otlp.protobuf([Span()]))
        for stream in streams:
            self.link.data(stream, body[:9], ends=False)
        for stream in reversed(streams):
            self.link.data(stream, body[9:])
        for stream in streams:
            self.assertEqual(self.link.wait(stream).status, grpc.OK)
        self.assertEqual(self.spans(), 150)

    def test_what_could_not_be_read_is_told_with_the_rest_taken(self):
        reply = self.link.call(otlp.protobuf([Span(), Span(trace=b"abc")]))
        count, why = otlp.partial_success(reply.answer)
        self.assertEqual((reply.status, count, "traceId has 3 bytes" in why), (grpc.OK, 1, True), why)

    def test_a_call_that_its_sender_takes_back(self):
        stream = self.link.begin()
        self.link.data(stream, grpc.framed(otlp.protobuf([Span()]))[:-1], ends=False)
        self.link.frame(grpc.RST_STREAM, 0, stream, b"\0\0\0\x08")
        self.assertEqual(self.link.call(otlp.protobuf([Span()])).status, grpc.OK)
        self.assertEqual(self.spans(), 1)
        self.assertEqual(self.pythiad.metric("pythia_body_bytes_held"), 0)

    def test_what_is_no_http2_ends_the_connection_and_nothing_else(self):
        answer = b""
        for garbage in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\0" * 1000,
                        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 100):
            with grpc.socket.create_connection(("127.0.0.1", self.pythiad.grpc), 60) as other:
                other.sendall(garbage)
                try:
                    while True:
                        answer = other.recv(1000)
                        if not answer:
                            break
                except ConnectionError:
                    pass
        self.assertEqual(self.link.call(otlp.protobuf([Span()])).status, grpc.OK)


class ComeAgain(Case):
    """A sender is told to come again exactly when that can help."""
    options = ("--memory=64K", "--memory-hard=1M", "--retry-seconds=7", "--body-max=256K", "--inflated-max=256K",
               "--waiting-max=1M", "--rootless-ms=3600000")

    def fill(self):
        for _ in range(100):
            if self.pythiad.send(otlp.protobuf([Span() for _ in range(100)])).status != 200:
                return
        self.fail("it takes more than it has memory for")

    def test_it_is_full(self):
        self.fill()
        body = otlp.protobuf([Span()])
        answer = self.pythiad.send(body)
        self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "7"))
        self.assertEqual(otlp.status(answer.body)[0], grpc.UNAVAILABLE)
        answer = self.pythiad.send(otlp.as_json([Span()]), rig.JSON)
        self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "7"))
        self.assertEqual(answer.json["code"], grpc.UNAVAILABLE)
        answer = rig.ask(self.pythiad.zipkin, "POST", "/api/v2/spans", otlp.zipkin([Span()]), rig.JSON)
        self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "7"))
        with grpc.Connection(self.pythiad.grpc) as link:
            reply = link.call(body)
        self.assertEqual((reply.status, reply.trailers_only), (grpc.UNAVAILABLE, True))
        self.assertEqual(otlp.status(reply.details)[0], grpc.UNAVAILABLE)
        self.assertEqual(otlp.retry_seconds(reply.details), 7)
        ready = self.pythiad.get("/readyz")
        self.assertEqual((ready.status, ready.text.startswith("full")), (503, True))
        metrics = self.pythiad.metrics()
        self.assertEqual((metrics['pythia_spans_refused_total{reason="full"}'], metrics["pythia_bodies_refused_uncounted_total"]),
                         (100 + 4, 0))  # each once
        self.assertEqual(metrics["pythia_bodies_refused_total"], 5)
        self.assertGreater(metrics["pythia_body_bytes_refused_total"], 4 * len(body))
        self.assertEqual(self.pythiad.get("/healthz").status, 200)

    def test_what_is_too_large_stays_too_large(self):
        big = otlp.protobuf([Span(name="x" * (300 << 10))])
        self.fill()
        for body, headers in ((big, {}), (gzip.compress(big), {"Content_Encoding": "gzip"})):
            answer = self.pythiad.send(body, **headers)
            # Full as it is, what is packed is not looked at; its size on the wire may pass then.
            if headers and answer.status == 503:
                continue
            self.assertEqual((answer.status, answer.headers["Retry-After"]), (413, None))
        with grpc.Connection(self.pythiad.grpc) as link:
            reply = link.call(big)
        self.assertEqual((reply.status, reply.details), (grpc.RESOURCE_EXHAUSTED, b""))

    def test_bodies_that_are_being_received_are_counted_too(self):
        with grpc.Connection(self.pythiad.grpc) as link:
            half = grpc.framed(b"\0" * (200 << 10))[:-1]
            streams = [link.begin() for _ in range(6)]
            for stream in streams[:5]:
                link.data(stream, half, ends=False)
            # There is room for its beginning. It is read to its end, to say how many spans are refused.
            body = grpc.framed(otlp.protobuf([Span(name="x" * 1000) for _ in range(200)]))
            link.data(streams[5], body[:-1], ends=False, piece=10001)
            rig.until(lambda: self.pythiad.metric("pythia_bodies_refused_total") == 1, 5)
            self.assertEqual([stream for stream in streams if link.replies[stream].done], [])
            link.data(streams[5], body[-1:])
            reply = link.wait(streams[5])
            self.assertEqual((reply.status, otlp.retry_seconds(reply.details)), (grpc.UNAVAILABLE, 7))
            self.assertEqual(self.pythiad.metric('pythia_spans_refused_total{reason="waiting"}'), 200)
            self.assertEqual(self.pythiad.metric("pythia_body_bytes_refused_total"), len(body) - 5)
            packed = grpc.framed(gzip.compress(random.Random(1).randbytes(200 << 10)), True)
            stream = link.begin(coding="gzip")
            link.data(stream, packed)
            self.assertEqual(link.wait(stream).status, grpc.UNAVAILABLE)
            spans = 200
            wide = [Span(name="x" * 1000) for _ in range(100)]
            for port, path, body, kind in (
                    (self.pythiad.http, "/v1/traces", otlp.protobuf(wide), rig.PROTOBUF),
                    (self.pythiad.http, "/v1/traces", otlp.as_json(wide), rig.JSON),
                    (self.pythiad.zipkin, "/api/v2/spans", otlp.zipkin(wide), rig.JSON)):
                answer = rig.ask(port, "POST", path, body, kind)
                self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "7"))
                spans += 100
                self.assertEqual(self.pythiad.metric('pythia_spans_refused_total{reason="waiting"}'), spans)
            self.assertEqual(self.pythiad.metric("pythia_bodies_refused_uncounted_total"), 1)
            answer = self.pythiad.send(gzip.compress(random.Random(1).randbytes(100 << 10)), Content_Encoding="gzip")
            self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "7"))
            self.assertEqual(self.pythiad.metric("pythia_bodies_refused_total"), 6)
            self.assertEqual(self.pythiad.metric("pythia_bodies_refused_uncounted_total"), 2)
            # Half of one that is refused, and then its sender goes: what came is counted.
            body = grpc.framed(otlp.protobuf(wide))
            stream = link.begin()
            link.data(stream, body[:-1], ends=False)
            rig.until(lambda: self.pythiad.metric("pythia_bodies_refused_total") == 7, 5)
            link.frame(grpc.RST_STREAM, 0, stream, bytes(4))
            rig.until(lambda: self.pythiad.metric('pythia_spans_refused_total{reason="waiting"}') == spans + 100, 5)
            self.assertGreater(self.pythiad.metric("pythia_body_bytes_held"), 900 << 10)
        rig.until(lambda: self.pythiad.metric("pythia_body_bytes_held") == 0, 5)
        self.assertEqual(self.pythiad.send(otlp.protobuf([Span()])).status, 200)


if __name__ == "__main__":
    rig.main()
