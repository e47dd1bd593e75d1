#!/usr/bin/env python3
"""Limits of what is read for long, at one below, at, and one above: Jaeger's JSON and OSProfiler's events from files, native
records over a socket, events from Redis; as test_limits.py does it for OTLP and Zipkin. usage: test_limits_feeds.py BIN [SANITIZER]"""
import json
import os
import socket
import unittest

import otlp
import records
import rig
from otlp import Span

REASONS = ("attribute", "event", "link", "oversize", "broken_record")


def names(count):
    return {f"key-{i}": "v" for i in range(count)}


class Feeds(unittest.TestCase):
    """Two files that are followed, and a connection."""

    def start(self, *options):
        self.folder = rig.make_folder(self)
        self.files = {}
        for name in ("jaeger", "osprofiler"):
            self.files[name] = open(os.path.join(self.folder, name + ".jsonl"), "wb", buffering=0)
            self.addCleanup(self.files[name].close)
        self.pythiad = rig.Pythiad(self, "--quiet-ms=50", f"--records=unix:{self.folder}/records.sock",
                                   *(f"--follow={self.folder}/{name}.jsonl" for name in self.files), *options,
                                   folder=self.folder)
        self.link = self.connect()
        self.process = records.Process(self.link)

    def tearDown(self):
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def connect(self):
        link = socket.socket(socket.AF_UNIX)
        self.addCleanup(link.close)
        link.connect(os.path.join(self.folder, "records.sock"))
        return link

    def write(self, name, *lines):
        self.files[name].write(b"".join(line + b"\n" for line in lines))

    def ways(self, make, stop=None):
        """(name, a function that sends a request, parts of spans that it is made of) of each way in; make() makes its spans."""
        def events():
            parts = [records.events(span, stop) for span in make()]
            # Ends from the inside out, as they come.
            self.write("osprofiler", *(part[0] for part in parts), *(part[1] for part in reversed(parts)))
        return (("jaeger", lambda: self.write("jaeger", records.jaeger(make())), len(make())),
                ("osprofiler", events, 2 * len(make())), ("native", lambda: self.process.send(make()), len(make())))

    def counted(self):
        metrics = self.pythiad.metrics()
        finished, taken = metrics['pythia_requests_finished_total{by="any"}'], metrics["pythia_spans_total"]
        cut = metrics['pythia_values_cut_total{reason="length"}']
        return finished, taken, cut, {name: metrics[f'pythia_spans_dropped_total{{reason="{name}"}}'] for name in REASONS}

    def sent(self, send, parts):
        """What is dropped, by reason, and how many values are cut, once a request was sent and is finished."""
        finished, taken, cut, before = self.counted()
        send()
        rig.until(lambda: self.counted()[0] == finished + 1 and self.counted()[1] == taken + parts, 20,
                  lambda: f"{finished} {taken} {parts}: {self.counted()} {self.pythiad.log}")
        _, _, more, after = self.counted()
        return {name: int(after[name] - before[name]) for name in after if after[name] != before[name]}, int(more - cut)

    def test_key_values_of_a_span(self):
        self.start("--attributes-max=20")
        for count, dropped in ((19, {}), (20, {}), (21, {"attribute": 1}), (1100, {"attribute": 1080})):
            for way, send, parts in self.ways(lambda count=count: [Span(attributes=names(count))]):
                self.assertEqual(self.sent(send, parts), (dropped, 0), (way, count))

    def test_key_values_of_the_beginning_and_the_end_of_a_span(self):
        """They are one span's, in whichever of the two they come."""
        self.start("--attributes-max=20")
        for count, dropped in ((9, {}), (10, {}), (11, {"attribute": 1}), (30, {"attribute": 20})):
            _, send, parts = self.ways(lambda: [Span(attributes=names(10))], {f"end-{i}": "v" for i in range(count)})[1]
            self.assertEqual(self.sent(send, parts), (dropped, 0), count)

    def test_the_default_is_128_key_values(self):
        self.start()
        for count, dropped in ((127, {}), (128, {}), (129, {"attribute": 1})):
            for way, send, parts in self.ways(lambda count=count: [Span(attributes=names(count))]):
                self.assertEqual(self.sent(send, parts), (dropped, 0), (way, count))

    def test_key_values_that_are_nested_count_each(self):
        self.start("--attributes-max=20")
        for count, dropped in ((19, {}), (20, {}), (21, {"attribute": 1})):
            _, send, parts = self.ways(lambda count=count: [Span(attributes={"deep": names(count)})])[1]
            self.assertEqual(self.sent(send, parts), (dropped, 0), count)

    def test_depth_of_key_values(self):
        """Below 32 others at most: a record in which one is deeper is broken, and those behind it are read."""
        self.start()
        for depth, dropped in ((31, {}), (32, {}), (33, {"broken_record": 1})):
            inner = "v"
            for _ in range(depth):
                inner = {"d": inner}
            span = Span(attributes={"top": inner})
            lines = records.events(span)
            self.assertEqual(self.sent(lambda lines=lines: self.write("osprofiler", *lines), 2 - len(dropped)),
                             (dropped, 0) if not dropped else ({"broken_record": 1}, 0), depth)

    def test_key_values_of_a_process(self):
        self.start("--attributes-max=20")
        for count, dropped in ((19, {}), (20, {}), (21, {"attribute": 1}), (500, {"attribute": 480})):
            body = records.jaeger([Span()], {f"{count}-{i}": "v" for i in range(count)})
            self.assertEqual(self.sent(lambda body=body: self.write("jaeger", body), 1), (dropped, 0), count)
        for count, dropped in ((20, 0), (21, 1)):  # and of OTLP's resources
            before = self.counted()[3]["attribute"]
            body = json.loads(otlp.as_json([Span()]))
            body["resourceSpans"][0]["resource"]["attributes"] += [
                {"key": f"{count}-{i}", "value": {"stringValue": "v"}} for i in range(count - 1)]
            self.assertEqual(self.pythiad.send(json.dumps(body).encode(), rig.JSON).status, 200)
            self.assertEqual(self.counted()[3]["attribute"] - before, dropped, count)

    def test_logs_and_references(self):
        self.start("--attributes-max=30", "--events-max=20", "--links-max=10")
        for count, dropped in ((19, {}), (20, {}), (21, {"event": 1}), (120, {"event": 100})):
            span = Span(events=[f"event {i}" for i in range(count)], attributes=names(30))
            self.assertEqual(self.sent(*self.ways(lambda span=span: [span])[0][1:]), (dropped, 0), count)
        for count, dropped in ((29, {}), (30, {}), (31, {"attribute": 1})):
            half = count // 2
            span = Span(events=[("a", names(half)), ("b", names(count - half))], attributes=names(30))
            self.assertEqual(self.sent(*self.ways(lambda span=span: [span])[0][1:]), (dropped, 0), count)
        for count, dropped in ((9, {}), (10, {}), (11, {"link": 1}), (200, {"link": 190})):
            self.assertEqual(self.sent(*self.ways(lambda count=count: [Span(links=count)])[0][1:]), (dropped, 0), count)

    def values_are_cut(self, *sizes):
        for size, cut in sizes:
            for way, send, parts in self.ways(lambda size=size: [Span(attributes={"key": "v" * size, "short": "v"})]):
                if way != "native" or size <= 4096:  # more is not recorded
                    self.assertEqual(self.sent(send, parts), ({}, cut), (way, size))

    def test_a_long_value(self):
        self.start()
        self.values_are_cut((159, 0), (160, 0), (161, 1), (4096, 1), (1 << 20, 1))

    def test_a_value_of_4_KiB(self):
        self.start("--value-max=4K")
        self.values_are_cut((4095, 0), (4096, 0), (4097, 1))

    def test_spans_of_a_request(self):
        """Those that come in two parts count once, and at the limit all of them have their end."""
        self.start("--request-spans-max=100")
        for count in (99, 100, 101):
            for way, send, parts in self.ways(lambda count=count: otlp.request([f"step {i % 10}" for i in range(count - 1)])):
                self.assertEqual(parts, count * (2 if way == "osprofiler" else 1))
                # Of two parts: the start that is too much, its end, and those of the 100 that have begun by then.
                dropped = {"oversize": 102 if way == "osprofiler" else 1} if count == 101 else {}
                self.assertEqual(self.sent(send, parts), (dropped, 0), (way, count))
        self.assertEqual(self.pythiad.metric('pythia_spans_repaired_total{kind="unfinished"}'), 100)

    def test_a_record_in_a_file(self):
        """Which is held in memory as a whole: what is larger is passed over, and what stands behind it is read."""
        self.start("--body-max=64K", "--value-max=32")
        for more, counted in ((-1, 1), (0, 1), (1, 0)):
            for name in ("jaeger", "osprofiler"):
                before = self.pythiad.metrics()
                span = Span(attributes={"key": ""})
                whole = records.jaeger([span]) if name == "jaeger" else records.events(span)[0]
                # The record is the span, not what stands around it.
                size = len(json.dumps(json.loads(whole)["spans"][0])) if name == "jaeger" else len(whole)
                fill = b'"' + b"v" * ((64 << 10) + more - size) + b'"'
                good = records.jaeger([Span()]) if name == "jaeger" else records.events(Span())[0]
                self.write(name, whole.replace(b'""', fill), good)
                rig.until(lambda before=before, counted=counted:
                          self.pythiad.metric("pythia_spans_total") == before["pythia_spans_total"] + 1 + counted, 20,
                          lambda: f"{name} {more} {self.pythiad.metrics()}")
                self.assertEqual(self.pythiad.metric("pythia_records_broken_total") - before["pythia_records_broken_total"],
                                 1 - counted, (name, more))

    def test_connections(self):
        """Of records: those that are followed do not count, and one that has gone makes room."""
        self.start("--connections=3")
        refused = "pythia_connections_refused_total"
        links = [self.connect() for _ in range(2)]
        for link in links:
            finished, taken, _, _ = self.counted()
            records.Process(link).send([Span()])
            rig.until(lambda taken=taken: self.counted()[1] == taken + 1, 10, lambda: self.pythiad.log)
        self.assertEqual(self.pythiad.metric(refused), 0)
        fourth = self.connect()
        fourth.settimeout(rig.patience(10))
        self.assertEqual(fourth.recv(1), b"")
        self.assertEqual(self.pythiad.metric(refused), 1)
        links[0].close()

        def again():
            link = self.connect()
            link.settimeout(.1)
            try:
                return link.recv(1) != b""
            except TimeoutError:
                return link
        link = rig.until(again, 10)
        _, taken, _, _ = self.counted()
        records.Process(link).send([Span()])
        rig.until(lambda: self.counted()[1] == taken + 1, 10)


class Redis(unittest.TestCase):
    def test_events_in_redis(self):
        redis = rig.RedisServer(self)

        def push(span, stop=None):
            for event in records.events(span, stop):
                self.assertEqual(redis.send((b"LPUSH", b"osprofiler_opt:" + span.trace.hex().encode(), event))[:1], b":")
        push(Span())
        daemon = rig.Pythiad(self, f"--osprofiler={redis.url}", "--quiet-ms=50", "--attributes-max=20", "--body-max=64K")
        finished = 'pythia_requests_finished_total{by="any"}'
        rig.until(lambda: daemon.metric(finished) == 1, 20, lambda: daemon.log)
        for done, (span, stop, dropped, cut, broken) in enumerate((
                (Span(attributes=names(20)), {}, 0, 0, 0), (Span(attributes=names(21)), {}, 1, 0, 0),
                (Span(attributes=names(10)), names(10), 0, 0, 0), (Span(attributes=names(10)), names(11), 1, 0, 0),
                (Span(attributes={"key": "v" * 160}), {}, 0, 0, 0), (Span(attributes={"key": "v" * 161}), {}, 0, 1, 0),
                (Span(), {"key": "v" * (64 << 10)}, 0, 0, 1))):
            before = daemon.metrics()
            push(span, stop)
            if broken:  # its end: nobody knows when it was
                rig.until(lambda before=before: daemon.metric("pythia_records_broken_total") ==
                          before["pythia_records_broken_total"] + 1, 20, lambda: daemon.log)
            else:
                rig.until(lambda done=done: daemon.metric(finished) == done + 2, 20, lambda: daemon.log)
            after = daemon.metrics()
            self.assertEqual([after[name] - before[name] for name in (
                'pythia_spans_dropped_total{reason="attribute"}', 'pythia_values_cut_total{reason="length"}',
                "pythia_records_broken_total")], [dropped, cut, broken], done)
        self.assertEqual(daemon.stop(), 0, daemon.log)


if __name__ == "__main__":
    rig.main()
