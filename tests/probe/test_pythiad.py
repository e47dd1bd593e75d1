#!/usr/bin/env python3
"""pythiad with pythia-probe and a program that nobody instrumented. usage: test_pythiad.py FOLDER-OF-PROGRAMS [CLASS.TEST]"""
import ctypes
import glob
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import helper

BINARIES = sys.argv[1]
RULES = """
service: shop
provider: target
programs: [{path}]
points:
  work: {{request: true, type: text, keys: {{text: start 2 text, place: start 3}}}}
"""


FUNCTIONS = """
service: shop
programs: [{path}]
points:
  sell:
    function: work
    request: true
    type: text
    keys: {{text: start 2 text, number: start 1 int, made: done 1}}
"""
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CLIENT = {"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "client"}}]},
                             "scopeSpans": [{"spans": [{"traceId": TRACE, "spanId": CALLER, "name": "checkout", "kind": 3,
                                                        "startTimeUnixNano": str(time.time_ns()),
                                                        "endTimeUnixNano": str(time.time_ns() + 60 * 10**9)}]}]}]}


class Daemon:
    """A pythiad that listens on a Unix socket alone."""

    def __init__(self, folder, rules, probe_socket, *options):
        self.control = os.path.join(folder, "control")
        self.process = subprocess.Popen(
            [os.path.join(BINARIES, "pythiad"), "--otlp-http", "127.0.0.1:0", "--otlp-grpc", "127.0.0.1:0", "--zipkin",
             "127.0.0.1:0", "--control", "127.0.0.1:0", "--control-socket", "unix:" + self.control, "--probes", rules,
             "--probe-socket", probe_socket, *options], stderr=subprocess.PIPE, text=True)
        line = ""
        while "Listens" not in line:
            line = self.process.stderr.readline()
            if self.process.poll() is not None:
                raise RuntimeError("pythiad has not begun")
        self.otlp = re.search(r"otlp-http=([0-9.:]+)", line)[1]

    def send(self, spans):
        connection = http.client.HTTPConnection(self.otlp)
        connection.request("POST", "/v1/traces", json.dumps(spans), {"Content-Type": "application/json"})
        status = connection.getresponse().status
        connection.close()
        return status

    def get(self, path):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.control)
        connection.request("GET", path)
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def ctl(self, *words):
        return subprocess.run([os.path.join(BINARIES, "pythia"), "ctl", "--address", "unix:" + self.control, *words],
                              capture_output=True, text=True, check=True).stdout

    def end(self, how=signal.SIGTERM):
        if self.process.returncode is None:
            self.process.send_signal(how)
            self.log = self.process.stderr.read()
            self.process.wait()
            self.process.stderr.close()


class OfOneProgram(unittest.TestCase):
    rules, texts, point, options = RULES, "work__start:2", "shop:work", ()

    def setUp(self):
        self.folder = helper.trusted_folder()
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder)
        self.target = helper.Target(os.path.join(BINARIES, "probe_target"), self.folder, 5)
        self.addCleanup(self.target.end)
        self.probe = helper.Helper(os.path.join(BINARIES, "pythia-probe"), self.folder,
                                   f"{self.target.path} {self.texts}\n", "--force")
        self.addCleanup(self.probe.kill)
        rules = os.path.join(self.folder, "rules.yaml")
        with open(rules, "w", encoding="utf-8") as file:
            file.write(self.rules.format(path=self.target.path))
        self.daemon = Daemon(self.folder, rules, self.probe.socket, "--always", self.point, "--record",
                             os.path.join(self.folder, "record"), *self.options)
        self.addCleanup(self.daemon.end)

    def recorded(self, *command):
        """What pythiad has recorded, as a command of pythia shows it."""
        self.daemon.end()
        return subprocess.run([os.path.join(BINARIES, "pythia"), *command, *sorted(glob.glob(self.folder + "/record*"))],
                              capture_output=True, text=True, check=True).stdout

    def tree(self):
        return self.recorded("tree", "--keys")

    def wait(self, looking):
        """Work until so many probes of the program are open."""
        self.until(f"{looking} probes are open", lambda: self.target.fire("select 1 from t") == looking)

    def until(self, what, holds):
        for _ in range(1000):
            if holds():
                return
            time.sleep(.05)
        self.fail("never: " + what)

    def spans(self):
        for line in self.daemon.get("/metrics").decode().splitlines():
            if line.startswith("pythia_spans_total "):
                return int(line.split()[1])
        return 0


class OutsideOfRequests(OfOneProgram):
    """Its requests are calls of a function; the static probes that it hits between them are of a point within requests."""
    rules, texts, point = """
service: shop
provider: target
programs: [{path}]
points:
  hot: {{start: work__start, done: work__done}}
  sell: {{function: work, request: true}}
""", "functions", "shop:hot"

    def test_a_point_that_costs_much_outside_of_requests_is_closed(self):
        busy = helper.Target(os.path.join(BINARIES, "probe_target"), self.folder, 100000)
        self.addCleanup(busy.end)

        def is_quarantined():
            busy.fire()
            points = json.loads(self.daemon.get("/v1/points"))
            return any(point["trace_point"] == "shop:hot" and point["quarantined"] for point in points)

        self.until("shop:hot is closed", is_quarantined)
        self.daemon.end()
        self.assertRegex(self.daemon.log, "costs too much outside of requests, and is closed: trace-point=shop:hot,")


class KernelOutsideOfRequests(OfOneProgram):
    """Waits take the system calls of the whole machine."""
    rules, texts, point = """
service: shop
provider: target
programs: [{path}]
points:
  sell: {{function: work, request: true, kernel: [system_calls]}}
  sleep: {{wait: sleep}}
""", f"functions\n{helper.KERNEL}", "shop:s*"
    options = ("--breaker-ns", "100000")

    def test_trace_points_of_the_kernel_that_cost_much_outside_of_requests_are_closed(self):
        def is_closed():
            for _ in range(10000):
                os.getppid()
            points = {point["trace_point"]: point for point in json.loads(self.daemon.get("/v1/points"))}
            return points["shop:sleep"]["quarantined"] and points["shop:sell"]["note"] if "shop:sleep" in points else False

        self.until("the trace points of the kernel are closed", is_closed)
        shown = self.daemon.ctl("points")
        self.assertRegex(shown, r"shop:sleep  \(applied, kernel, quarantined, costs too much outside of requests\)")
        self.assertRegex(shown, r"shop:sell  \(applied, lacks keys of the kernel, which cost too much outside of requests,")
        self.daemon.end()
        self.assertRegex(self.daemon.log, r"Trace points of the kernel cost too much outside of requests, and are closed: topic=waits,")
        self.assertRegex(self.daemon.log, r"and are closed: topic=system_calls, hits-per-second=\d+, percent-of-a-processor=[0-9.]+, "
                                          r"limit=0\.0 \(--breaker-ns\), retry-s=600")


class StaticProbes(OfOneProgram):
    def setUp(self):
        super().setUp()
        self.wait(2)

    def test_its_requests_are_traced_with_their_key_values(self):
        self.target.fire("select 1 from t")
        self.until("spans", lambda: self.spans() >= 5)
        line = r"open +[1-9][0-9]* ns measured +[0-9]+  shop:work  \(applied"
        self.until("measured", lambda: re.search(line, self.daemon.ctl("points")))
        tree = self.tree()
        self.assertIn("shop:work", tree)
        self.assertIn("request_type = select ? from t", tree)
        self.assertIn("text = select 1 from t", tree)
        self.assertIn("place = -2", tree)

    def test_requests_are_below_the_span_of_the_client_that_their_comment_names(self):
        self.assertEqual(self.daemon.send(CLIENT), 200)
        self.target.fire(f"select 1 /*traceparent='00-{TRACE}-{CALLER}-01'*/")
        self.until("spans", lambda: self.spans() >= 6)
        tree = self.tree()
        self.assertIn(f"trace {TRACE}  6 spans", tree)
        self.assertRegex(tree, r"[ *] client:checkout\n.*[ *]   shop:work")

    def test_kill_of_pythiad_leaves_no_probe(self):
        self.daemon.end(signal.SIGKILL)
        self.wait(0)

    def test_probes_come_back_with_their_helper(self):
        self.probe.kill()
        self.wait(0)
        self.probe = helper.Helper(os.path.join(BINARIES, "pythia-probe"), self.folder,
                                   f"{self.target.path} work__start:2\n")
        self.addCleanup(self.probe.kill)
        self.wait(2)


class Functions(OfOneProgram):
    rules, texts, point = FUNCTIONS, "functions work:2", "shop:sell"

    def test_calls_of_a_function_are_requests_with_arguments_and_result(self):
        def fires():
            self.target.fire("select 7")
            return self.spans() >= 5
        self.until("spans", fires)
        self.assertRegex(self.daemon.ctl("points"), r"open +[1-9][0-9]* ns measured +[0-9]+  shop:sell  \(applied")
        tree = self.tree()
        self.assertIn("request_type = select ?", tree)
        self.assertRegex(tree, r"number = ([0-4])\n +made = 100\1\n")


LOSSES = """
service: shop
programs: [{path}]
points:
  ask: {{function: lose, request: true, kernel: [retransmits]}}
"""


class Retransmits(OfOneProgram):
    rules, texts, point = LOSSES, f"functions\n{helper.KERNEL}", "shop:ask"

    def test_a_span_has_the_segments_that_were_sent_again_in_it(self):
        def fires():
            self.target.fire("send")
            return self.spans() >= 5
        self.until("the point is there", lambda: re.search(r"shop:ask  \(applied", self.daemon.ctl("points")))
        self.until("spans", fires)
        spans = self.recorded("export", "--to", "otlp")
        if "tcp_retransmit_skb" in self.daemon.log or "sock_send_length" in self.daemon.log:
            self.skipTest("this kernel does not have the trace points")
        sent_again = re.findall(r'"kernel\.retransmits","value":\{"intValue":"(\d+)"', spans)
        # The kernel's points are attached within the first span, and gone within the last one.
        self.assertGreaterEqual(len([number for number in sent_again if number != "0"]), max(1, len(sent_again) - 2), sent_again)


LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
WITH_LIBRARY = """
service: shop
programs: [{path}, """ + LIBC + """]
points:
  sell: {{function: work, request: true}}
  parent: {{function: getppid}}
"""


class Libraries(OfOneProgram):
    """Each request calls a function of the C library, as this test, another process, does."""
    rules, texts, point = WITH_LIBRARY, f"functions\n{LIBC} functions", "shop:sell"

    def setUp(self):
        if not os.path.exists(LIBC):
            self.skipTest(f"there is no {LIBC}")
        super().setUp()

    def test_its_calls_are_spans_in_processes_with_requests_and_other_processes_are_left_alone(self):
        getppid = ctypes.cast(ctypes.CDLL(None).getppid, ctypes.c_void_p).value
        before = ctypes.string_at(getppid, 16)
        done = threading.Event()

        def work(): # requests are under way while their probes are attached, one after the other
            while not done.wait(.005): # the rings hold what comes in a second
                self.target.fire()
        worker = threading.Thread(target=work)
        worker.start()
        try:
            self.until("the points are there", lambda: re.search(r"shop:sell  \(applied", self.daemon.ctl("points")))
        finally:
            done.set()
            worker.join()
        self.daemon.ctl("open", "shop:parent")

        def has_library():
            self.target.fire()
            return re.search(r" [1-9][0-9]*  shop:parent  \(applied", self.daemon.ctl("points"))
        self.until("spans of the library", has_library)
        self.assertEqual(ctypes.string_at(getppid, 16), before)
        for _ in range(100000): # more than the rings hold
            os.getppid()
        self.target.fire()
        self.assertRegex(self.recorded("profile"), r"  shop:sell +[1-9].*\n  shop:parent +[1-9]")
        self.assertNotIn("Spans of probes are lost", self.daemon.log)
        self.assertNotIn("have no end", self.daemon.log)


if __name__ == "__main__":
    helper.skip_unless_possible(os.path.join(BINARIES, "pythia-probe"))
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
