#!/usr/bin/env python3
"""10 million distinct names: memory within its limit, and all of it counted. usage: test_flood.py BIN [SANITIZER]"""
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
    COUNT = 10_000_000

    def test_names_without_number(self):
        count = 100_000 if rig.SANITIZER else self.COUNT
        pythiad = rig.Pythiad(self, "--quiet-ms=100", "--rootless-ms=200", "--memory=64M", "--memory-hard=80M",
                              "--waiting-max=16M", "--cycle-seconds=5")
        number, often, most, refused = 0, 0, 0, 0
        steady = otlp.request(("a", "b"))
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
            steady = otlp.request(("a", "b"))  # among them are requests that come again and again
            while pythiad.send(otlp.protobuf(steady)).status == 503:
                time.sleep(.05)
            often += 1
            if number % 500000 == 0:
                most = max(most, pythiad.memory())
        rig.until(lambda: pythiad.metric("pythia_open_spans") == 0, 60)
        metrics = pythiad.metrics()
        self.assertEqual(metrics["pythia_spans_total"], count + 3 * often)
        shed = metrics["pythia_requests_shed_total"]
        self.assertEqual(metrics['pythia_requests_finished_total{by="any"}'] + shed, count + often)
        self.assertLessEqual(metrics["pythia_names_bytes"], 64 << 20)
        self.assertLessEqual(metrics['pythia_names{kind="string"}'], 262144)
        self.assertLessEqual(metrics['pythia_names{kind="trace_point"}'], 65536)
        if not rig.SANITIZER:
            # Each distinct name was given a number, or counted as one for which there was none.
            self.assertGreater(metrics['pythia_names_beyond_limit_total{kind="string"}'], count // 2)
            # Base, names, evidence of a cycle: the window stays small, because requests are finished as they come.
            limit = (40 + 64 + 64) << 20
            print(f"{count} names: {most >> 20} MiB at most, {refused} refused", flush=True)
            self.assertLess(max(most, pythiad.memory("VmHWM")), limit * 1.1)
        self.assertEqual(pythiad.stop(60), 0, pythiad.log)


if __name__ == "__main__":
    rig.main()
