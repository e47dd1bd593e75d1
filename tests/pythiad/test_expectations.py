#!/usr/bin/env python3
"""What pythiad is told to expect of requests. usage: test_expectations.py BIN [SANITIZER]"""
import unittest

import otlp
import rig

OPTIONS = ("--quiet-ms=50", "--cycle-requests=60", "--learn-requests=20", "--cycle-seconds=1")


class Expectations(unittest.TestCase):
    def begin(self, text):
        self.folder, self.sent = rig.make_folder(self), 0
        with open(f"{self.folder}/expected.yaml", "w", encoding="ascii") as to:
            to.write(text)
        return f"--expect={self.folder}/expected.yaml"

    def feed(self):
        """A request of two types each: of "large" every third is 900 ms slower, of "small" 30 ms."""
        self.sent += 1
        for name, late in ("large", 900000000), ("small", 30000000):
            slow = (f"in_{name}", late) if self.sent % 3 == 0 else None
            body = otlp.protobuf(otlp.request((f"in_{name}",), service_root=name, slow=slow))
            self.assertEqual(self.pythiad.send(body).status, 200)

    def test_a_violated_type_leads_the_search_and_the_report_says_why(self):
        self.pythiad = rig.Pythiad(self, *OPTIONS, self.begin('- type: "*small"\n  p99: < 20ms\n- type: "*large"\n  p99: < 60s\n'))

        def judged():
            self.feed()
            report = self.pythiad.get("/v1/report").json
            states = [(x["request_type"], x["state"]) for x in report.get("expectations", []) if x["request_type"]]
            found = "Found a cause: request-type=shop:small" in self.pythiad.log
            return found and states == [("shop:small", "violated"), ("shop:large", "holds")] and report
        report = rig.until(judged, 60, lambda: self.pythiad.log)
        shares = {t["name"]: t["variance_share"] for t in report["request_types"]}
        self.assertLess(shares["shop:small"], .01)  # what is expected of nobody would be left alone
        self.assertIn("1 of 2 expectations is violated", self.pythiad.get("/v1/report?format=text").text)

    def test_a_file_that_cannot_be_read_is_refused_at_the_start(self):
        status, said = rig.run(self, self.begin("- type: a\n  p99: 20ms\n"))
        self.assertNotEqual(status, 0)
        self.assertIn("expected.yaml:1: column 3: p99: '20ms' is not a limit", said)


if __name__ == "__main__":
    rig.main()
