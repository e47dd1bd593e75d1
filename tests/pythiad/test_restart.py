#!/usr/bin/env python3
"""A pythiad with a state goes on with its search after a restart, however it ended: the same verdict, shown at once, and no point
opened that it had excluded. usage: test_restart.py BIN [SANITIZER]"""
import os
import random
import signal
import sqlite3
import time
import unittest

import otlp
import rig
from agent import Agent

STEPS = [f"step {i}" for i in range(8)]
WORKS = [f"work {i}" for i in range(8)]
CYCLE = 60  # requests


class Program:
    """A service whose requests pass all of its trace points, in a process that stays when pythiad restarts. Of what is closed there
    are no spans. work 5 takes 0 to 25 ms longer, unless it is gone;
    once `keyed`, the root says by how much."""

    def __init__(self, seed=1, slow="work 5", gone=(), instance="1"):
        self.chance, self.slow, self.gone = random.Random(seed), slow, gone
        self.agent = Agent(None, "shop", [name for name in (*STEPS, *WORKS) if name not in gone], instance)
        self.open, self.sent, self.keyed = None, 0, False

    def ask(self, pythiad):
        self.agent.pythiad = pythiad
        got = self.agent.poll()
        if got:
            self.open = {*got["open"], *got["open_for"]}

    def shows(self, name):
        return name not in self.gone and self.open is not None and f"shop:{name}" in self.open

    def request(self):
        trace, root, spans, at = os.urandom(16), os.urandom(8), [], 0
        # The one that varies is the shortest otherwise, so that others are looked at first.
        times = [(1 if work == self.slow else 16) * 1000000 + self.chance.randrange(100000) for work in WORKS]
        if self.slow:
            times[WORKS.index(self.slow)] += self.chance.randrange(25000000)
        begin = time.time_ns() - sum(times) - 10 * 100000
        for step, work, took in zip(STEPS, WORKS, times):
            parent = root
            if self.shows(step):
                parent = os.urandom(8)
                spans.append(otlp.Span(step, trace, parent, root, begin + at, took + 50000))
            if self.shows(work):
                spans.append(otlp.Span(work, trace, None, parent, begin + at + 20000, took))
            at += took + 100000
        key = {"rows": times[WORKS.index("work 5")] // 500} if self.keyed else {}
        return [*spans, otlp.Span("GET", trace, root, start=begin, length=at + 100000, kind=2, attributes=key)]

    def send(self, pythiad, count=10):
        self.ask(pythiad)
        time.sleep(.06)  # what begins now begins after the set is in force
        for _ in range(count):
            self.send_one(pythiad)

    def send_one(self, pythiad):
        assert pythiad.send(otlp.protobuf(self.request(), resource={"service.instance.id": self.agent.instance})).status == 200
        self.sent += 1


class Fleet:
    """Three such processes, each of which gets a third of the requests."""

    def __init__(self):
        self.all = [Program(seed, instance=f"shop-{seed}") for seed in (1, 2, 3)]

    def send(self, pythiad, count=30):
        for program in self.all:
            program.ask(pythiad)
        time.sleep(.06)
        for i in range(count):
            self.all[i % 3].send_one(pythiad)

    def where(self, name):
        """The instances at which a point is open."""
        return [program.agent.instance for program in self.all if program.shows(name)]


class Restart(unittest.TestCase):
    options = ("--quiet-ms=50", f"--cycle-requests={CYCLE}", "--cycle-seconds=600", "--learn-requests=20", "--points=1", "--seed=7")

    def start(self, folder, *options):
        return rig.Pythiad(self, *self.options, f"--state={folder}/state.db", *options, folder=folder)

    def status(self, pythiad):
        return pythiad.get("/v1/status").json

    def cycle(self, pythiad):
        return self.status(pythiad)["cycle"]

    def run_to(self, pythiad, program, cycle):
        """Send requests until that cycle has been decided."""
        def decided():
            program.send(pythiad)
            return self.cycle(pythiad) >= cycle
        rig.until(decided, 60, lambda: pythiad.log[-4000:])

    def saved(self, pythiad):
        """Wait until the state has the last cycle; which."""
        rig.until(lambda: self.status(pythiad)["saved_search"]["cycle"] == self.cycle(pythiad), 20, lambda: pythiad.log[-3000:])
        return self.cycle(pythiad)

    def verdict(self, pythiad):
        """[what is found, since which cycle, since when]"""
        verdicts = pythiad.get("/v1/verdicts").json
        self.assertEqual(len(verdicts), 1, verdicts)
        return verdicts[0]["state"], [place["edge"].get("inside") for place in verdicts[0]["found"]], verdicts[0]["since_cycle"], verdicts[0]["since_unix_ns"]

    def opened(self, folder):
        """How often each trace point was opened, in all starts."""
        db = sqlite3.connect(f"file:{folder}/state.db?mode=ro", uri=True)
        try:
            return dict(db.execute("SELECT trace_point, count(*) FROM switch WHERE open GROUP BY 1").fetchall())
        finally:
            db.close()

    def note(self, folder, name, value=None):
        """A note of the state, as text; with a value that is put there."""
        db = sqlite3.connect(f"{folder}/state.db")
        try:
            if value is not None:
                db.execute("INSERT OR REPLACE INTO note VALUES(?, ?)", (name, value))
                db.commit()
            row = db.execute("SELECT value FROM note WHERE name = ?", (name,)).fetchone()
            return row and row[0]
        finally:
            db.close()

    LAST = 7  # cycle; the cause is found in the fifth

    def whole(self, ends):
        """A search of LAST cycles, with an end after each of the cycles in `ends`: (verdict, points opened, requests sent)."""
        folder, program = rig.make_folder(self), Program()
        pythiad = self.start(folder)
        for cycle, end in ends:
            self.run_to(pythiad, program, cycle)
            at = self.saved(pythiad)
            if end == "kill":
                pythiad.signal(signal.SIGKILL)
                pythiad.process.wait()
            else:
                self.assertEqual(pythiad.stop(), 0, pythiad.log)
            pythiad = self.start(folder)
            self.assertIn(f"cycle={at}, request-types=1, ", pythiad.logged("Goes on with the search of the state: "))
            self.assertFalse(self.status(pythiad)["learning"])
        self.run_to(pythiad, program, self.LAST)
        state, found, _, _ = self.verdict(pythiad)
        opened = self.opened(folder)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        return (state, found), opened, program.sent

    def test_a_search_with_restarts_ends_as_one_without(self):
        """The same verdict, by as many cycles, from the same trace points, each opened once."""
        verdict, opened, sent = self.whole(())
        self.assertEqual(verdict, ("found", ["shop:work 5"]))
        self.assertTrue(all(times == 1 for times in opened.values()), opened)
        for ends in (((1, "stop"),), ((2, "kill"), (3, "kill"), (4, "stop"), (7, "kill"))):
            again, others, more = self.whole(ends)
            self.assertEqual(again, verdict)
            self.assertEqual(others, opened)
            # Requests of a cycle that did not end are gone, and a start keeps some apart.
            self.assertLessEqual(more, sent + (1 + len(ends)) * CYCLE)

    def test_a_verdict_is_shown_right_after_the_start_with_its_since(self):
        folder, program = rig.make_folder(self), Program()
        pythiad = self.start(folder)
        self.run_to(pythiad, program, self.LAST)
        self.saved(pythiad)
        was = self.verdict(pythiad)
        self.assertEqual(was[:2], ("found", ["shop:work 5"]))
        for end in ("kill", "stop"):
            getattr(pythiad, end)()
            pythiad = self.start(folder)
            # No request has come.
            self.assertEqual(self.verdict(pythiad), was)
            told = pythiad.ctl("report")
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertIn("work 5", told.stdout)
            self.assertIn(f"since cycle {was[2]}", told.stdout)
            report = pythiad.get("/v1/report").json
            self.assertEqual([(v["state"], v["sentence"]) for v in report["verdicts"]],
                             [(v["state"], v["sentence"]) for v in pythiad.get("/v1/verdicts").json])
            self.assertIn("work 5", pythiad.ctl("report", "--verbose").stdout)
            status = self.status(pythiad)
            self.assertEqual(status["saved_search"]["restored_cycle"], status["cycle"])
            self.assertIn(f"this start went on from cycle {status['cycle']}", pythiad.ctl("status").stdout)
        # It stays when requests come, and is not told as if it were found anew.
        at = self.cycle(pythiad)
        self.run_to(pythiad, program, at + 3)
        self.assertEqual(self.verdict(pythiad), was)
        self.assertNotIn("Found a cause", pythiad.log)
        self.assertNotIn("Verdict: ", pythiad.log)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def key(self, pythiad):
        explanation = pythiad.get("/v1/verdicts").json[0]["explanation"]
        return explanation and explanation["key"]

    def test_the_key_of_a_verdict_is_in_the_state_though_nobody_asked_for_a_report(self):
        """It has no key when it is found, in cycle 5; the requests of the next ones have it."""
        folder, program = rig.make_folder(self), Program()
        pythiad = self.start(folder)
        self.run_to(pythiad, program, 5)
        program.keyed = True
        self.run_to(pythiad, program, 7)
        self.saved(pythiad)
        pythiad.kill()
        pythiad = self.start(folder)
        self.assertEqual(self.key(pythiad), "rows")
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_a_key_that_a_later_report_finds_is_in_the_state(self):
        """Nothing but the report has changed since the cycle was saved."""
        folder, program = rig.make_folder(self), Program()
        pythiad = self.start(folder)
        self.run_to(pythiad, program, 10)
        program.keyed = True
        self.run_to(pythiad, program, 11)
        self.saved(pythiad)
        saves = pythiad.metric("pythia_search_saves_total")
        self.assertEqual(self.key(pythiad), "rows")
        rig.until(lambda: pythiad.metric("pythia_search_saves_total") > saves, 20, lambda: pythiad.log[-3000:])
        pythiad.kill()
        pythiad = self.start(folder)
        self.assertEqual(self.key(pythiad), "rows")
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_what_is_open_at_one_instance_only_is_so_after_a_restart_and_the_verdict_says_so(self):
        folder, fleet = rig.make_folder(self), Fleet()
        pythiad = self.start(folder, "--added-ns=400", "--price-ns=1000")
        rig.until(lambda: fleet.send(pythiad) or self.cycle(pythiad) >= 2 and self.verdict(pythiad)[1] == ["shop:work 5"], 90,
                  lambda: pythiad.log[-4000:])
        self.saved(pythiad)
        was, where = self.verdict(pythiad), fleet.where("work 5")
        self.assertEqual(len(where), 1, pythiad.log)
        said = f"This describes only requests to one of 3 instances of shop, {where[0]}: a trace point is open at that one only."
        for end in ("", "kill"):
            if end:
                pythiad.kill()
                pythiad = self.start(folder, "--added-ns=400", "--price-ns=1000")
            self.assertEqual(pythiad.get("/v1/verdicts").json[0]["instance"], said)
            self.assertIn(said, " ".join(pythiad.ctl("report").stdout.split()))
            self.assertIn(said, " ".join(pythiad.ctl("report", "--verbose").stdout.split()))
            self.assertIn(said, pythiad.get("/report").text)
        at = self.cycle(pythiad)
        rig.until(lambda: fleet.send(pythiad) or self.cycle(pythiad) >= at + 3, 90, lambda: pythiad.log[-4000:])
        self.assertEqual(fleet.where("work 5"), where, pythiad.log)
        self.assertEqual(self.verdict(pythiad), was)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_a_program_of_another_release_is_not_judged_by_what_was(self):
        """work 5 is gone from it, and work 2 is slow."""
        folder, program = rig.make_folder(self), Program()
        pythiad = self.start(folder)
        self.run_to(pythiad, program, self.LAST)
        self.saved(pythiad)
        pythiad.kill()
        pythiad = self.start(folder)
        at, program = self.cycle(pythiad), Program(seed=2, slow="work 2", gone=("step 5", "work 5"))
        self.run_to(pythiad, program, at + 4)
        self.assertNotIn("shop:work 5", self.verdict(pythiad)[1])
        rig.until(lambda: program.send(pythiad) or self.verdict(pythiad)[1] == ["shop:work 2"], 60,
                  lambda: f"{self.verdict(pythiad)}\n{pythiad.log[-4000:]}")
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_with_other_settings_a_new_search_begins_and_says_why(self):
        folder, program = rig.make_folder(self), Program()
        pythiad = self.start(folder)
        self.run_to(pythiad, program, 4)
        self.saved(pythiad)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        pythiad = self.start(folder, "--points=3")
        self.assertIn("reason=it was made with points=1, and now it is points=3",
                      pythiad.logged("The search of the state cannot go on, and a new one begins"))
        self.assertEqual((self.cycle(pythiad), self.status(pythiad)["saved_search"]["restored_cycle"]), (0, 0))
        self.assertEqual(pythiad.get("/v1/verdicts").json, [])
        self.assertIsNone(self.note(folder, "search.broken"))
        self.run_to(pythiad, program, 2)
        self.assertEqual(self.saved(pythiad), self.cycle(pythiad))
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        # What has nothing to do with decisions may change, and pins, which hold at once.
        pythiad = self.start(folder, "--points=3", "--cycle-requests=50", "--never=shop:work 5", "--quiet-ms=60")
        pythiad.logged("Goes on with the search of the state")
        self.run_to(pythiad, program, self.cycle(pythiad) + 6)
        self.assertFalse(program.shows("work 5"))
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_a_search_that_cannot_be_read_is_put_aside_and_a_new_one_begins(self):
        folder, program = rig.make_folder(self), Program()
        pythiad = self.start(folder)
        self.run_to(pythiad, program, 4)
        self.saved(pythiad)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        good = self.note(folder, "search")
        for bad, reason in ((good[:len(good) // 2], "it is no snapshot of a search"), ("", None), ("nothing of the kind", "it is no snapshot"),
                            (good.replace("pythia.snapshot/2", "pythia.snapshot/7", 1), "it has the format pythia.snapshot/7"),
                            (good[:-9], "it is no snapshot"), (good.replace('"group":""', '"group":"g"', 1), "it is of another group")):
            self.note(folder, "search", bad)
            pythiad = self.start(folder)
            if reason:
                line = pythiad.logged("The search of the state cannot be read, and a new one begins")
                self.assertIn(reason, line)
                self.assertIn("put-aside=search.broken", line)
                self.assertEqual(self.note(folder, "search.broken"), bad)
            self.assertEqual(self.cycle(pythiad), 0)
            self.assertEqual(pythiad.get("/readyz").status, 200)
            self.assertEqual(pythiad.stop(), 0, pythiad.log)
        self.note(folder, "search", good)
        self.note(folder, "verdicts", "broken")
        pythiad = self.start(folder)
        pythiad.logged("The verdicts of the state cannot be read; the search finds them again")
        pythiad.logged("Goes on with the search of the state")
        self.run_to(pythiad, program, self.LAST)
        self.assertEqual(self.verdict(pythiad)[:2], ("found", ["shop:work 5"]))
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_nothing_is_kept_without_a_state(self):
        program, pythiad = Program(), rig.Pythiad(self, *self.options)
        self.run_to(pythiad, program, 2)
        self.assertIsNone(self.status(pythiad)["saved_search"])
        self.assertEqual(pythiad.metric("pythia_search_saves_total"), 0)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_what_the_state_has_of_it_is_counted(self):
        folder, program = rig.make_folder(self), Program()
        pythiad = self.start(folder)
        self.assertEqual(self.status(pythiad)["saved_search"], {"restored_cycle": 0, "cycle": 0, "unix_ns": 0, "bytes": 0})
        self.assertIn("search in the state: none yet", pythiad.ctl("status").stdout)
        self.run_to(pythiad, program, 3)
        cycle = self.saved(pythiad)
        size = sum(len(self.note(folder, name).encode()) for name in ("search", "verdicts", "instances"))
        self.assertEqual(pythiad.metric("pythia_search_saved_bytes"), size)
        self.assertLess(size, 100000)
        self.assertGreaterEqual(pythiad.metric("pythia_search_saves_total"), 1)
        self.assertEqual(pythiad.metric("pythia_search_saves_failed_total"), 0)
        self.assertIn(f"search in the state: cycle {cycle}, {size} bytes\n", pythiad.ctl("status").stdout)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)


if __name__ == "__main__":
    rig.main()
