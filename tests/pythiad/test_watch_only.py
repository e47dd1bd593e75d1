#!/usr/bin/env python3
"""Programs whose trace points nothing can switch: stock OpenTelemetry programs, alone and beside others that have an agent.
usage: test_watch_only.py BIN [SANITIZER]"""
import json
import re
import threading
import time
import unittest

import otlp
import rig
from agent import Agent

OPTIONS = ("--quiet-ms=50", "--cycle-requests=60", "--learn-requests=20", "--cycle-seconds=1")


class Fleet(unittest.TestCase):
    def all_say_the_same(self):
        """The log, the report and what ctl shows read one verdict."""
        self.pythiad.logged(r"Verdict: request-type=shop:root, .*shop:b accounts for")
        def of_one_cycle():
            verdict = next(one for one in self.pythiad.get("/v1/verdicts").json if one["request_type"] == "shop:root")
            self.assertEqual((verdict["state"], verdict["found"][0]["edge"]["inside"]), ("found", "shop:b"))
            text, html = (self.pythiad.get(path).text for path in ("/v1/report?format=text", "/report"))
            again = next(one for one in self.pythiad.get("/v1/report").json["verdicts"] if one["request_type"] == "shop:root")
            plain = [re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", one)) for one in (text, html)]
            where = verdict["where"], verdict["where"].replace("shop:b", "b")  # the page shows short names
            return verdict["sentence"] == again["sentence"] and all(w in one for w, one in zip(where, plain))
        rig.until(of_one_cycle, 30)

    def setUp(self):
        self.pythiad = rig.Pythiad(self, *OPTIONS)
        self.sent = 0

    def send(self, names):
        """One request; every third one is slow in "b"."""
        self.sent += 1
        slow = ("b", 40000000) if self.sent % 3 == 0 and "b" in names else None
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(names, slow=slow))).status, 200)

    def feed(self, done, names=lambda: ("a", "b")):
        def step():
            self.send(names())
            return done()
        return rig.until(step, 60, lambda: self.pythiad.log)

    def status(self):
        return self.pythiad.get("/v1/status").json

    def points(self):
        return {p["trace_point"]: p for p in self.pythiad.get("/v1/points").json}


class WatchOnly(Fleet):
    def test_nothing_that_arrives_is_hidden_and_nothing_is_claimed(self):
        self.feed(lambda: self.status()["cycles"] >= 4)
        self.assertEqual(self.pythiad.get("/v1/report").json["input"]["hidden"], 0)
        points = self.points()
        self.assertEqual({name for name, p in points.items() if not p["switchable"]}, {"shop:root", "shop:a", "shop:b"})
        self.assertTrue(all(p["wanted"] and p["result"] == "not switchable" for p in points.values()), points)
        self.assertRegex(self.pythiad.ctl("points").stdout, r"shop:b  \(not switchable, ")
        self.assertNotIn("Opens a trace point", self.pythiad.log)
        self.assertNotIn("Closes a trace point", self.pythiad.log)
        self.pythiad.logged("Found a cause: request-type=shop:root, place=inside shop:b")
        self.all_say_the_same()
        self.assertEqual(self.pythiad.ctl("decisions").stdout, "nothing has been opened or closed yet\n")

    def test_what_a_program_did_only_when_it_started_comes_last(self):
        """Its share of the variance is that of a cycle long ago."""
        def start():
            self.sent += 1
            body = otlp.protobuf(otlp.request(("b",), service_root="boot", slow=("b", 400000000) if self.sent % 3 == 0 else None))
            self.assertEqual(self.pythiad.send(body).status, 200)
            return "Found a cause: request-type=shop:boot" in self.pythiad.log
        rig.until(start, 60, lambda: self.pythiad.log)
        cycles = self.status()["cycles"]
        self.feed(lambda: "Found a cause: request-type=shop:root" in self.pythiad.log and self.status()["cycles"] >= cycles + 4)
        brief = re.sub(r"\s+", " ", self.pythiad.ctl("report").stdout)
        self.assertRegex(brief, "✖ root .*100 % of all latency variance CAUSE .* △ boot b 100 %; no key")

    def test_nothing_of_a_type_that_turns_up_later_is_hidden(self):
        """Not in the minute either in which no more points become fixed."""
        self.feed(lambda: self.status()["cycles"] >= 3 and self.points()["shop:a"]["wanted"])
        known = []

        def step():
            self.send(("a", "b"))
            self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(("c", "d"), service_root="later"))).status, 200)
            time.sleep(.02)
            report = self.pythiad.get("/v1/report").json
            self.assertEqual(report["input"]["hidden"], 0)
            if any(one["request_type"] == "shop:later" and one["state"] not in ("learning", "too_few")
                   for one in self.pythiad.get("/v1/verdicts").json):
                known.append(self.status()["cycles"])
            return known and known[-1] >= known[0] + 3
        rig.until(step, 60, lambda: self.pythiad.log)

    def test_points_that_are_not_learnt_yet_do_not_count_as_open_from_the_start(self):
        """A type of one request waits to be learnt: its points are watched, and not in the search space."""
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(("c",), service_root="other"))).status, 200)

        def search():
            return self.pythiad.get("/v1/report").json["search"]

        self.feed(lambda: self.status()["cycles"] >= 2 and search()["trace_points"] > 0)
        self.assertEqual(set(self.points()), {"shop:root", "shop:a", "shop:b", "shop:other", "shop:c"})
        self.assertEqual((search()["trace_points"], search()["skeleton"]), (3, 3))

    def test_a_point_that_cannot_be_switched_is_not_pinned(self):
        self.feed(lambda: self.status()["cycles"] >= 1)
        for action in ("open", "close"):
            done = self.pythiad.ctl(action, "shop:a")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("these trace points cannot be switched: shop:a; no control plane has reported it", done.stderr)
            self.assertIn("pythia-gate.js", done.stderr)
        answer = self.pythiad.post("/v1/open", {"trace_points": ["shop:a"]})
        self.assertEqual((answer.status, answer.json["not_switchable"]), (409, ["shop:a"]))
        self.assertEqual(self.pythiad.ctl("unpin", "shop:a").returncode, 0)

    def test_a_point_becomes_switchable_when_an_agent_reports_it(self):
        self.feed(lambda: self.status()["cycles"] >= 1)
        agent = Agent(self.pythiad, "shop", ("a", "b"))
        self.assertEqual(agent.report().status, 200)
        rig.until(lambda: self.points()["shop:a"]["switchable"] and self.points()["shop:b"]["switchable"], 5)
        self.assertFalse(self.points()["shop:root"]["switchable"])
        self.assertEqual(self.pythiad.ctl("open", "shop:a").returncode, 0)

    def test_points_that_are_reported_late_are_closed_without_waiting_a_minute(self):
        """As after each start: spans arrive before the agents have asked again."""
        self.feed(lambda: self.status()["cycles"] >= 1)
        agent, before = Agent(self.pythiad, "shop", ("root", "a", "b")), self.status()["cycles"]
        agent.report()

        def is_closed():
            agent.poll()
            return not self.points()["shop:a"]["wanted"]
        self.feed(is_closed)
        self.assertLess(self.status()["cycles"] - before, 10)


class Confidence(Fleet):
    """Two steps have half of the variance each, so that no cycle alone is sure that one of them has so much."""

    def send(self, names):
        self.sent += 1
        slow = {0: ("a", 40000000), 2: ("b", 40000000)}.get(self.sent % 4)
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(names, slow=slow))).status, 200)

    def test_a_rise_of_confidence_is_logged_once_with_its_reason(self):
        rise = "Its confidence rose from medium in cycle"
        self.feed(lambda: rise in self.pythiad.log)
        self.pythiad.logged(r"Verdict: request-type=shop:root, cycle=(\d+), confidence=high, verdict=[^\n]* accounts for [^\n]* " +
                            rise + r" \1: it was found in three cycles\.$")
        cycles = self.status()["cycles"]
        self.feed(lambda: self.status()["cycles"] >= cycles + 3)
        self.assertEqual(self.pythiad.log.count(rise), 1, self.pythiad.log)


class HalfOfThem(Fleet):
    """One instance has an agent, and sends what is open; another has none, and sends everything."""

    def test_points_that_one_instance_cannot_close_count_as_open(self):
        agent, stop = Agent(self.pythiad, "shop", ("root", "a", "b")), threading.Event()
        opened = set()

        def poll():
            while not stop.is_set():
                got = agent.poll()
                if got:
                    opened.clear()
                    opened.update(got["open"], got["open_for"])
                time.sleep(.05)
        self.assertEqual(agent.report().status, 200)
        thread = threading.Thread(target=poll)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)

        def names():
            if self.sent % 2:
                return ("a", "b")
            return tuple(n for n in ("a", "b") if f"shop:{n}" in opened) or ("b",)
        self.feed(lambda: "Spans of a closed trace point arrive" in self.pythiad.log, names)
        rig.until(lambda: {name for name, p in self.points().items() if p["wanted"]} == {"shop:root", "shop:a", "shop:b"}, 5,
                  lambda: json.dumps(self.points()))


if __name__ == "__main__":
    rig.main()
