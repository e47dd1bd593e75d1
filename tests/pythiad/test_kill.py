#!/usr/bin/env python3
"""An end without warning: kill -9 at random moments, with points of three control planes. usage: test_kill.py BIN [SANITIZER]

12 times, or 200 with PYTHIA_FULL=1, as in `./dev check`. PYTHIA_SEED chooses other moments and orders."""
import ctypes
import http.client
import os
import random
import signal
import sqlite3
import sys
import threading
import time
import unittest
import unittest.mock

import otlp
import rig
from agent import Agent

os.environ["PYTHIA_OSPROFILER"] = "0"  # this program itself is not traced
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../adapters/controls/osprofiler/python"))
import pythia_osprofiler  # noqa: E402


class Board:
    """The switchboard of C programs, with points that programs have put there."""

    def __init__(self, test, names):
        path = rig.program("../tracepoints/libpythia-tracepoints.so")
        if rig.SANITIZER or not os.path.exists(path):
            test.skipTest("the library of trace points is looked at in plain builds")
        self.shared, self.folder = ctypes.CDLL(path), rig.make_folder(test)
        self.board = ctypes.c_void_p()
        test.assertEqual(self.shared.pythia_switchboard_open(self.folder.encode(), 1, ctypes.byref(self.board), None), 0)
        test.addCleanup(self.shared.pythia_switchboard_close, self.board)
        for name in names:
            self.throw(name, 0)

    def throw(self, name, to):
        assert self.shared.pythia_switchboard_throw(self.board, name.encode(), ctypes.c_size_t(len(name)),
                                                     ctypes.c_uint64(2**64 - 1), ctypes.c_uint64(to)) == 0

    def opened(self):
        return rig.open_points(self.shared, self.board)


class Poller(threading.Thread):
    """A process with trace points that asks over HTTP. While pythiad is away it keeps what it has until the lease is over."""

    def __init__(self, service, names):
        super().__init__(daemon=True)
        self.agent, self.ends = Agent(None, service, names), threading.Event()
        self.open, self.lease_end = set(), 0.0
        self.asks = threading.Lock()  # is held while it asks, and while what it asks changes
        self.start()

    def run(self):
        while not self.ends.wait(.05):
            got = None
            with self.asks:
                try:
                    if self.agent.pythiad:
                        got = self.agent.poll()
                        if got is None:
                            self.agent.report()
                except (OSError, http.client.HTTPException):  # it was killed in the middle of an answer, or is not back yet
                    pass
            if got:
                self.open, self.lease_end = {*got["open"], *got["open_for"]}, time.monotonic() + got["lease_ms"] / 1000
            elif time.monotonic() > self.lease_end:
                self.open = set()

    def opened(self):
        return self.open


class Profiled:
    """A process with the preload for OSProfiler, as far as that talks to a Redis."""

    def __init__(self, test, points):
        self.redis = rig.RedisServer(test)
        with unittest.mock.patch.dict(os.environ, PYTHIA_REDIS=self.redis.url):
            self.agent = pythia_osprofiler.Agent()
        self.agent.service = points[0].split(":")[0]
        for point in points:
            self.agent.point_of(point)
        self.points = points
        threading.Thread(target=self.agent.run, args=(os.getpid(),), daemon=True).start()
        test.addCleanup(setattr, self.agent, "pid", 0)  # the thread ends

    def opened(self):
        return {point for point in self.points if self.agent.table.is_open(point, False, frozenset)}


class Kill(unittest.TestCase):
    PLANES = {"gate": "shop", "http": "till", "osprofiler": "nova"}
    POINTS = [f"{service}:step {i}" for service in PLANES.values() for i in range(5)]
    PINNED = [point for point in POINTS if point[-1] in "34"]  # the search decides upon the others
    slow = "shop:step 1"  # within the service of the root: it is closed until the search opens it

    def setUp(self):
        self.folder = rig.make_folder(self)
        points = {plane: [p for p in self.POINTS if p.startswith(service + ":")] for plane, service in self.PLANES.items()}
        self.board = Board(self, points["gate"])
        self.poller = Poller("till", [point.split(":")[1] for point in points["http"]])
        self.addCleanup(self.poller.ends.set)
        self.profiled = Profiled(self, points["osprofiler"])
        self.switched = {"gate": self.board, "http": self.poller, "osprofiler": self.profiled}

    def rows(self, query):
        db = sqlite3.connect(f"file:{self.folder}/state.db?mode=ro", uri=True)
        try:
            return db.execute(query).fetchall()
        finally:
            db.close()

    def start(self, *options):
        pythiad = rig.Pythiad(self, f"--gate={self.board.folder}", f"--osprofiler={self.profiled.redis.url}",
                              f"--state={self.folder}/state.db", "--quiet-ms=50", "--cycle-requests=30",
                              "--learn-requests=20", "--cycle-seconds=1", *options, folder=self.folder)
        self.poller.agent.pythiad = pythiad
        return pythiad

    def end(self, pythiad):
        pythiad.signal(signal.SIGKILL)
        pythiad.process.wait()
        with self.poller.asks:
            self.poller.agent.pythiad = None

    def opened(self):
        """What is open, as the processes of all planes see it."""
        return set().union(*(plane.opened() for plane in self.switched.values()))

    def feed(self, pythiad, stop):
        """Requests through the three services until pythiad is gone: spans of what is open, and one step that is slow now and
        then, so that there is something to decide."""
        i = 0
        while not stop.is_set():
            opened = self.opened()
            *steps, root = otlp.request(self.POINTS, slow=(self.slow, 20000000 * (i % 3 == 0)))
            body = otlp.protobuf([root])
            for span in steps:
                if span.name in opened:
                    service, span.name = span.name.split(":", 1)
                    body += otlp.protobuf([span], service)
            i += 1
            try:
                pythiad.send(body)
            except (OSError, http.client.HTTPException):
                return
            time.sleep(.002)

    def holds(self, pythiad):
        """What the process itself holds: its number of descriptors, and the shared memory that it maps."""
        with open(f"/proc/{pythiad.pid}/maps", encoding="utf-8") as lines:
            shared = {" ".join(line.split()[3:6]) for line in lines if "/SYSV" in line or "/dev/shm/" in line}
        return len(os.listdir(f"/proc/{pythiad.pid}/fd")), shared

    def decisions(self, pythiad):
        """{type of request: [decision, oldest first]}"""
        by_type = {}
        for one in sorted(pythiad.get("/v1/decisions?count=10000").json, key=lambda one: one["cycle"]):
            by_type.setdefault(one["request_type"], []).append(one)
        return by_type

    def check_decisions(self, pythiad, acknowledged, turn):
        """Those that were answered are there. A state with its 200 of a type may have evicted the oldest of that type."""
        now = self.decisions(pythiad)
        for kind, before in acknowledged.items():
            kept = now.get(kind, [])
            lost = [one for one in (before if len(kept) < 200 else before[-100:]) if one not in kept]
            self.assertEqual(lost, [], f"turn {turn}: decisions are lost")

    def order_until_killed(self, pythiad, pins, chance, met):
        """Orders come, and at some moment among them it is killed. The order whose answer never came, as (point, pin)."""
        deadline = time.monotonic() + chance.random() * .3
        killer = threading.Timer(deadline - time.monotonic(), pythiad.process.kill)
        killer.start()
        while True:
            point, pin = chance.choice(self.PINNED), chance.choice((1, -1))
            try:
                answer = pythiad.post("/v1/open" if pin > 0 else "/v1/close", {"trace_points": [point]})
            except (OSError, http.client.HTTPException):
                break
            if answer.status == 200:
                pins[point] = pin
            else:  # none if all planes have said what points they have
                self.assertIn(answer.status, () if met else (404, 409), answer.text)
        killer.join()
        self.end(pythiad)
        return point, pin

    def settle(self, pythiad, pins, turn):
        """Wait until each plane has in force what shall be open; after how many seconds."""
        rig.until(lambda: pythiad.metric("pythia_points_known") >= len(self.POINTS), 5)
        pinned = {point for point, pin in pins.items() if pin > 0}

        def agrees():
            desired = {row[0] for row in self.rows("SELECT trace_point FROM desired")} & set(self.POINTS)
            seen.append((sorted(desired), sorted(self.opened())))
            return desired == self.opened() and pinned <= desired
        seen, begun = [], time.monotonic()
        rig.until(agrees, 5, lambda: f"turn {turn}: {seen[-1]}, pins {pins}\n{pythiad.log}")
        return time.monotonic() - begun

    def test_killed_at_random_moments(self):
        """Fault 3, C2-3: it starts again within 1 s; what was acknowledged is kept; within 5 s the points of all planes that
        are open are those of the desired set; nothing of an earlier process is left."""
        turns, seed = 200 if rig.FULL else 12, int(os.environ.get("PYTHIA_SEED", 7))
        print(f"{turns} times, PYTHIA_SEED={seed}", flush=True)
        chance, pins, acknowledged, held, files = random.Random(seed), {}, {}, [], []
        slowest = settled = 0
        begun = time.monotonic()
        for turn in range(turns):
            started = time.monotonic()
            self.slow = f"shop:step {1 + (turn + 1) // 4 % 2}"  # it moves where a decision is waited for
            pythiad = self.start("--lease-seconds=30", f"--learn={'all' if turn % 2 or not turn else 'default'}")
            slowest = max(slowest, time.monotonic() - started)
            self.assertEqual(dict(self.rows("SELECT trace_point, pin FROM pin")), pins, turn)
            self.check_decisions(pythiad, acknowledged, turn)
            stop = threading.Event()
            feeder = threading.Thread(target=self.feed, args=(pythiad, stop), daemon=True)
            feeder.start()
            met = turn % 4 > 0 or turn == turns - 1  # the others are killed in the middle of it
            if met:
                settled = max(settled, self.settle(pythiad, pins, turn))
                held.append(self.holds(pythiad))
                files.append(sorted(os.listdir(self.folder)))
            if turn == 1:  # killed before, it would leave everything open, and nothing would have to be decided
                rig.until(lambda: not pythiad.get("/v1/status").json["learning"], 30, lambda: f"it still learns\n{pythiad.log}")
            if turn == 1:  # killed before, it would search what it knew when most was closed
                rig.until(lambda: not pythiad.get("/v1/status").json["learning"], 30, lambda: f"it still learns\n{pythiad.log}")
            if turn % 4 == 3:
                rig.until(lambda: self.decisions(pythiad) != acknowledged, 30, lambda: f"turn {turn}: no decision\n{pythiad.log}")
            acknowledged = self.decisions(pythiad)
            unsure = self.order_until_killed(pythiad, pins, chance, met)
            stop.set()
            feeder.join()
            kept = dict(self.rows("SELECT trace_point, pin FROM pin"))
            if kept != pins:  # the last order was done, and its answer never came: that is as good
                pins[unsure[0]] = unsure[1]
            self.assertEqual(kept, pins, f"turn {turn}: what was acknowledged is lost")
        print(f"{turns} times in {time.monotonic() - begun:.0f} s: start {slowest * 1000:.0f} ms at most, settled "
              f"{settled * 1000:.0f} ms at most, {len(pins)} pins, {sum(map(len, acknowledged.values()))} decisions, "
              f"{min(n for n, _ in held)} to {max(n for n, _ in held)} descriptors", flush=True)
        self.assertTrue(acknowledged, "no decision was made: nothing was tested")
        self.assertLessEqual(held[-1][0] - held[0][0], 8, "descriptors rise")  # a few connections more or less
        self.assertEqual([shared for _, shared in held], [held[0][1]] * len(held), "each process leaves shared memory behind")
        self.assertEqual(files, [files[0]] * len(files), "files are left")
        rig.within(self, slowest, 1, "the slowest start")
        rig.within(self, settled, 5, "the longest until the desired set was in force")

    def test_when_nobody_starts_it_again(self):
        """Points of all planes go back to their default when the lease is over, pinned or not."""
        pythiad = self.start("--lease-seconds=1", "--learn=default")
        pinned = {points + ":step 0" for points in self.PLANES.values()}
        rig.until(lambda: pythiad.metric("pythia_points_known") >= len(self.POINTS), 5)
        self.assertEqual(pythiad.post("/v1/open", {"trace_points": sorted(pinned)}).status, 200)
        rig.until(lambda: self.opened() == pinned, 10, lambda: f"open: {self.opened()}")
        self.end(pythiad)
        rig.until(lambda: self.opened() == set(), 5, lambda: f"open: {self.opened()}")


class DeadMan(unittest.TestCase):
    """Fault 16."""

    def test_targets_go_back_when_the_lease_is_over(self):
        board = Board(self, ("shop:a", "shop:b"))
        pythiad = rig.Pythiad(self, f"--gate={board.folder}", "--learn=default", "--lease-seconds=2")
        rig.until(lambda: pythiad.metric("pythia_points_known") == 2, 5)
        self.assertEqual(pythiad.post("/v1/open", {"trace_points": ["shop:a"]}).status, 200)
        rig.until(lambda: board.opened() == {"shop:a"}, 5)
        time.sleep(3)  # the lease is renewed as long as it lives
        self.assertEqual(board.opened(), {"shop:a"})
        killed = time.monotonic()
        pythiad.signal(signal.SIGKILL)
        pythiad.process.wait()
        time.sleep(.5)
        opened = board.opened()
        if time.monotonic() - killed < 1:  # not before the lease is over: it may be started again
            self.assertEqual(opened, {"shop:a"})
        rig.until(lambda: board.opened() == set(), 5)
        rig.within(self, time.monotonic() - killed, 4, "from the end of pythiad to the default set")

    def test_agents_are_told_the_lease(self):
        """Of 30 s, if nothing else was said."""
        for options, lease_ms in (((), 30000), (("--lease-seconds=7",), 7000)):
            self.told(rig.Pythiad(self, *options), lease_ms)

    def told(self, pythiad, lease_ms):
        body = '{"service":"shop","instance":"1","applied":"","points":[{"id":"shop:a","hits":1,"open_by_default":false}]}'
        self.assertEqual(rig.ask(pythiad.http, "POST", "/v1/trace-points", body, rig.JSON).status, 200)
        answer = rig.until(lambda: next((a for a in [rig.ask(pythiad.http, "GET", "/v1/trace-points?service=shop&instance=1")]
                                         if a.status == 200), None), 5)
        self.assertEqual(answer.json["lease_ms"], lease_ms)


if __name__ == "__main__":
    rig.main()
