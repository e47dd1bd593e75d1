#!/usr/bin/env python3
"""The control interface: what it says, and what it can be told. usage: test_control.py BIN [SANITIZER]"""
import ctypes
import fcntl
import http.client
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest
import urllib.parse

import grpc
import otlp
import rig
from agent import Agent
from otlp import Span


class Case(unittest.TestCase):
    options = ()

    def setUp(self):
        self.pythiad = rig.Pythiad(self, *self.options)

    def tearDown(self):
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def feed(self, count=200, slow="step b"):
        for i in range(count):
            spans = otlp.request(("step a", "step b", "step c"), slow=(slow, 20000000 * (i % 3 == 0)))
            self.assertEqual(self.pythiad.send(otlp.protobuf(spans)).status, 200)

    def feed_until(self, what):
        """Requests have to begin after the first set of open points is in force."""
        rig.until(lambda: self.feed(70) or what(), 30, lambda: "it did not come: " + self.pythiad.log)


class Pages(Case):
    """Security 8: nothing in a page does anything."""
    options = ("--quiet-ms=50", "--cycle-requests=60", "--learn-requests=20", "--cycle-seconds=1")

    def test_health(self):
        for path, text in (("/healthz", "ok\n"), ("/readyz", "ready\n")):
            answer = self.pythiad.get(path)
            self.assertEqual((answer.status, answer.text), (200, text))
        self.assertEqual(rig.ask(self.pythiad.control, "HEAD", "/healthz").status, 200)

    def test_metrics_are_in_the_format_of_prometheus(self):
        self.feed(30)
        with grpc.Connection(self.pythiad.grpc) as link:
            link.call(b"garbage")
        answer = self.pythiad.get("/metrics")
        self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        metrics = rig.parse_metrics(answer.text)  # fails on what is not right
        self.assertEqual(metrics["pythia_spans_total"], 120)
        self.assertEqual(metrics['pythia_answers_total{listener="otlp-http",class="2xx"}'], 30)
        self.assertEqual(metrics['pythia_answers_total{listener="otlp-grpc",class="3"}'], 1)
        self.assertEqual(metrics['pythia_work_calls_total{work="decode"}'], 31)  # the garbage, too
        self.assertEqual(metrics['pythia_work_calls_total{work="group"}'], 31)
        for work in "decode", "group":
            mean, total, longest, shortest, calls = (metrics[f'pythia_work_{column}{{work="{work}"}}'] for column in
                                                     ("seconds_mean", "seconds_total", "seconds_max", "seconds_min", "calls_total"))
            self.assertAlmostEqual(mean * calls, total, delta=total * 1e-6)
            self.assertTrue(0 < shortest <= mean <= longest < total, (shortest, mean, longest, total))
        rig.within(self, time.time() - metrics["process_start_time_seconds"], 60, "age of the process")
        self.assertGreater(metrics["process_resident_memory_max_bytes"], 1 << 20)

    def made(self):
        return self.pythiad.metric("pythia_reports_total")

    def test_a_report_is_made_when_somebody_asks_and_once_a_cycle(self):
        self.assertEqual(self.pythiad.get("/v1/groups").json, [])
        self.feed_until(lambda: self.pythiad.metric("pythia_cycles_total") >= 2)
        # a verdict that is logged names its key, and so takes a report
        rig.until(lambda: self.made() <= self.pythiad.log.count(" Verdict: "), 10)
        answers = {}
        def ask(number):
            paths = ("/v1/report", "/v1/report?format=text", "/v1/report?format=markdown", "/report", "/v1/groups",
                     "/v1/verdicts")
            answers[number] = self.pythiad.get(paths[number % len(paths)])
        def ask_all():
            threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual([answers[number].status for number in range(20)], [200] * 20)
        def made_of_one_cycle():
            """How many were made, and of which cycle; None: a cycle has ended among them, and they speak of two."""
            before, made = self.pythiad.metric("pythia_cycles_total"), self.made()
            ask_all()
            more = self.made() - made
            return (more, before) if self.pythiad.metric("pythia_cycles_total") == before else None
        more, before = rig.until(made_of_one_cycle, 60)
        self.assertLessEqual(more, 1)
        self.assertGreaterEqual(self.made(), 1)
        for number in range(20):  # whoever asked for the same got the same
            self.assertEqual(answers[number].text, answers[number % 6].text)
        self.assertEqual([g["id"] for g in answers[0].json["groups"]], [g["id"] for g in answers[4].json])
        self.assertTrue(answers[3].text.startswith("<!DOCTYPE html>"))
        self.assertEqual(answers[3].headers["X-Content-Type-Options"], "nosniff")
        self.assertIn("Content-Security-Policy", answers[0].headers)
        self.assertEqual(self.pythiad.get("/v1/report?format=pdf").status, 400)
        self.feed_until(lambda: self.pythiad.metric("pythia_cycles_total") > before)
        told = self.pythiad.get("/v1/report").json
        self.assertGreater(len(told["loop"]) + sum(c.get("cycles", 1) - 1 for c in told["loop"]), len(answers[0].json["loop"]))
        self.assertGreater(self.made(), 1)

    def test_reports_are_made_while_spans_come_and_cycles_end(self):
        self.feed_until(lambda: self.pythiad.metric("pythia_cycles_total") >= 1)
        done, statuses = threading.Event(), set()
        def ask():
            while not done.is_set():
                statuses.add(self.pythiad.get("/v1/report?format=html").status)
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        before = self.pythiad.metric("pythia_cycles_total")
        self.feed_until(lambda: self.pythiad.metric("pythia_cycles_total") >= before + 3)
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(statuses, {200})
        self.assertGreater(self.made(), 1)

    def test_the_end_does_not_wait_for_a_report(self):
        self.feed_until(lambda: self.pythiad.metric("pythia_cycles_total") >= 1)
        statuses = []
        def ask():
            try:
                statuses.append(self.pythiad.get("/v1/report?format=html").status)
            except (http.client.HTTPException, OSError):
                statuses.append(0)  # it came too late
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        self.pythiad.process.send_signal(signal.SIGHUP)  # in the middle of it, and then
        self.pythiad.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        self.assertEqual(self.pythiad.process.wait(rig.patience(5)), 0)
        self.assertLessEqual(set(statuses), {0, 200, 503})

    def settled(self):
        """The metrics, when all requests so far are finished."""
        return rig.until(lambda: (m := self.pythiad.metrics())['pythia_requests_finished_total{by="any"}'] ==
                         m["pythia_bodies_total"] and m, 10, lambda: str(self.pythiad.metrics()))

    def test_points_that_the_search_space_does_not_know(self):
        """A program is a newer one: what it has more is in no search, and that is told where one looks."""
        self.tearDown()
        self.pythiad = rig.Pythiad(self, *self.options, "--learn-hourly=0")
        # Points without a switch would count like known ones as soon as pythiad has seen that they have none.
        agent = Agent(self.pythiad, "shop", ("root", "step a", "step b", "step c", "new <b>", "newer"))
        self.assertEqual(agent.report().status, 200)
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == 6, 10)

        def in_force():
            return agent.poll() and self.pythiad.metric("pythia_desired_in_force") == 1

        self.feed_until(lambda: in_force() and not self.pythiad.get("/v1/status").json["learning"])
        self.assertEqual([self.pythiad.get("/v1/status").json[name] for name in ("unknown_points", "unknown_spans")], [0, 0])
        self.assertRegex(self.pythiad.ctl("status").stdout, r"not in search space +0\n")
        self.assertNotIn("learns new ones", self.pythiad.ctl("status").stdout)
        for _ in range(50):
            rig.until(in_force, 10)
            before = self.settled()
            for i in range(100):
                children = ["step a", "step b", "step c", "new <b>"] + ["newer"] * (i % 2)
                self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(children))).status, 200)
            after = self.settled()
            if after["pythia_requests_apart_total"] == before["pythia_requests_apart_total"]:
                break  # else a cycle has ended among them, and those that were open are kept apart
        changed = {name: (before.get(name, 0), now) for name, now in after.items() if now != before.get(name, 0)}
        unknown = after["pythia_spans_unknown_total"]
        self.assertEqual(unknown - before["pythia_spans_unknown_total"], 150, changed)
        self.assertEqual(self.pythiad.metric("pythia_points_unknown"), 2)
        status = self.pythiad.get("/v1/status").json
        self.assertEqual((status["unknown_points"], status["unknown_spans"]), (2, unknown))
        shown = self.pythiad.ctl("status").stdout
        self.assertRegex(shown, r"not in search space +2\n")
        self.assertIn(f"{unknown:.0f} spans were left out because the search space did not know their trace points; "
                      "pythiad learns new ones up to learn-hourly times per hour\n",
                      shown)
        self.pythiad.logged("The search space lacks trace points of request types that it knows, and their spans are "
                            "left out until they are learnt: points=[12], spans=")
        cycles = self.pythiad.metric("pythia_cycles_total")
        self.feed_until(lambda: in_force() and self.pythiad.metric("pythia_cycles_total") > cycles)
        found = self.pythiad.get("/v1/report").json["search"]["unknown_points"]
        self.assertEqual(found, {"count": 2, "spans": unknown, "most": ["shop:new <b>", "shop:newer"]})
        self.assertIn('<code title="shop:new &lt;b&gt;">new &lt;b&gt;</code>', self.pythiad.get("/report").text)

    def test_the_check_of_metrics_finds_faults(self):
        good = "# HELP a_total x\n# TYPE a_total counter\na_total 1\n"
        self.assertEqual(rig.parse_metrics(good), {"a_total": 1})
        for bad in (good + good, "a_total 1\n", good + "a_total 2\n", good.replace("1", "one"), good[:-1],
                    good.replace("counter", "count"), good.replace("a_total", "a"),
                    good + "# HELP b_total x\n# TYPE b_total counter\nb_total 1\na_total{x=\"1\"} 1\n"):
            with self.assertRaises(AssertionError, msg=bad):
                rig.parse_metrics(bad)

    def test_every_action_in_text_and_json(self):
        agent = Agent(self.pythiad, "shop", ("root", "step a", "step b", "step c"))
        self.assertEqual(agent.report().status, 200)
        for action, said in (("groups", "no group of requests is known yet\n"),
                             ("decisions", "nothing has been opened or closed yet\n")):
            done = self.pythiad.ctl(action)
            self.assertEqual((done.returncode, done.stdout), (0, said), done.stderr)
        done = self.pythiad.ctl("report")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Not enough data: no type has enough requests.", done.stdout)
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == 4, 10)
        self.feed_until(lambda: agent.poll() and self.pythiad.get("/v1/groups").json and
                        not self.pythiad.get("/v1/status").json["learning"])

        texts = {action: self.pythiad.ctl(*action.split()) for action in
                 ("status", "groups", "report", "decisions", "points", "plan shop:root", "open shop:root",
                  "close shop:root", "unpin shop:root", "off", "on")}
        for action, done in texts.items():
            self.assertEqual((done.returncode, done.stderr), (0, ""), action)
        self.assertRegex(texts["status"].stdout, r"^pythiad \S+ works\n(  .+\n)+")
        self.assertRegex(texts["status"].stdout, r"plane http: 4 points, ")
        self.assertRegex(texts["groups"].stdout, r" requests, mean \d+\.\d{3} ms  shop:root\n")
        self.assertRegex(texts["report"].stdout, r"^live   [\d ]+ requests · 1 type · [\d ]+ spans")
        self.assertLessEqual(texts["report"].stdout.count("\n"), 40)
        self.assertIn("shop:root", self.pythiad.ctl("report", "--verbose").stdout)
        self.assertRegex(texts["points"].stdout, r"^state +cost of a hit +hits  trace point  \(what came of it\)\n")
        self.assertRegex(texts["points"].stdout, r"shop:step b  \(")
        self.assertEqual(self.pythiad.ctl("points", "--ids").stdout.split("\n"), [*sorted(agent.points), ""])
        self.assertRegex(texts["plan shop:root"].stdout, r"^shop:root: .+ at an assumed price\nin total \d+ ns per request, "
                                                         r"[0-9.e-]+ % of the mean duration of [0-9.]+ ms\n$")
        self.assertRegex(texts["open shop:root"].stdout, r"^1 trace point, desired set \d+\n$")
        self.assertEqual((texts["off"].stdout, texts["on"].stdout), ("pythiad: off\n", "pythiad: works\n"))

        answers = {}
        for action in texts:
            done = self.pythiad.ctl("--format", "json", *action.split(" ", 1))
            self.assertEqual(done.returncode, 0, done.stderr)
            answers[action] = json.loads(done.stdout)
        self.assertEqual(answers["status"]["doing"], "works")
        self.assertEqual(answers["status"]["problems_waiting"], 0)
        self.assertRegex(texts["status"].stdout, r"\n  types waiting +0\n")
        self.assertEqual(self.pythiad.metric("pythia_problems_waiting"), 0)
        self.assertEqual(answers["report"]["schema"], "pythia.report/1")
        self.assertEqual({p["trace_point"] for p in answers["points"]}, set(agent.points))
        self.assertEqual(answers["plan shop:root"]["trace_points"][0]["known"], True)
        self.assertEqual(answers["groups"][0]["request_type"], "shop:root")
        self.assertEqual(answers["open shop:root"]["trace_points"], 1)
        self.assertEqual(answers["off"], {"doing": "off", "kept": True})
        for form, first in (("markdown", "#"), ("html", "<!")):
            self.assertTrue(self.pythiad.ctl("--format", form, "report").stdout.startswith(first), form)
        for wrong in (("nonsense",), ("open",), ("status", "x"), ("off", "x")):
            self.assertEqual(self.pythiad.ctl(*wrong).returncode, 2, wrong)

    def report_at(self, columns):
        """The report on a terminal of so many columns, as lines."""
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 50, columns, 0, 0))
        process = subprocess.Popen([rig.program("pythia"), "ctl", "--address", f"127.0.0.1:{self.pythiad.control}", "report"],
                                   stdin=its, stdout=its, stderr=subprocess.PIPE, env={**os.environ, "TERM": "xterm", "COLUMNS": "300"})
        os.close(its)
        text = b""
        try:
            while piece := os.read(ours, 65536):
                text += piece
        except OSError:  # the other end was closed
            pass
        os.close(ours)
        self.assertEqual((process.wait(rig.patience(10)), process.stderr.read()), (0, b""))
        process.stderr.close()
        return re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).replace("\r", "").splitlines()

    def test_report_follows_the_width_of_the_terminal(self):
        agent = Agent(self.pythiad, "shop", ("root", "step a"))
        self.assertEqual(agent.report().status, 200)

        def is_wider_on_wider_ones():
            width = {columns: max(map(len, self.report_at(columns))) for columns in (40, 72, 90, 120, 200)}
            for columns, most in ((40, 72), (72, 72), (90, 90), (120, 120), (200, 120)):  # between 72 and 120
                self.assertLessEqual(width[columns], most, columns)
            return width[120] > width[72]
        self.feed_until(lambda: agent.poll() and is_wider_on_wider_ones())  # once there is enough to say

    def test_watch_shows_each_report_until_it_is_interrupted(self):
        agent = Agent(self.pythiad, "shop", ("root", "step a"))
        self.assertEqual(agent.report().status, 200)
        watch = subprocess.Popen([rig.program("pythia"), "ctl", "--address", f"127.0.0.1:{self.pythiad.control}", "watch", "--interval-seconds", "0.1"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            self.assertRegex(watch.stdout.readline(), "^live   0 requests")
            self.feed_until(lambda: agent.poll() and self.pythiad.get("/v1/groups").json)
            while not re.match(r"live   [\d ]+ requests · 1 type ", line := watch.stdout.readline()):
                self.assertNotEqual(line, "")
        finally:
            watch.send_signal(signal.SIGINT)
            rest, errors = watch.communicate(timeout=rig.patience(10))
        self.assertEqual((watch.returncode, errors), (-signal.SIGINT, ""))
        self.assertNotIn("\033", rest)

    def test_there_is_a_page_before_there_is_a_report(self):
        page = self.pythiad.get("/")
        self.assertEqual(page.status, 200)
        self.assertEqual(page.headers["Content-Type"], "text/html; charset=utf-8")
        for file in re.findall(r'(?:src|href)="(/page/[^"]+)"', page.text):
            self.assertEqual(self.pythiad.get(file).status, 200, file)
        self.assertEqual(self.pythiad.get("/page/passwd").status, 404)

    def test_there_is_a_report_before_a_cycle_has_ended(self):
        """Of what has arrived so far, in each form and anew each time."""
        for _ in range(2):
            for form in ("json", "brief", "text", "markdown", "html"):
                self.assertEqual(self.pythiad.get(f"/report?format={form}").status, 200, form)
        self.assertEqual(self.pythiad.get("/v1/report").json["input"]["traces"], 0)
        for count in (1, 2):
            self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(("b",)))).status, 200)
            rig.until(lambda: self.pythiad.get("/v1/report").json["input"]["traces"] == count, 20)
        self.assertEqual((self.pythiad.metric("pythia_cycles_total"), self.pythiad.get("/v1/report").json["groups"]), (0, []))

    def test_json_is_safe_to_look_at(self):
        """What would turn text, hide it or act on a terminal is escaped, and is what it was once it is read."""
        hostile = "a\x7f\x9b31m\u202egpj\u2066\U000e0041"
        def known():
            for i in range(70):
                spans = otlp.request(("b", hostile), service_root=hostile, slow=("b", 20000000 * (i % 3 == 0)))
                self.assertEqual(self.pythiad.send(otlp.protobuf(spans, service=hostile)).status, 200)
            return self.pythiad.get("/v1/groups").json and \
                hostile + ":b" in {p["trace_point"] for p in self.pythiad.get("/v1/points").json}
        rig.until(known, 30, lambda: self.pythiad.log)
        report = {"service": hostile.replace("\x7f", ""), "instance": "1"}
        report["points"] = [{"id": report["service"] + ":x", "open_by_default": False}]
        self.assertEqual(rig.ask(self.pythiad.http, "POST", "/v1/trace-points", json.dumps(report), rig.JSON).status, 200)
        opened = report["points"][0]["id"]
        rig.until(lambda: any(p["trace_point"] == opened for p in self.pythiad.get("/v1/points").json), 5)
        self.assertEqual(self.pythiad.post("/v1/open", {"trace_points": [opened]}).status, 200)
        unseen = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")
        for path in ("/v1/status", "/v1/points", "/v1/groups", "/v1/verdicts", "/v1/decisions", "/v1/report", "/report", "/v1/cycles",
                     "/v1/contexts", "/v1/report?format=text", "/v1/report?format=markdown"):
            self.assertIsNone(unseen.search(self.pythiad.get(path).text), path)
        self.assertIn("\\u202e", self.pythiad.get("/v1/points").text)
        self.assertIn(hostile + ":b", {p["trace_point"] for p in self.pythiad.get("/v1/points").json})
        answer = self.pythiad.post("/v1/open", {"trace_points": [hostile]})
        self.assertEqual((answer.status, unseen.search(answer.text)), (404, None))
        listed = rig.until(lambda: (lambda a: a if "gpj" in a.text else None)(rig.ask(
            self.pythiad.http, "GET", "/v1/trace-points?instance=1&service=" + urllib.parse.quote(report["service"]))), 5)
        self.assertIsNone(unseen.search(listed.text))
        self.assertEqual(listed.json["open"], [opened])
        self.assertIsNone(unseen.search(self.pythiad.log))

    def test_the_page_is_safe_to_look_at(self):
        hostile = "<script>alert(1)</script>\x1b]0;x\x07\x1b[31m"

        def reported():
            for i in range(100):
                spans = otlp.request(("a", hostile), service_root=hostile, slow=("a", 20000000 * (i % 3 == 0)))
                self.pythiad.send(otlp.protobuf(spans, service='"><img src=x onerror=alert(1)>'))
            return self.pythiad.metric("pythia_cycles_total")
        rig.until(reported, 30)
        page = self.pythiad.get("/report")
        self.assertEqual(page.status, 200)
        self.assertIn("Where the variance of all requests lies", page.text)
        self.assertEqual(page.headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn("default-src 'none'", page.headers["Content-Security-Policy"])
        self.assertEqual(page.headers["X-Content-Type-Options"], "nosniff")
        self.assertNotIn("<script>", page.text)
        self.assertNotIn("<img src=x", page.text)
        # Security 9: nor in a terminal.
        for words in (("groups",), ("report", "--verbose"), ("report", "--format", "markdown")):
            done = self.pythiad.ctl(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("<script>" if words[0] == "groups" else "script", done.stdout)
            self.assertNotRegex(done.stdout, r"[\x00-\x08\x0b-\x1f\x7f]", words)
        self.assertNotRegex(self.pythiad.log, r"[\x00-\x08\x0b-\x1f\x7f]")
        self.assertEqual(self.pythiad.get("/v1/report?format=pdf").status, 400)
        for form in ("json", "brief", "text", "markdown", "html"):
            self.assertEqual(self.pythiad.get(f"/v1/report?format={form}").status, 200)


class Again(Case):
    """Nothing may be opened, so that the search finds nothing, although requests vary."""
    options = (*Pages.options, "--points=0")

    def test_a_search_that_found_nothing_begins_again_and_says_so(self):
        agent = Agent(self.pythiad, "shop", ("root", "step a", "step b", "step c"))
        self.assertEqual(agent.report().status, 200)
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == 4, 10)
        self.feed_until(lambda: agent.poll() and "The search began again in cycle" in self.pythiad.log)
        self.pythiad.logged(r"Verdict: request-type=shop:root, cycle=(\d+), confidence=none, verdict=Nothing found yet; the search "
                            r"continues\. The search began again in cycle \1: it had found nothing, and these requests still vary\.")
        self.assertEqual(self.pythiad.get("/v1/report").json["search"]["problems"][0]["retries"], 1)


class ManyTypes(Case):
    """A report of many request types lists all of them, and looks closely at some."""
    options = ("--quiet-ms=50", "--cycle-seconds=1", "--cycle-requests=90", "--learn-requests=20", "--min-requests=10",
               "--report-types=2")

    def test_a_report_looks_closely_at_so_many_types(self):
        lengths = {"calm": 0, "wide": 40000000, "middle": 10000000}
        def feed():
            for i in range(120):
                for root, more in lengths.items():
                    spans = otlp.request(("step",), service_root=root, slow=("step", more * (i % 2)))
                    self.assertEqual(self.pythiad.send(otlp.protobuf(spans)).status, 200)
            return len(self.report()["request_types"]) == 3
        rig.until(feed, 60)
        report = self.report()
        self.assertEqual(report["types_without_groups"], 1)
        self.assertEqual({group["request_type"] for group in report["groups"]}, {"shop:wide", "shop:middle"})
        for form in ("text", "markdown", "html"):
            self.assertRegex(self.pythiad.get(f"/v1/report?format={form}").text,
                             r"3 types\S* \(1 of them not analysed closely: see --report-types\)", form)

    def report(self):
        return self.pythiad.get("/v1/report").json


class Orders(Case):
    """Security 4: only what is known may be named."""
    options = ("--learn=default",)

    def test_ids_that_are_not_known(self):
        before = set(os.listdir(self.pythiad.folder))
        for words in (["shop:nothing"], ["../../etc/passwd"], ["/etc/passwd"], [""], ["a\0b"], ["%2e%2e%2f"], ["*"],
                      ["x" * 10000]):
            for path in ("/v1/open", "/v1/close", "/v1/unpin"):
                answer = self.pythiad.post(path, {"trace_points": words})
                self.assertIn(answer.status, (404, 400), (path, words))
                self.assertIn("error", answer.json)
        answer = self.pythiad.post("/v1/plan", {"trace_points": ["shop:nothing"]})
        self.assertEqual((answer.status, answer.json["trace_points"][0]["known"]), (200, False))
        done = self.pythiad.ctl("open", "../../etc/passwd")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unknown trace points: ../../etc/passwd", done.stderr)
        self.assertEqual(set(os.listdir(self.pythiad.folder)), before)

    def test_one_that_is_not_known_spoils_the_whole_order(self):
        agent = Agent(self.pythiad, "shop", ("a",))
        agent.report()
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == 1, 5)
        answer = self.pythiad.post("/v1/open", {"trace_points": ["shop:a", "shop:b"]})
        self.assertEqual((answer.status, answer.json["unknown"]), (404, ["shop:b"]))
        self.assertFalse(agent.is_open("a"))

    def test_a_point_is_opened_closed_and_left_alone_again(self):
        agent = Agent(self.pythiad, "shop", ("a", "b"))
        agent.report()
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == 2, 5)
        answer = self.pythiad.post("/v1/open", {"trace_points": ["shop:a"]})
        self.assertEqual((answer.status, answer.json["obeyed"]), (200, 1))
        rig.until(lambda: agent.is_open("a"), 5)
        self.assertEqual(self.pythiad.post("/v1/close", {"trace_points": ["shop:a"]}).status, 200)
        rig.until(lambda: not agent.is_open("a"), 5)
        self.assertEqual(self.pythiad.post("/v1/unpin", {"trace_points": ["shop:a"]}).status, 200)

    def test_a_pattern_stands_for_the_points_that_match_it(self):
        agent, other = Agent(self.pythiad, "shop", ("a", "ab", "b", "q*")), Agent(self.pythiad, "store", ("a",))
        agent.report()
        other.report()
        self.assertEqual(self.pythiad.send(otlp.protobuf([otlp.Span("aside")])).status, 200)  # nothing can switch it
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == 5, 5)
        rig.until(lambda: "shop:aside" in {p["trace_point"] for p in self.pythiad.get("/v1/points").json}, 10)

        def opened():
            return {point for one in (agent, other) for point in (one.poll() or {"open": []})["open"]}
        done = self.pythiad.ctl("open", "shop:a*", "store:?")
        self.assertEqual((done.returncode, done.stdout.split(",")[0]), (0, "3 trace points"), done.stderr)
        rig.until(lambda: opened() == {"shop:a", "shop:ab", "store:a"}, 5)
        self.assertEqual(self.pythiad.ctl("close", "*:ab").returncode, 0)
        rig.until(lambda: opened() == {"shop:a", "store:a"}, 5)
        # What is an id is taken as that, and a pattern that matches nothing, or nothing that can be switched, is refused.
        self.assertEqual(self.pythiad.post("/v1/open", {"trace_points": ["shop:q*"]}).json["trace_points"], 1)
        for pattern, status, member in (("nowhere:*", 404, "unknown"), ("shop:asi*", 409, "not_switchable")):
            answer = self.pythiad.post("/v1/open", {"trace_points": ["shop:b", pattern]})
            self.assertEqual((answer.status, answer.json[member]), (status, [pattern]))
        rig.until(lambda: opened() == {"shop:a", "store:a", "shop:q*"}, 5)
        self.assertEqual(self.pythiad.ctl("unpin", "*").returncode, 0)
        rig.until(lambda: opened() == set(), 5)

    def test_a_level_opens_or_closes_all_that_match(self):
        agent, other = Agent(self.pythiad, "shop", ("a", "b")), Agent(self.pythiad, "store", ("a",))
        agent.report()
        other.report()
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == 3, 5)

        def opened():
            return {point for one in (agent, other) for point in (one.poll() or {"open": []})["open"]}

        def pinned():
            return {p["trace_point"] for p in self.pythiad.get("/v1/points").json if p["pin"]}
        done = self.pythiad.ctl("level", "all")
        self.assertEqual((done.returncode, done.stdout.split(",")[0]), (0, "3 trace points"), done.stderr)
        rig.until(lambda: opened() == {"shop:a", "shop:b", "store:a"}, 5)
        self.assertEqual(self.pythiad.ctl("level", "off", "shop:*").returncode, 0)
        rig.until(lambda: opened() == {"store:a"}, 5)
        self.assertEqual(pinned(), {"shop:a", "shop:b", "store:a"})
        self.assertEqual(self.pythiad.ctl("level", "function").returncode, 0)
        rig.until(lambda: opened() == set(), 5)
        self.assertEqual(pinned(), set())
        self.assertEqual(self.pythiad.post("/v1/level", {"trace_points": ["*"]}).status, 400)
        self.assertEqual(self.pythiad.post("/v1/level", {"level": "some", "trace_points": ["*"]}).status, 400)
        self.assertEqual(self.pythiad.post("/v1/level", {"level": "all", "trace_points": ["nowhere:*"]}).status, 404)
        self.assertEqual(self.pythiad.ctl("level", "some").returncode, 2)

    def test_the_level_of_services_leaves_the_skeleton_open(self):
        """The root of requests belongs to it, and the function below does not."""
        agent = Agent(self.pythiad, "shop", ("root", "step"))
        agent.report()
        refused = self.pythiad.ctl("level", "service")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("pythiad refuses (409): the search space is being learnt", refused.stderr)

        def learnt():
            self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request())).status, 200)
            return self.pythiad.post("/v1/level", {"level": "service", "trace_points": ["shop:*"]}).status == 200
        rig.until(learnt, 60, lambda: self.pythiad.log)
        self.assertEqual(self.pythiad.ctl("level", "all").returncode, 0)
        rig.until(lambda: agent.is_open("root") and agent.is_open("step"), 5)
        self.assertEqual(self.pythiad.ctl("level", "service").returncode, 0)
        rig.until(lambda: agent.is_open("root") and not agent.is_open("step"), 5)
        self.assertEqual({p["trace_point"] for p in self.pythiad.get("/v1/points").json if p["pin"]}, {"shop:step"})

    def test_a_busy_machine_closes_all_but_the_skeleton_and_pins(self):
        """Whoever runs tests has a load above a thousandth."""
        self.check_load("max-load1", .001, r"load1=\d+\.\d\d, max-load1=0\.001")

    def test_too_many_spans_close_all_but_the_skeleton_and_pins(self):
        self.check_load("max-spans-s", .001, r"load1=.*, spans-s=\d+, max-spans-s=0\.001")

    def check_load(self, setting, most, told):
        def limit(value):
            with open(os.path.join(self.pythiad.folder, "pythiad.yaml"), "w", encoding="ascii") as to:
                to.write(f"{setting}: {value}\n")
            self.pythiad.signal(signal.SIGHUP)

        count = 0

        def sent():
            nonlocal count
            count += 1
            slow = ("step", 40000000) if count % 3 == 0 else None
            self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(("step", "other"), slow=slow))).status, 200)
            return True
        self.pythiad.stop()
        self.pythiad = rig.Pythiad(self, *Pages.options, *self.options, config=f"{setting}: 0\n")
        agent = Agent(self.pythiad, "shop", ("root", "step", "other"))
        agent.report()
        rig.until(lambda: sent() and self.pythiad.metric("pythia_points_known") >= 3, 10)
        self.assertEqual(self.pythiad.ctl("open", "shop:other").returncode, 0)
        rig.until(lambda: sent() and "Opens a trace point: trace-point=shop:step" in self.pythiad.log and agent.is_open("step"), 60,
                  lambda: self.pythiad.log)
        limit(most)
        rig.until(lambda: sent() and self.pythiad.metric("pythia_overloaded") == 1, 30, lambda: self.pythiad.log)
        self.pythiad.logged("Closes trace points, because there is too much load: " + told)
        rig.until(lambda: agent.is_open("root") and agent.is_open("other") and not agent.is_open("step"), 5)
        limit(0)
        rig.until(lambda: self.pythiad.metric("pythia_overloaded") == 0, 10)
        self.pythiad.logged("Lets trace points be opened again")
        rig.until(lambda: sent() and agent.is_open("step"), 60, lambda: self.pythiad.log)

    def test_bodies_that_are_no_orders(self):
        for body in (b"", b"{", b"[]", b"{}", b'{"trace_points":[]}', b'{"trace_points":"a"}', b'{"trace_points":[1]}',
                     json.dumps({"trace_points": ["a"] * 1001}).encode(), b"[" * 100000):
            self.assertEqual(rig.ask(self.pythiad.control, "POST", "/v1/open", body, rig.JSON).status, 400, body[:50])
        self.assertEqual(self.pythiad.post("/v1/open", {"trace_points": ["a"] * 1000}).status, 404)
        big = b'{"trace_points":["' + b"x" * (1 << 20) + b'"]}'
        self.assertEqual(rig.ask(self.pythiad.control, "POST", "/v1/open", big, rig.JSON).status, 413)
        for count in ("0", "-1", "10001", "x"):
            self.assertEqual(self.pythiad.get(f"/v1/decisions?count={count}").status, 400, count)
        for count in ("1", "10000"):
            self.assertEqual(self.pythiad.get(f"/v1/decisions?count={count}").status, 200, count)

    def test_another_content_type(self):
        """Security 3: a form of another site's page is no order."""
        for path in ("/v1/open", "/v1/close", "/v1/unpin", "/v1/plan", "/v1/off", "/v1/on"):
            for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", None):
                answer = rig.ask(self.pythiad.control, "POST", path, b'{"trace_points":["a"]}', kind)
                self.assertEqual(answer.status, 415, (path, kind))
        self.assertEqual(self.pythiad.get("/v1/status").json["doing"], "works")
        answer = rig.ask(self.pythiad.http, "POST", "/v1/trace-points", b"{}", "text/plain")
        self.assertEqual(answer.status, 415)
        answer = rig.ask(self.pythiad.control, "POST", "/v1/off", b"{}", "Application/JSON; charset=utf-8")
        self.assertEqual(answer.status, 200)

    def test_a_page_of_another_site(self):
        port = self.pythiad.control
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"https://localhost.evil:{port}"},
                        {"Host": "evil.example"}, {"Host": f"evil.example:{port}"}, {"Host": f"127.0.0.1.evil:{port}"},
                        {"Host": "evil.example", "Origin": "http://evil.example"}):
            for method, path in (("GET", "/v1/status"), ("POST", "/v1/off"), ("GET", "/v1/events"), ("GET", "/v1/points")):
                answer = rig.ask(port, method, path, b"{}" if method == "POST" else None, rig.JSON, **headers)
                self.assertEqual(answer.status, 403, (headers, path))
        self.assertEqual(self.pythiad.get("/v1/status").json["doing"], "works")
        for headers in ({"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}, {"Host": "LOCALHOST"},
                        {"Host": f"[::1]:{port}"}, {"Host": "127.0.0.1"}):
            self.assertEqual(self.pythiad.get("/v1/status", **headers).status, 200, headers)

    def test_off_closes_everything_and_on_brings_it_back(self):
        agent = Agent(self.pythiad, "shop", ("a", "b"))
        agent.report()
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == 2, 5)
        self.pythiad.post("/v1/open", {"trace_points": ["shop:a"]})
        rig.until(lambda: agent.is_open("a"), 5)
        begun = time.monotonic()
        self.assertEqual(self.pythiad.ctl("off").returncode, 0)
        rig.until(lambda: not agent.is_open("a"), 2)
        rig.within(self, time.monotonic() - begun, 2, "from off to a closed point")
        self.assertEqual(self.pythiad.metric("pythia_off"), 1)
        self.assertEqual(self.pythiad.get("/v1/status").json["doing"], "off")
        self.assertEqual(self.pythiad.ctl("on").returncode, 0)
        rig.until(lambda: agent.is_open("a"), 5)
        self.assertEqual(self.pythiad.metric("pythia_off"), 0)


class Pins(Case):
    # What turns up would be opened for a while to learn it, as soon as this test takes longer than that takes to begin.
    options = (*Pages.options, "--always=shop:late*", "--learn-hourly=0")

    def test_a_pattern_holds_for_points_that_turn_up_later(self):
        first = Agent(self.pythiad, "shop", ("step a", "step b", "step c"))

        def searching():
            first.poll()
            return not self.pythiad.get("/v1/status").json["learning"]
        self.feed_until(searching)
        second = Agent(self.pythiad, "shop", (*(point.split(":")[1] for point in first.points), "late one", "other"))
        second.report()
        rig.until(lambda: second.is_open("late one"), 10, lambda: self.pythiad.log)
        self.assertEqual([p["wanted"] for p in self.pythiad.get("/v1/points").json if p["trace_point"] in (
            "shop:late one", "shop:other")], [True, False])


class ObserveOnly(Case):
    options = ("--observe-only", "--quiet-ms=50", "--cycle-requests=60", "--learn-requests=20", "--cycle-seconds=1")

    def test_no_switch_is_thrown(self):
        agent = Agent(self.pythiad, "shop", ("root", "step a", "step b", "step c"))
        agent.report()
        def cycled():
            self.assertEqual((agent.poll() or {"open": []})["open"], [])
            return self.pythiad.metric("pythia_cycles_total") >= 3
        self.feed_until(cycled)
        self.assertEqual((agent.poll() or {"open": []})["open"], [])
        self.assertEqual(self.pythiad.metric("pythia_switches_total"), 0)
        self.assertEqual(self.pythiad.get("/v1/status").json["doing"], "observes")


class Gate(unittest.TestCase):
    """Switches of C programs, which can be thrown without pythiad."""

    def setUp(self):
        path = rig.program("../tracepoints/libpythia-tracepoints.so")
        if rig.SANITIZER or not os.path.exists(path):
            self.skipTest("the library of trace points is looked at in plain builds")
        self.shared = ctypes.CDLL(path)
        self.folder = rig.make_folder(self)
        self.board = ctypes.c_void_p()
        self.assertEqual(self.shared.pythia_switchboard_open(self.folder.encode(), 1, ctypes.byref(self.board), None), 0)
        self.addCleanup(self.shared.pythia_switchboard_close, self.board)
        for name in ("a", "b"):
            self.assertEqual(self.throw(f"shop:{name}"), 0)

    def throw(self, point):
        return self.shared.pythia_switchboard_throw(self.board, point.encode(), ctypes.c_size_t(len(point)),
                                                     ctypes.c_uint64(0), ctypes.c_uint64(0))

    def opened(self):
        """What is open, by what programs look at."""
        return rig.open_points(self.shared, self.board)

    def test_off_with_pythiad_stopped_and_on_again(self):
        pythiad = rig.Pythiad(self, f"--gate={self.folder}", "--learn=default")
        rig.until(lambda: pythiad.metric("pythia_points_known") == 2, 5)
        self.assertEqual(pythiad.ctl("open", "shop:a").returncode, 0)
        rig.until(lambda: self.opened() == {"shop:a"}, 5)
        begun = time.monotonic()
        self.assertEqual(pythiad.ctl("--gate", self.folder, "off").returncode, 0)
        self.assertEqual(self.opened(), set())
        rig.within(self, time.monotonic() - begun, 2, "off")
        self.assertEqual(pythiad.ctl("on").returncode, 0)
        rig.until(lambda: self.opened() == {"shop:a"}, 5)

        pythiad.signal(signal.SIGSTOP)
        begun = time.monotonic()
        done = pythiad.ctl("--gate", self.folder, "off")
        rig.within(self, time.monotonic() - begun, 2, "off without pythiad")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.opened(), set())
        self.assertIn("Closed everything without pythiad", done.stderr)
        done = pythiad.ctl("off")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Nothing was closed", done.stderr)
        pythiad.signal(signal.SIGCONT)
        time.sleep(2)  # it works again, but leaves off what was switched off
        self.assertEqual(self.opened(), set())
        self.assertEqual(pythiad.ctl("on").returncode, 0)
        rig.until(lambda: self.opened() == {"shop:a"}, 5)
        self.assertEqual(pythiad.stop(), 0)


if __name__ == "__main__":
    rig.main()
