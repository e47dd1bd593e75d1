#!/usr/bin/env python3
"""A million distinct names, or ten million in `./dev bench times`: memory within its limit, and all of it counted. usage:
test_flood.py BIN [SANITIZER]"""
import json
import sqlite3
import struct
import time
import unittest

import otlp
import rig

LETTERS = bytes.maketrans(b"0123456789abcdef", b"ghijklmnopqrstuv")


def word(number):
    """A word of its own for each number, in which nothing looks like an id."""
    return b"%010x" % (number * 2654435761 % (1 << 40))


def body(first, count):
    """So many requests of one span, each with a name and a key of its own, as fast as Python can."""
    span = otlp.Span("N" * 10, b"T" * 16, b"S" * 8, kind=2, attributes={"K" * 10: "V" * 10}, start=time.time_ns()).protobuf()
    places = [span.index(c * n) for c, n in ((b"T", 16), (b"S", 8), (b"N", 10), (b"K", 10), (b"V", 10))]
    head, parts = otlp.varint(2 << 3 | 2) + otlp.varint(len(span)), []
    a, b, c, d, e = (span[:places[0]], span[places[0] + 16:places[1]], span[places[1] + 8:places[2]],
                     span[places[2] + 10:places[3]], span[places[3] + 10:places[4]])
    tail = span[places[4] + 10:]
    for number in range(first, first + count):
        name = word(number).translate(LETTERS)
        ids = struct.pack(">Q", number + 1)
        parts.append(b"%b%b%b%b%b%b%b%b%b%b%b%b%b" % (head, a, b"flood--" + b"x", ids, b, ids, c, name, d, name, e, name, tail))
    scope = b"".join(parts)
    return otlp.message(1, otlp.message(1, otlp.message(1, otlp.key_value("service.name", "shop"))) + otlp.message(2, scope))


class Flood(unittest.TestCase):
    """Fault 9: memory within its limit, the requests among them that are alike within 1 % of what they are, and each name
    known or counted as another."""
    COUNT = 10_000_000 if rig.TIMED else 1_000_000

    @staticmethod
    def rows(folder, query):
        db = sqlite3.connect(f"file:{folder}/state.db?mode=ro", uri=True)
        try:
            return db.execute(query).fetchall()
        finally:
            db.close()

    @staticmethod
    def steady(count):
        return [otlp.request(("a", "b"), slow=("a", 20000000 * (i % 4 == 0))) for i in range(count)]

    def warm_up(self, pythiad):
        """Until their type is learnt, searched, and all of them were told: how many."""
        sent = 0

        def told():
            m = pythiad.metrics()
            return m["pythia_requests_grouped_total"] + m["pythia_requests_apart_total"] == sent and m["pythia_cycles_total"] > 2
        for _ in range(30):
            for spans in self.steady(100):
                self.assertEqual(pythiad.send(otlp.protobuf(spans)).status, 200)
                sent += 1
            time.sleep(1)
            if pythiad.metric("pythia_cycles_total") > 2:
                break
        rig.until(told, 30, lambda: str(pythiad.metrics()))
        return sent

    def agents_have_points_without_a_number(self, pythiad):
        """As a program does that starts when there are no numbers left for its trace points."""
        points = [{"id": f"late:{n}", "hits": n, "price_ns": 1000, "open_by_default": n == 0} for n in range(10)]
        report = json.dumps(dict(service="late", instance="1", applied="", points=points))
        self.assertEqual(rig.ask(pythiad.http, "POST", "/v1/trace-points", report, rig.JSON).status, 200)
        rig.until(lambda: sum(point["trace_point"].startswith("late:") for point in pythiad.get("/v1/points").json) == 10,
                  30, lambda: pythiad.log)
        time.sleep(2)  # several turns of its clock, in which it looks at the points of its agents
        self.assertEqual(pythiad.get("/healthz").status, 200)

    def test_names_without_number(self):
        count = 100_000 if rig.SANITIZER else self.COUNT
        folder = rig.make_folder(self)
        pythiad = rig.Pythiad(self, f"--state={folder}/state.db", "--quiet-ms=100", "--rootless-ms=200", "--memory=64M", "--memory-hard=80M",
                              "--waiting-max=16M", "--cycle-seconds=5", "--learn=default", folder=folder)
        warm = self.warm_up(pythiad)
        apart = pythiad.metric("pythia_requests_apart_total")
        last = self.rows(folder, "SELECT max(number) FROM cycle")[0][0]
        number, often, most, refused, lengths = 0, 0, 0, 0, []
        while number < count:
            piece = body(number, 10000)
            while True:
                status = pythiad.send(piece).status
                if status != 503:
                    break
                refused += 1
                time.sleep(.05)
            self.assertEqual(status, 200)
            number += 10000
            # Among them are requests that come again and again, of two lengths.
            many = self.steady(20)
            while pythiad.send(otlp.protobuf([span for spans in many for span in spans])).status == 503:
                time.sleep(.05)
            often += len(many)
            lengths += [spans[-1].end - spans[-1].start for spans in many]
            if number % 500000 == 0:
                most = max(most, pythiad.memory())
        rig.until(lambda: pythiad.metric("pythia_open_spans") == 0, 60)
        metrics = pythiad.metrics()
        self.assertEqual(metrics["pythia_spans_total"], count + 3 * (often + warm))
        shed = metrics["pythia_requests_shed_total"]
        self.assertEqual(metrics['pythia_requests_finished_total{by="any"}'] + shed, count + often + warm)
        self.assertLessEqual(metrics["pythia_names_bytes"], 64 << 20)
        self.assertLessEqual(metrics['pythia_names{kind="string"}'], 262144)
        self.assertLessEqual(metrics['pythia_names{kind="trace_point"}'], 65536)
        if not rig.SANITIZER:
            # Each distinct name was given a number, or counted as one for which there was none.
            self.assertGreater(metrics['pythia_names_beyond_limit_total{kind="string"}'], count // 2)
            self.agents_have_points_without_a_number(pythiad)
            # Base, names, evidence of a cycle: the window stays small, because requests are finished as they come.
            limit = (40 + 64 + 64) << 20
            print(f"{count} names: {most >> 20} MiB at most, {refused} refused", flush=True)
            self.assertLess(max(most, pythiad.memory("VmHWM")), limit * 1.1)
        self.assertEqual(pythiad.stop(60), 0, pythiad.log)
        seen, mean = self.rows(folder, "SELECT sum(requests), sum(requests * mean_ns) / sum(requests) FROM type"
                               f" WHERE request_type = 'shop:root' AND cycle > {last}")[0]
        told = dict(part.split("=") for part in next(line for line in pythiad.lines if "Received: " in line)
                    .split("Received: ")[1].split(", "))
        print(f"of {often} requests of one type {seen} are in reports, mean {mean:.0f} ns of {sum(lengths) / often:.0f}; "
              f"{metrics['pythia_requests_apart_total']:.0f} apart, {shed:.0f} shed", flush=True)
        self.assertEqual(int(told["requests"]), count + often + warm - shed)
        if not rig.SANITIZER:
            # Those that came before a switch was in force everywhere are in no report.
            share = 1 - (metrics["pythia_requests_apart_total"] - apart) / (count + often)
            self.assertLess(abs(seen / often - share), .01)
            self.assertLess(abs(mean / (sum(lengths) / often) - 1), .01)

    @unittest.skipIf(rig.SANITIZER, "its heap is another")
    def test_memory_goes_back(self):
        """What requests took while they were open is not kept by the heap of the process."""
        pythiad = rig.Pythiad(self, "--quiet-ms=10000", "--rootless-ms=10000", "--memory=256M", "--memory-hard=256M")

        def flood(first):
            """Memory while they are open, and how many are: on a busy machine the first are finished before the last come."""
            for number in range(first, first + 200_000, 10_000):
                self.assertEqual(pythiad.send(body(number, 10_000)).status, 200)
            memory, spans = pythiad.memory(), pythiad.metric("pythia_open_spans")
            rig.until(lambda: pythiad.metric("pythia_open_spans") == 0, 60)
            return memory, spans
        flood(0)  # what is kept of names and of ids is then as large as after the next ones
        held, spans = flood(200_000)
        rig.until(lambda: held - pythiad.memory() > 80 * spans, 10,
                  lambda: f"{held >> 20} MiB with {spans:.0f} spans open, and {pythiad.memory() >> 20} afterwards")
        print(f"{held >> 20} MiB while {spans:.0f} spans are open, {pythiad.memory() >> 20} afterwards", flush=True)


if __name__ == "__main__":
    rig.main()
