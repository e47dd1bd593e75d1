#!/usr/bin/env python3
"""The log of spans: what stands in a line, and that its files have a size. usage: test_span_log.py BIN [SANITIZER]"""
import os
import re
import unittest

import otlp
import rig

LINE = re.compile(r"(\S+Z) - \[time\] \[(.*?)\] (start|end|point) \[(.*?)\] (-|\d+\.\d{9}) trace=([0-9a-f]{32}) span=([0-9a-f]{16})(.*)\n")


class SpanLog(unittest.TestCase):
    def start(self, *options):
        self.pythiad = rig.Pythiad(self, "--span-log=spans.log", *options)
        self.path = os.path.join(self.pythiad.folder, "spans.log")

    def lines(self, path=None):
        with open(path or self.path, encoding="utf-8") as text:
            return text.readlines()

    def test_a_span_has_a_line_for_its_start_and_one_for_its_end(self):
        self.start()
        start = 1700000000_250000001
        root = otlp.Span("root", trace=b"t" * 16, span=b"r" * 8, start=start, length=2_500_000_000)
        child = otlp.Span("line\nbreak", trace=b"t" * 16, span=b"c" * 8, parent=b"r" * 8, start=start + 5, length=7,
                          attributes={"queue": 3, "enduser.id": "someone"})
        self.assertEqual(self.pythiad.send(otlp.protobuf([root, child])).status, 200)
        rig.until(lambda: len(self.lines()) == 4, 10)
        fields = [LINE.fullmatch(line).groups() for line in self.lines()]
        trace, ids = (b"t" * 16).hex(), [(b"r" * 8).hex(), (b"c" * 8).hex()]
        self.assertEqual([f[:7] for f in fields], [
            ("2023-11-14T22:13:20.250000001Z", "shop", "start", "shop:root", "-", trace, ids[0]),
            ("2023-11-14T22:13:22.750000001Z", "shop", "end", "shop:root", "2.500000000", trace, ids[0]),
            ("2023-11-14T22:13:20.250000006Z", "shop", "start", "shop:line\\x0abreak", "-", trace, ids[1]),
            ("2023-11-14T22:13:20.250000013Z", "shop", "end", "shop:line\\x0abreak", "0.000000007", trace, ids[1])])
        self.assertEqual([fields[0][7], fields[2][7]], ["", f" parent={ids[0]}"])
        self.assertIn(" queue=3", fields[3][7])
        self.assertNotIn("someone", fields[3][7])  # what is redacted is redacted here, too
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)

    def test_a_file_that_is_full_makes_room_for_another(self):
        self.start("--span-log-max=4K")
        sent = 0
        while self.pythiad.metric("pythia_span_log_rotations_total") < 3:
            self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request())).status, 200)
            sent += 1
        numbers = self.pythiad.metrics()
        self.assertEqual(sorted(name for name in os.listdir(self.pythiad.folder) if name.startswith("spans.log")),
                         ["spans.log", "spans.log.1"])
        old = self.lines(self.path + ".1")
        self.assertIn(sum(map(len, old)), range(4096, 2 * 4096))
        self.assertTrue(all(LINE.fullmatch(line) for line in old + self.lines()))
        self.assertEqual(numbers["pythia_span_log_lost_total"], 0)
        rig.until(lambda: self.pythiad.metric("pythia_span_log_lines_total") == 4 * sent, 10)

    def test_it_goes_on_where_it_ended(self):
        self.start()
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request())).status, 200)
        self.pythiad.stop()
        self.assertEqual(len(self.lines()), 4)
        self.pythiad = rig.Pythiad(self, "--span-log=spans.log", folder=self.pythiad.folder)
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request())).status, 200)
        rig.until(lambda: len(self.lines()) == 8, 10)

    def test_what_cannot_be_written_is_counted(self):
        self.pythiad = rig.Pythiad(self, "--span-log=/dev/full")
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request())).status, 200)
        rig.until(lambda: self.pythiad.metric("pythia_span_log_lost_total") == 4, 10)
        self.pythiad.logged("The log of spans cannot be written: file=/dev/full, reason=No space left on device")

    def test_a_file_that_cannot_be_made_ends_the_start(self):
        status, said = rig.run(self, "--span-log=missing/spans.log", "--otlp-grpc=off", "--otlp-http=off", "--zipkin=off", "--control=off")
        self.assertEqual(status, 1)
        self.assertIn("missing/spans.log: the log of spans cannot be opened: No such file or directory", said)


if __name__ == "__main__":
    rig.main()
