#!/usr/bin/env python3
"""Trace points that cost a program too much are closed at once. usage: test_breaker.py BIN [SANITIZER]"""
import json
import os
import re
import signal
import time
import unittest

import otlp
import rig
from agent import Agent

PRICE_NS = 1000000
LIMIT = 20  # hits in a second
# It learns all the while: no cycle ends, and every point is wanted open but for what the breaker closes.
OPTIONS = ("--quiet-ms=50", "--learn-requests=1000000", f"--breaker-ns={LIMIT * PRICE_NS}")


class PricedAgent(Agent):
    """An agent that reports what a hit costs: by name, or else PRICE_NS."""
    prices_ns = {}

    def report(self):
        body = {"service": self.service, "instance": "1", "applied": self.etag.strip('"'),
                "points": [{"id": point, "price_ns": self.prices_ns.get(point.split(":")[1], PRICE_NS)} for point in self.points]}
        return rig.ask(self.pythiad.http, "POST", "/v1/trace-points", json.dumps(body), rig.JSON)


class Breaker(unittest.TestCase):
    def start(self, *options):
        self.pythiad = rig.Pythiad(self, *options)
        self.agent = PricedAgent(self.pythiad, "shop", ("root", "hot", "cold"))
        self.assertEqual(self.agent.report().status, 200)
        self.second = int(time.time())
        rig.until(lambda: self.opened() == {"root", "hot", "cold"}, 10, lambda: self.pythiad.log)

    def opened(self):
        got = rig.ask(self.pythiad.http, "GET", "/v1/trace-points?service=shop&instance=1").json
        self.agent.poll()
        return {point.split(":")[1] for point in {*got["open"], *got["open_for"]}}

    def send(self, hits):
        """One request of a new second, in which "hot" is hit so often, and "cold" as often as it may be. It begins after whatever
        was switched before."""
        self.second = max(self.second + 1, int(time.time()) + 1)
        spans = otlp.request(("hot",) * hits + ("cold",) * LIMIT, start=self.second * 10**9)
        self.assertEqual(self.pythiad.send(otlp.protobuf(spans)).status, 200)

    def trips(self):
        return self.pythiad.metric("pythia_breaker_trips_total")

    def trip(self):
        self.send(LIMIT + 1)
        rig.until(lambda: self.opened() == {"root", "cold"}, 10, lambda: self.pythiad.log)

    def test_a_point_that_costs_too_much_is_closed_without_a_cycle(self):
        self.start(*OPTIONS)
        self.send(LIMIT)
        rig.until(lambda: self.pythiad.metric('pythia_requests_finished_total{by="any"}') == 1, 10)
        self.assertEqual((self.trips(), self.opened()), (0, {"root", "hot", "cold"}))
        self.trip()
        line = self.pythiad.logged("Closed a trace point at once, because it cost a program more than breaker-ns per second")
        self.assertRegex(line, r"trace-point=shop:hot, program=shop[^,]*, cost-ns=21000000, limit-ns=20000000, price-ns=1000000$")
        metrics = self.pythiad.metrics()
        self.assertEqual([metrics[f"pythia_breaker_{name}"] for name in ("limit_ns", "points", "trips_total")],
                         [LIMIT * PRICE_NS, 1, 1])
        self.assertEqual(metrics['pythia_point_dropped{trace_point="shop:hot",reason="breaker"}'], 1)
        self.assertEqual(self.pythiad.get("/v1/status").json["cycles"], 0)
        decision = json.loads(self.pythiad.ctl("decisions", "--format", "json").stdout)[0]
        self.assertEqual((decision["trace_point"], decision["open"], decision["reason"]),
                         ("shop:hot", False, "it cost a program 21 ms in a second; the limit is 20 ms (breaker-ns)"))
        # A person can open it in spite of that, and then it stays open.
        self.assertEqual(self.pythiad.ctl("open", "shop:hot").returncode, 0)
        rig.until(lambda: self.opened() == {"root", "hot", "cold"}, 10, lambda: self.pythiad.log)
        self.send(LIMIT + 1)
        self.pythiad.logged("A trace point costs a program more than breaker-ns per second, but stays open .*trace-point=shop:hot")
        self.assertEqual((self.trips(), self.pythiad.metric("pythia_breaker_points")), (1, 0))
        self.assertIn("hot", self.opened())
        self.assertEqual(self.pythiad.stop(), 0)

    def test_it_stays_closed_for_the_hold_time(self):
        self.start(*OPTIONS, "--breaker-hold-seconds=0.5")
        for trips in (1, 2):
            self.send(LIMIT + 1)
            rig.until(lambda: self.trips() == trips, 10, lambda: self.pythiad.log)
            rig.until(lambda: self.pythiad.log.count("Allowed a trace point that had cost a program too much to be opened again") == trips, 10, lambda: self.pythiad.log)
        self.assertEqual(self.pythiad.metric("pythia_breaker_points"), 0)
        rig.until(lambda: self.opened() == {"root", "hot", "cold"}, 10, lambda: self.pythiad.log)
        self.assertEqual(self.pythiad.stop(), 0)

    def test_another_limit_holds_while_it_runs(self):
        path = os.path.join(rig.make_folder(self), "pythiad.yaml")

        def limit(ns):
            with open(path, "w", encoding="utf-8") as to:
                to.write(f"breaker-ns: {ns}\n")
        limit(LIMIT * PRICE_NS)
        self.start(*OPTIONS[:2], f"--config={path}")
        self.trip()
        limit(0)
        self.pythiad.signal(signal.SIGHUP)
        rig.until(lambda: self.opened() == {"root", "hot", "cold"}, 10, lambda: self.pythiad.log)
        self.send(10 * LIMIT)
        rig.until(lambda: self.pythiad.metric('pythia_requests_finished_total{by="any"}') == 2, 10)
        self.assertEqual(self.trips(), 1)
        self.assertFalse(re.search("only changes with a restart: name=breaker-ns", self.pythiad.log))
        self.assertEqual(self.pythiad.stop(), 0)

    def test_the_limit_of_what_tracing_may_take_holds_at_the_prices_that_agents_report(self):
        """A hit of "hot" costs a fifth of a request of 5 ms, of the others 0.4 % together."""
        self.pythiad = rig.Pythiad(self, *OPTIONS[:2], "--cycle-requests=1000000", "--max-overhead-pct=2")
        self.agent = PricedAgent(self.pythiad, "shop", ("root", "hot", "cold"))
        self.agent.prices_ns = {"root": 10000, "cold": 10000}
        self.assertEqual(self.agent.report().status, 200)
        rig.until(lambda: self.opened() == {"root", "hot", "cold"}, 10, lambda: self.pythiad.log)

        def is_dropped():
            hot = ("hot",) if "hot" in self.opened() else ()
            self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(hot + ("cold",)))).status, 200)
            return self.pythiad.metric("pythia_points_dropped") and "hot" not in self.opened()
        rig.until(is_dropped, 60, lambda: self.pythiad.log)
        self.assertEqual(self.opened(), {"root", "cold"})
        decision = json.loads(self.pythiad.ctl("decisions", "--format", "json").stdout)[0]
        self.assertEqual((decision["trace_point"], decision["price_ns"], decision["price_known"]), ("shop:hot", PRICE_NS, "measured"))
        self.assertRegex(decision["reason"], r"^tracing took [0-9.]+ % of the time of requests, above the limit of 2 %: this point cost [0-9.]+ %")
        self.assertEqual(self.pythiad.stop(), 0)


if __name__ == "__main__":
    rig.main()
