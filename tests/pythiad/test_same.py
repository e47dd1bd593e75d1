#!/usr/bin/env python3
"""AH14: the same events, sent to a pythiad that runs or read by `pythia replay`, make the same report, byte by byte. usage:
test_same.py BIN [SANITIZER]"""
import itertools
import json
import math
import os
import random
import socket
import subprocess
import time
import unittest

import otlp
import rig

ALPHA = 0.05 * 6 / (math.pi * math.pi)  # what the first of many looks may spend, as pythiad looks again and again
# What a report says of the run and not of the events: where they came from, how large that was, and the cycles.
OF_THE_RUN = ("sources", "files", "bytes", "live")
OF_CYCLES = ("loop", "search", "effects", "causes", "verdicts")  # SameVerdict compares those of a search


class Same(unittest.TestCase):
    def start(self, *options):
        """One cycle, in which nothing is switched; it ends when all of it has come, and answers are there."""
        self.folder = rig.make_folder(self)
        return rig.Pythiad(self, "--quiet-ms=300", "--learn=default", "--learn-requests=1000000000",
                           "--cycle-requests=1000000000", f"--cycle-seconds={20 if rig.SANITIZER else 12}",
                           f"--record={self.folder}/record", f"--redact-secret={self.folder}/secret", *options,
                           folder=self.folder)

    def report(self, daemon, requests):
        rig.until(lambda: daemon.metric('pythia_requests_finished_total{by="any"}') == requests, 30,
                  lambda: f"{daemon.metrics()}\n{daemon.log}")
        self.assertEqual(daemon.metric("pythia_cycles_total"), 0, "the cycle has ended before all of it came")
        answer = rig.until(lambda: daemon.metric("pythia_cycles_total") and daemon.get("/v1/report?format=json"), 30)
        self.assertEqual(daemon.stop(), 0)
        return answer.text

    def replay(self, *paths):
        done = subprocess.run([rig.program("pythia"), "replay", "--quiet", "--format", "json", "--points", "0", "--alpha",
                               repr(ALPHA), "--redact=default", f"--redact-secret={self.folder}/secret",
                               *paths], capture_output=True, text=True, check=True,
                              timeout=rig.patience(60))
        return done.stdout

    def parts(self, text, live, recorded):
        """A report without what is of the run; numbers are the texts that they are in it."""
        report = json.loads(text, parse_float=str, parse_int=str)
        for name in OF_THE_RUN:
            report["input"].pop(name, None)
        if recorded:  # where a hash is a value, and what is dropped has never been
            report["input"].pop("hashed_values", None)
            report["input"]["dropped"].pop("redacted", None)
        for name in OF_CYCLES:  # of a search, which a replay of one look has not made
            report.pop(name, None)
        return report

    def assert_same(self, live, *paths, recorded=False):
        """Everything but what is of the run: the same names, in the same order, with the same bytes as values."""
        found = self.parts(live, True, recorded)
        again = self.parts(self.replay(*paths), False, recorded)
        self.assertEqual(json.dumps(found, indent=1).splitlines(), json.dumps(again, indent=1).splitlines())
        self.assertTrue(found["groups"])
        return found

    def generate(self, *options):
        path = os.path.join(self.folder, "made.json")
        subprocess.run([rig.program("pythia"), "generate", "--nodes", "30", "--requests", "300", "--seed", "11",
                        "--output", path, *options], check=True, capture_output=True)
        with open(path, "rb") as file:
            return path, file.read().splitlines(keepends=True)

    def test_otlp_over_http(self):
        daemon = self.start()
        path, lines = self.generate("--causes", "sleep:0.3", "--services", "3")
        random.Random(3).shuffle(lines)
        for at in range(0, len(lines), 7):  # OTLP/JSON: a body is one document
            for line in lines[at:at + 7]:
                self.assertEqual(daemon.send(line, rig.JSON).status, 200)
        found = self.assert_same(self.report(daemon, 300), path)
        self.assertEqual(sum(int(t["count"]) for t in found["request_types"]), 300)

    def test_what_pythiad_has_recorded(self):
        daemon = self.start()
        _, lines = self.generate("--causes", "sleep:0.3", "--services", "3")
        for line in lines:
            self.assertEqual(daemon.send(line, rig.JSON).status, 200)
        found = self.assert_same(self.report(daemon, 300), os.path.join(self.folder, "record"), recorded=True)
        # What is hashed takes part: keys of people are among those that were asked about.
        keys = {key["key"] for group in found["groups"] for key in group["skipped_keys"] + group["explanations"]}
        self.assertNotIn("cookie", keys)

    def test_what_pythiad_has_recorded_as_it_came(self):
        daemon = self.start("--redact=off")
        _, lines = self.generate("--causes", "sleep:0.3", "--services", "3")
        for line in lines:
            self.assertEqual(daemon.send(line, rig.JSON).status, 200)
        live = self.report(daemon, 300)
        done = subprocess.run([rig.program("pythia"), "replay", "--quiet", "--format", "json", "--points", "0", "--alpha",
                               repr(ALPHA), os.path.join(self.folder, "record")], capture_output=True, text=True, check=True,
                              timeout=rig.patience(60))
        found, again = self.parts(live, True, False), self.parts(done.stdout, False, False)
        self.assertEqual(json.dumps(found), json.dumps(again))

    def test_zipkin(self):
        daemon = self.start()
        path, _ = self.generate("--causes", "sleep:0.3", "--services", "2")
        zipkin = os.path.join(self.folder, "zipkin.json")
        subprocess.run([rig.program("pythia"), "export", "--quiet", "--to", "zipkin", "--output", zipkin, path], check=True)
        with open(zipkin, encoding="utf-8") as file:
            spans = json.load(file)
        for at in range(0, len(spans), 500):
            body = json.dumps(spans[at:at + 500])
            self.assertEqual(rig.ask(daemon.zipkin, "POST", "/api/v2/spans", body, rig.JSON).status, 202)
        self.assert_same(self.report(daemon, 300), zipkin)

    def test_records_of_trace_points_with_variables(self):
        place = os.path.join(rig.make_folder(self), "records.sock")
        daemon = self.start(f"--records=unix:{place}")
        records, gate = os.path.join(self.folder, "orders.records"), os.path.join(self.folder, "none")
        os.mkdir(gate, 0o700)
        subprocess.run([rig.program("traced_orders"), "200"], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, PYTHIA_OPEN="*", PYTHIA_RECORDS=records, PYTHIA_DIRECTORY=gate))
        with open(records, "rb") as file, socket.socket(socket.AF_UNIX) as link:
            link.connect(place)
            content = file.read()
            for at in range(0, len(content), 5000):
                link.sendall(content[at:at + 5000])
        live = self.report(daemon, 200)
        found = self.assert_same(live, records)
        keys = {key["key"] for group in found["groups"] for key in group["skipped_keys"]}
        self.assertTrue({f"variable.workers.{made}" for made in ("max", "mean", "last")} <= keys, keys)
        self.assert_same(live, os.path.join(self.folder, "record.1"), recorded=True)

    def test_rings_of_a_program_that_runs(self):
        folder = rig.make_folder(self)
        gate = os.path.join(folder, "gate")
        os.mkdir(gate, 0o700)
        daemon = self.start(f"--gate={gate}")
        subprocess.run([rig.program("traced_orders"), "200"], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, PYTHIA_OPEN="*", PYTHIA_DIRECTORY=gate, PYTHIA_SERVICE="shop"))
        self.assert_same(self.report(daemon, 200), os.path.join(self.folder, "record.1"), recorded=True)


def held(verdicts):
    """What verdicts name: state, places and key of each request type."""
    return {one["request_type"]: (one["state"], [place["edge"] for place in one["found"]],
                                  (one["explanation"] or {}).get("key"))
            for one in verdicts}


class SameVerdict(unittest.TestCase):
    """A verdict is of many cycles, and of fewer where a capture is played: both come to the same."""

    def send(self, number):
        """Each third tenant waits in "b" for 30 to 50 ms."""
        slow = ("b", 30000000 + number * 7919 % 20000000) if number % 3 == 0 else None
        spans = otlp.request(("a", "b"), slow=slow, attributes={"tenant": ("acme", "globex", "initech")[number % 3]})
        self.assertEqual(self.pythiad.send(otlp.protobuf(spans)).status, 200)

    def test_a_recording_of_a_search_gives_the_verdict_of_the_search(self):
        record = os.path.join(rig.make_folder(self), "record")
        self.pythiad = rig.Pythiad(self, "--quiet-ms=50", "--learn-requests=20", "--cycle-requests=60",
                                   "--cycle-seconds=1", f"--record={record}")
        numbers = itertools.count()

        def verdicts():
            self.send(next(numbers))
            told = self.pythiad.get("/v1/report").json["verdicts"]
            return told if any(one["cycles"] >= 3 and one["explanation"] for one in told) else None
        live = rig.until(verdicts, 60, lambda: self.pythiad.log)
        self.assertEqual(self.pythiad.stop(), 0)
        done = subprocess.run([rig.program("pythia"), "replay", "--quiet", "--format", "json", "--closed-loop",
                               "--cycle-requests=60", record], capture_output=True, text=True, check=True,
                              timeout=rig.patience(60))
        (state, places, key), = held(live).values()
        self.assertEqual((state, [place["inside"] for place in places], key), ("found", ["shop:b"], "tenant"))
        self.assertEqual(held(json.loads(done.stdout)["verdicts"]), held(live))


if __name__ == "__main__":
    rig.main()
