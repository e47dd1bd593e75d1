#!/usr/bin/env python3
"""An end without warning: 200 times kill -9 at a random moment, and what comes of it. usage: test_kill.py BIN [SANITIZER]"""
import ctypes
import os
import random
import signal
import sqlite3
import threading
import time
import unittest

import otlp
import rig


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


class Kill(unittest.TestCase):
    POINTS = [f"shop:step {i}" for i in range(12)]

    def rows(self, query):
        db = sqlite3.connect(f"file:{self.folder}/state.db?mode=ro", uri=True)
        try:
            return db.execute(query).fetchall()
        finally:
            db.close()

    def start(self, *options):
        return rig.Pythiad(self, f"--gate={self.board.folder}", f"--state={self.folder}/state.db", "--quiet-ms=50",
                           "--cycle-requests=30", "--learn-requests=20", "--cycle-seconds=1", *options, folder=self.folder)

    def feed(self, pythiad, stop):
        """Requests as they would be with what is open, until it is gone."""
        i = 0
        while not stop.is_set():
            names = [name.split(":")[1] for name in self.board.opened()] or ["step 0"]
            spans = otlp.request(names, slow=(random.choice(names), 20000000 * (i % 3 == 0)))
            i += 1
            try:
                pythiad.send(otlp.protobuf(spans))
            except OSError:
                return
            time.sleep(.002)

    def test_200_times(self):
        """Fault 3: it starts again within 1 s; what was acknowledged is kept; within 5 s what is open is what shall be open."""
        self.folder, chance = rig.make_folder(self), random.Random(7)
        self.board = Board(self, self.POINTS)
        pins, slowest, settled = {}, 0, 0
        begun = time.monotonic()
        for turn in range(200):
            started = time.monotonic()
            pythiad = self.start("--lease-seconds=30", f"--learn={'all' if turn % 2 else 'default'}")
            slowest = max(slowest, time.monotonic() - started)
            self.assertEqual(dict(self.rows("SELECT trace_point, pin FROM pin")), pins, turn)
            stop = threading.Event()
            feeder = threading.Thread(target=self.feed, args=(pythiad, stop), daemon=True)
            feeder.start()

            def wishes():
                with_pins = {row[0] for row in self.rows("SELECT trace_point FROM desired")}
                return with_pins & set(self.POINTS), self.board.opened()
            if turn % 5 == 0:  # long enough to look at
                rig.until(lambda: pythiad.metric("pythia_points_known") >= len(self.POINTS), 5)

                def agrees():
                    desired, opened = wishes()
                    return desired == opened and {p for p, pin in pins.items() if pin > 0} <= opened
                looked = time.monotonic()
                rig.until(agrees, 5, lambda: f"turn {turn}: {wishes()}, pins {pins}\n{pythiad.log}")
                settled = max(settled, time.monotonic() - looked)
            # Orders come, and at some moment among them it is killed.
            deadline = time.monotonic() + chance.random() * .3
            killer = threading.Timer(deadline - time.monotonic(), lambda pid=pythiad.pid: os.kill(pid, signal.SIGKILL))
            killer.start()
            unsure = None
            while True:
                point, pin = chance.choice(self.POINTS), chance.choice((1, -1))
                unsure = (point, pin)
                try:
                    answer = pythiad.post("/v1/open" if pin > 0 else "/v1/close", {"trace_points": [point]})
                except OSError:
                    break
                except Exception as why:  # half an answer
                    self.assertIn(type(why).__name__, ("RemoteDisconnected", "BadStatusLine", "IncompleteRead"))
                    break
                if answer.status == 200:
                    pins[point] = pin
                else:
                    self.assertEqual(answer.status, 404)  # the inventory is not read yet
                unsure = None
            killer.join()
            pythiad.process.wait()
            stop.set()
            feeder.join()
            kept = dict(self.rows("SELECT trace_point, pin FROM pin"))
            if unsure and kept != pins:  # it was done, and not told any more: that is as good
                pins[unsure[0]] = unsure[1]
            self.assertEqual(kept, pins, f"turn {turn}: what was acknowledged is lost")
        print(f"200 times in {time.monotonic() - begun:.0f} s: start {slowest * 1000:.0f} ms at most, settled "
              f"{settled * 1000:.0f} ms at most", flush=True)
        rig.within(self, slowest, 1, "the slowest start")
        rig.within(self, settled, 5, "the longest until the desired set was in force")
        # At last nobody starts it again: points go back to their default when the lease is over, pinned or not.
        pythiad = self.start("--lease-seconds=1")
        pythiad.post("/v1/open", {"trace_points": [self.POINTS[0]]})
        rig.until(lambda: self.POINTS[0] in self.board.opened(), 10)
        pythiad.signal(signal.SIGKILL)
        pythiad.process.wait()
        rig.until(lambda: self.board.opened() == set(), 5, lambda: f"open: {self.board.opened()}")


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
