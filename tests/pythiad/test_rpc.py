#!/usr/bin/env python3
"""pythiad attached to the services of datasets/testbeds/rpc, by their switchboard and their rings: for each problem that is
planted it names by itself the place and what explains it, by few points, and closes what it opened when it is gone; without
one it names nothing. usage: test_rpc.py BIN [SANITIZER]"""
import json
import os
import re
import subprocess
import time
import unittest

import rig

TESTBED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "datasets", "testbeds", "rpc")
TYPES = {"get", "put", "list"}  # as the services call them
RATE = 60  # requests a second: one worker of the store is busy for two thirds of the time
# What is right for each problem: places, of which the one that is found has to be one, the points of these, and keys, of which
# one has to be the first that explains the requests there.
PROBLEMS = {
    "pool": ({"inside store:queue"}, {"store:queue"},
             {"queue_length", "workers_busy", "variable.queue length", "variable.workers busy"}),
    "shard": ({"inside shard:page.read"}, {"shard:page.read"}, {"shard"}),
    "lock": ({"inside store:lock.held", "inside store:lock.wait"}, {"store:lock.held", "store:lock.wait"},
             {"tenant", "lock_holder", "lock_waiters", "variable.lock waiters"}),
    # The pause lies between two attempts: whether there is another one is the same as how many there are, of the attempts
    # themselves and of what each of them asks.
    "retry": ({"inside store:backoff", "between one store:attempt and the next"}, {"store:backoff", "store:attempt"},
              {"variable.tried again", "variable.tried again.last", "attempts", "attempt", "status", "has:store:backoff",
               "count:store:backoff", "count:store:attempt", "count:shard:get", "count:shard:put", "count:shard:list"}),
}
OPENED_MAX = 1 / 3  # of the points that are known
FOUND = re.compile(r"Found a cause: request-type=(\S+), place=(.*), share=([-0-9.]+), cycle=(\d+)")


def places(log):
    """(request type, place) of each that was found, in order."""
    return [(match[1], match[2]) for match in FOUND.finditer(log)]


class Services:
    """The test bed in a folder of its own, and a load that goes on until it is ended."""

    def __init__(self, test, folder, gate, **more):
        self.env = dict(os.environ, TESTBED_RPC=os.path.join(folder, "testbed"), PYTHIA_DIRECTORY=gate,
                        RPC_PROGRAM=rig.program("rpc_testbed"), **more)
        self.sending = None
        test.addCleanup(self.run, "down")
        self.run("up")

    def run(self, script, *words):
        done = subprocess.run([os.path.join(TESTBED, script), *words], env=self.env, text=True, capture_output=True,
                              timeout=rig.patience(60), check=False)
        if done.returncode != 0:
            raise AssertionError(f"{script}: {done.returncode} {done.stderr}")
        return done.stdout

    def load(self, test, seed):
        self.sending = subprocess.Popen([os.path.join(TESTBED, "load"), f"--rate={RATE}", "--seconds=3600", f"--seed={seed}"],
                                        env=self.env, text=True, stdout=subprocess.PIPE, preexec_fn=rig.die_with_parent)
        test.addCleanup(self.sending.kill)

    def end_load(self):
        """What it tells; every request has to be answered, and well."""
        self.sending.terminate()
        out, _ = self.sending.communicate(timeout=rig.patience(60))
        told = json.loads(out)
        if self.sending.returncode != 0 or told["ok"] != told["sent"]:
            raise AssertionError(out)
        return told


class Rpc(unittest.TestCase):
    def start(self, problem):
        folder = rig.make_folder(self)
        gate = os.path.join(folder, "gate")
        os.mkdir(gate, 0o700)
        # A request waits longer for what is late than usual: others may have the processors for a while.
        pythiad = rig.Pythiad(self, f"--gate={gate}", "--quiet-ms=1000", "--learn-requests=50", "--cycle-requests=150",
                              "--cycle-seconds=5", "--min-cov=0.4", folder=folder)
        services = Services(self, folder, gate)
        services.run("plant", problem)
        services.load(self, 7)
        return pythiad, services

    def opened(self, pythiad):
        return {one["trace_point"] for one in pythiad.get("/v1/decisions?count=10000").json if one["open"]}

    def explained(self, pythiad, points, keys):
        """The first key that explains a group of requests which is about the place, if it is one of `keys`."""
        for group in pythiad.get("/v1/groups").json:
            edges = [edge for edge in group["edges"]
                     if {edge["from"]["trace_point"], edge["to"]["trace_point"]} & points]
            for one in group["explanations"][:1] if edges else []:
                if one["key"].partition("@")[0] in keys:
                    return one["key"]
        return None

    def assert_clean(self, pythiad):
        """Nothing is lost or mended on the way from the rings to the requests, but for what a busy machine makes late."""
        metrics = pythiad.metrics()
        lost = {name: value for name, value in metrics.items()
                if name.startswith(("pythia_spans_repaired_total", "pythia_spans_dropped_total")) and value > 0}
        late = lost.pop('pythia_spans_dropped_total{reason="late"}', 0)
        if late:  # and what hung on them
            late += lost.pop('pythia_spans_repaired_total{kind="orphan"}', 0)
        # A service that loses the processor between its answer and the end of its span ends after who called it.
        clamped = lost.pop('pythia_spans_repaired_total{kind="clamped"}', 0)
        self.assertEqual(lost, {})
        self.assertLess(clamped, .001 * metrics["pythia_spans_total"])
        self.assertLess(late, .01 * metrics["pythia_spans_total"])

    def find(self, problem):
        right, points, keys = PROBLEMS[problem]
        pythiad, services = self.start(problem)
        begin = time.monotonic()

        def named():
            found = [place for _, place in places(pythiad.log) if place in right]
            key = self.explained(pythiad, points, keys) if found else None
            return (found[0], key) if key else None
        place, key = rig.until(named, 180, lambda: f"{right} and {keys} are not named: {pythiad.log[-4000:]}\n"
                               + json.dumps(pythiad.get("/v1/groups").json))
        took = time.monotonic() - begin
        opened, known = self.opened(pythiad), pythiad.metric("pythia_points_known")
        self.assertGreaterEqual(known, 40)
        self.assertLessEqual(len(opened), known * OPENED_MAX, opened)
        # Whatever is open, a request is called what its program calls it.
        self.assertLessEqual({kind for kind, _ in places(pythiad.log)}
                             | {group["request_type"] for group in pythiad.get("/v1/groups").json}, TYPES)
        # Whatever was found first is right; one that varies less may be found later.
        self.assertIn(places(pythiad.log)[0][1], right)
        # The cause goes away, and so does what was opened for it.
        services.run("plant", "none")
        rig.until(lambda: not self.opened(pythiad) & {one["trace_point"] for one in pythiad.get("/v1/points").json
                                                      if one["wanted"]}, 180, lambda: pythiad.log[-4000:])
        closed = time.monotonic() - begin - took
        told = services.end_load()
        self.assert_clean(pythiad)
        print(f"{problem}: {place}, {key}, after {took:.0f} s, by {len(opened)} of {known:.0f} points, closed after "
              f"{closed:.0f} s more; {told['sent']} requests", flush=True)
        self.assertEqual(pythiad.stop(), 0, pythiad.log[-3000:])

    def test_a_pool_that_is_too_small(self):
        self.find("pool")

    def test_a_slow_shard(self):
        self.find("shard")

    def test_a_lock_that_is_held_too_long(self):
        self.find("lock")

    def test_attempts_that_fail(self):
        self.find("retry")

    def test_nothing_is_named_where_nothing_is_planted(self):
        """Unless the machine itself takes its time from one request and not from another, which the load sees by itself, since
        it sends late: then it is tried again."""
        for _ in range(3):
            pythiad, services = self.start("none")
            rig.until(lambda: pythiad.metric("pythia_cycles_total") >= 8, 180, lambda: pythiad.log[-3000:])
            told = services.end_load()
            self.assert_clean(pythiad)
            self.assertEqual(pythiad.stop(), 0, pythiad.log[-3000:])
            services.run("down")
            if not places(pythiad.log):
                return
            print(f"found {places(pythiad.log)}; {told}", flush=True)
            self.assertGreater(told["late"], told["sent"] * .002, places(pythiad.log))
        self.skipTest("other programs take too much of the machine's time")


if __name__ == "__main__":
    rig.main()
