#!/usr/bin/env python3
"""pythiad between senders and a collector: what arrives goes on, unchanged, also when pythiad is overloaded or the collector
is not there. usage: test_forward.py BIN [SANITIZER]"""
import collections
import gzip
import http.server
import json
import os
import threading
import unittest

import grpc
import otlp
import rig

JSON, PROTOBUF = "application/json", "application/x-protobuf"
METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"


class Collector:
    """Takes bodies at a port of the loopback. `status` is what it answers; only what it answered with 200 counts as taken."""

    def __init__(self, test, port=0):
        self.status, self.taken, self.refused, self.headers, self.connections = 200, [], 0, [], set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # connections stay open

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = outer.status
                outer.headers.append(dict(self.headers))
                outer.connections.add(self.client_address)
                if status == 200:
                    outer.taken.append((self.path, self.headers["Content-Type"], self.headers["Content-Encoding"], body))
                else:
                    outer.refused += 1
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # pythiad may end before it has read an answer
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(.05,))
        self.thread.start()
        test.addCleanup(self.thread.join)
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)

    def bodies(self):
        return collections.Counter(body for *_, body in list(self.taken))


class Forward(unittest.TestCase):
    def start(self, *options):
        self.collector = Collector(self)
        self.pythiad = rig.Pythiad(self, f"--forward=http://127.0.0.1:{self.collector.port}/", *options)

    def until_taken(self, count):
        rig.until(lambda: len(self.collector.taken) >= count, 20, lambda: f"{len(self.collector.taken)} of {count}\n{self.pythiad.log}")

    def number(self, name):
        return self.pythiad.metric(f"pythia_forward_{name}")

    def test_bodies_of_all_signals_go_on_as_they_came(self):
        self.start("--quiet-ms=50")
        traces, more = otlp.protobuf(otlp.request()), otlp.as_json(otlp.request())
        more = more if isinstance(more, bytes) else more.encode()
        packed, packed_traces = gzip.compress(more), gzip.compress(traces)
        self.assertEqual(self.pythiad.send(traces).status, 200)
        answer = self.pythiad.send(packed, JSON, **{"Content-Encoding": "gzip"})
        self.assertEqual((answer.status, answer.json), (200, {}))
        for path in "/v1/metrics", "/v1/logs":
            self.assertEqual(rig.ask(self.pythiad.http, "POST", path, path.encode(), PROTOBUF).status, 200)
        with grpc.Connection(self.pythiad.grpc) as link:
            self.assertEqual(link.call(traces + b"\x0a\x00").status, grpc.OK)
            self.assertEqual(link.call(packed_traces, True, coding="gzip").status, grpc.OK)
            self.assertEqual(link.call(b"by gRPC", path=METRICS).status, grpc.OK)
        self.until_taken(7)
        self.assertEqual(collections.Counter(self.collector.taken), collections.Counter([
            ("/v1/traces", PROTOBUF, None, traces), ("/v1/traces", JSON, "gzip", packed),
            ("/v1/metrics", PROTOBUF, None, b"/v1/metrics"), ("/v1/logs", PROTOBUF, None, b"/v1/logs"),
            ("/v1/traces", PROTOBUF, None, traces + b"\x0a\x00"),
            ("/v1/traces", PROTOBUF, "gzip", packed_traces), ("/v1/metrics", PROTOBUF, None, b"by gRPC")]))
        rig.until(lambda: self.pythiad.metric("pythia_bodies_total") == 4, 10)  # and it looked at the traces, too
        self.assertEqual((self.number("sent_total"), self.number("waiting"), self.number("unseen_total")), (7, 0, 0))

    def test_what_cannot_be_read_here_goes_on_too(self):
        self.start()
        self.assertEqual(self.pythiad.send(b"\xff no protobuf").status, 200)
        self.until_taken(1)
        self.assertEqual(self.collector.taken[0][3], b"\xff no protobuf")

    def test_an_overloaded_pythiad_delays_and_loses_nothing(self):
        """Above --memory senders are told to come again, unless what they send goes on."""
        self.start("--memory=2K", "--memory-hard=4K", "--quiet-ms=3600000", "--request-max-ms=3600000")
        sent = [otlp.protobuf(otlp.request((f"step{i}", "b", "c", "d"))) for i in range(200)]
        for body in sent:
            self.assertEqual(self.pythiad.send(body).status, 200)
        self.until_taken(200)
        self.assertEqual(self.collector.bodies(), collections.Counter(sent))
        self.assertGreater(self.number("unseen_total"), 0)
        self.assertEqual(self.number("not_taken_total"), 0)

    def test_bodies_wait_while_the_collector_is_away_and_each_goes_on_once(self):
        self.start()
        self.collector.status = 503
        sent = [otlp.protobuf(otlp.request((f"step{i}",))) for i in range(50)]
        for body in sent:
            self.assertEqual(self.pythiad.send(body).status, 200)
        rig.until(lambda: self.number("retried_total") >= 8, 20)
        self.assertEqual(self.number("waiting"), 50)
        self.assertEqual(self.number("waiting_bytes"), sum(map(len, sent)))
        self.collector.status = 200
        self.until_taken(50)
        self.assertEqual(self.collector.bodies(), collections.Counter(sent))
        rig.until(lambda: self.number("waiting_bytes") == 0, 10)
        self.assertRegex(self.pythiad.log, r"collector does not take what is sent on: status=503, tries again")
        self.pythiad.logged("collector takes what is sent on again")

    def test_when_no_more_can_wait_senders_come_again(self):
        self.start("--forward-max=64K", "--body-max=32K")
        self.collector.status = 503
        body, taken = otlp.protobuf(otlp.request(tuple("s" * 200 + str(i) for i in range(100)))), 0
        self.assertIn(len(body), range(20000, 32768))
        for _ in range(5):
            answer = self.pythiad.send(body)
            taken += answer.status == 200
            self.assertIn((answer.status, answer.headers.get("Retry-After")), [(200, None), (503, "1")])
        self.assertEqual(taken, 65536 // len(body))
        self.assertLessEqual(self.number("waiting_bytes"), 65536)
        with grpc.Connection(self.pythiad.grpc) as link:
            self.assertEqual(link.call(body).status, grpc.UNAVAILABLE)
        self.assertEqual(self.number("not_taken_total"), 6 - taken)
        self.collector.status = 200
        self.until_taken(taken)
        rig.until(lambda: self.number("waiting_bytes") == 0, 10)
        self.assertEqual(self.pythiad.send(body).status, 200)

    def test_what_the_collector_refuses_for_good_is_counted_and_not_sent_again(self):
        self.start()
        self.collector.status = 400
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request())).status, 200)
        rig.until(lambda: self.number("lost_total") == 1, 10)
        self.assertEqual((self.collector.refused, self.number("retried_total"), self.number("waiting")), (1, 0, 0))

    def test_what_waits_goes_on_when_pythiad_ends(self):
        self.start()
        self.collector.status = 503
        sent = [otlp.protobuf(otlp.request((f"step{i}",))) for i in range(20)]
        for body in sent:
            self.assertEqual(self.pythiad.send(body).status, 200)
        rig.until(lambda: self.collector.refused >= 4, 20)
        self.collector.status = 200
        self.pythiad.stop()
        self.assertEqual(self.collector.bodies(), collections.Counter(sent))

    def test_an_end_does_not_wait_for_a_collector_that_is_away(self):
        self.start()
        self.collector.status = 503
        for i in range(20):
            self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request((f"step{i}",)))).status, 200)
        self.pythiad.stop()
        self.pythiad.logged("Bodies were not sent on before the end: lost=20")

    def test_bodies_of_zipkin_go_on_to_their_own_address(self):
        zipkin = Collector(self)
        self.start(f"--forward-zipkin=http://127.0.0.1:{zipkin.port}")
        body = json.dumps([{"traceId": "0" * 15 + "1", "id": "0" * 15 + "2", "name": "a", "timestamp": 1, "duration": 2}]).encode()
        packed, odd = gzip.compress(body), b"[{"  # packed once: its head has the time in seconds
        address = self.pythiad.zipkin
        for one, more in (body, {}), (packed, {"Content-Encoding": "gzip"}), (odd, {}):
            answer = rig.ask(address, "POST", "/api/v2/spans", one, JSON, **more)
            self.assertEqual((answer.status, answer.body), (202, b""))
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request())).status, 200)
        self.until_taken(1)
        rig.until(lambda: len(zipkin.taken) == 3, 20)
        self.assertEqual(collections.Counter(zipkin.taken), collections.Counter([
            ("/api/v2/spans", JSON, None, body), ("/api/v2/spans", JSON, "gzip", packed), ("/api/v2/spans", JSON, None, odd)]))
        self.assertEqual([path for path, *_ in self.collector.taken], ["/v1/traces"])

    def test_without_an_address_of_their_own_bodies_stay_here(self):
        zipkin = Collector(self)
        self.pythiad = rig.Pythiad(self, f"--forward-zipkin=http://127.0.0.1:{zipkin.port}")
        answer = self.pythiad.send(b"\xff no protobuf")
        self.assertEqual(answer.status, 400)  # it is looked at before it is answered, as without --forward
        self.assertEqual((self.number("waiting"), self.number("sent_total"), zipkin.taken), (0, 0, []))

    def write_headers(self, text, mode=0o600):
        path = os.path.join(rig.make_folder(self), "headers")
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def test_each_body_has_the_headers_of_the_file(self):
        path = self.write_headers("# for the collector\nAuthorization: Bearer s3cret\n\nX-Scope-OrgID: 7\r\n")
        self.start(f"--forward-headers={path}")
        for i in range(40):
            self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request((f"step{i}",))), Authorization="Bearer of the sender").status, 200)
        self.until_taken(40)
        self.assertEqual({(h["Authorization"], h["X-Scope-OrgID"]) for h in self.collector.headers}, {("Bearer s3cret", "7")})
        self.assertLessEqual(len(self.collector.connections), 4)  # one for each thread, which stays open
        self.assertNotIn("s3cret", self.pythiad.log)
        with open(f"/proc/{self.pythiad.process.pid}/cmdline", "rb") as file:
            self.assertNotIn(b"s3cret", file.read())
        self.assertNotIn("Other users can read", self.pythiad.log)

    def test_no_collector_gets_the_headers_of_another(self):
        zipkin, path = Collector(self), self.write_headers("X-Token: for OTLP")
        self.start(f"--forward-headers={path}", f"--forward-zipkin=http://127.0.0.1:{zipkin.port}",
                   f"--forward-zipkin-headers={self.write_headers('X-Other: for Zipkin')}")
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request())).status, 200)
        self.assertEqual(rig.ask(self.pythiad.zipkin, "POST", "/api/v2/spans", b"[]", JSON).status, 202)
        self.until_taken(1)
        rig.until(lambda: len(zipkin.taken) == 1, 20)
        self.assertEqual([(c.headers[0].get("X-Token"), c.headers[0].get("X-Other")) for c in (self.collector, zipkin)],
                         [("for OTLP", None), (None, "for Zipkin")])

    def test_headers_that_others_can_read_are_warned_of(self):
        self.start(f"--forward-headers={self.write_headers('X-Token: 1', 0o644)}")
        self.pythiad.logged("Other users can read the headers; chmod 600 prevents that")

    def test_a_wrong_file_of_headers_is_refused_with_its_line_and_without_its_value(self):
        for text, line, why in (("X: s3cret\nBearer s3cret\n", 2, "is no header"), ("X y: s3cret\n", 1, "is no header"), ("X:\n", 1, "has no value"),
                                ("content-type: s3cret\n", 1, "follows from the body"), ("X: s3cret\x01\n", 1, "control character"),
                                ("".join(f"X{i}: s3cret\n" for i in range(7)), 7, "is one header too many")):
            path = self.write_headers(text)
            status, said = rig.run(self, "--forward=http://127.0.0.1:1", f"--forward-headers={path}")
            self.assertNotEqual(status, 0)
            self.assertIn(f"{path}:{line}: {why}" if why[0] == "i" else why, said)
            self.assertNotIn("s3cret", said)
        status, said = rig.run(self, "--forward=http://127.0.0.1:1", "--forward-headers=/nonexistent")
        self.assertIn("/nonexistent", said)
        self.assertNotEqual(status, 0)

    def test_headers_do_not_cross_a_network_in_the_clear(self):
        path = self.write_headers("X-Token: 1")
        status, said = rig.run(self, "--forward=http://collector:4318", f"--forward-headers={path}")
        self.assertEqual(status, 2, said)
        self.assertIn("use https://", said)
        status, said = rig.run(self, f"--forward-headers={path}")
        self.assertEqual(status, 2, said)
        self.assertIn("forward-headers requires forward", said)
        status, said = rig.run(self, "--forward=http://127.0.0.1:1", "--forward-zipkin=http://collector:9411", f"--forward-zipkin-headers={path}")
        self.assertEqual(status, 2, said)
        self.assertIn("forward-zipkin: the headers of forward-zipkin-headers could be read on the way", said)

    def test_an_address_that_is_no_collector_is_refused(self):
        for url in "collector:4318", "http://", "http://collector:4318/v1/traces", "ftp://collector":
            status, said = rig.run(self, f"--forward={url}")
            self.assertEqual(status, 2, said)
            self.assertIn(f"forward: {url} is not the address of a collector", said)


if __name__ == "__main__":
    rig.main()
