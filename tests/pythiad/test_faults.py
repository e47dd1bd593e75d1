#!/usr/bin/env python3
"""What goes wrong around it: slow senders, too much of everything, a full disk, an end without warning.
usage: test_faults.py BIN [SANITIZER]"""
import copy
import gzip
import http.client
import json
import os
import random
import re
import select
import socket
import struct
import subprocess
import threading
import time
import unittest

import grpc
import otlp
import rig
from otlp import Span

HERE = os.path.dirname(os.path.abspath(__file__))


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


HTTP_HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
H2_BEGIN = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def h2_frames(ends_headers, window=1 << 20, data=b""):
    """A connection of gRPC that begins a call: perhaps without the end of its headers, or of its body."""
    head = grpc.pack_headers([(":method", "POST"), (":scheme", "http"), (":path", grpc.EXPORT), (":authority", "127.0.0.1"),
                              ("content-type", "application/grpc"), ("te", "trailers")])
    return (H2_BEGIN + grpc.Connection.pack(grpc.SETTINGS, 0, 0, struct.pack(">HIHI", 1, 0, 4, window)) +
            grpc.Connection.pack(grpc.HEADERS, grpc.END_HEADERS if ends_headers else 0, 1, head) +
            (grpc.Connection.pack(grpc.DATA, grpc.END_STREAM, 1, data) if data else b""))


class SlowSenders(unittest.TestCase):
    """Fault 6: a thousand connections that never come to an end, of all kinds."""
    # Whether to gRPC, what they begin with, and after how many seconds they are to be closed.
    KINDS = ((False, b"", 10),
             (False, b"POST /v1/traces HTTP/1.1\r\nHost: loc", 10),
             (False, HTTP_HEAD + b"1000\r\n\r\n{", 30),
             (False, HTTP_HEAD + b"2\r\n\r\n{}POST /v1/traces HTTP/1.1\r\nHost: loc", 10),  # its second request
             (True, H2_BEGIN[:16], 10),
             (True, h2_frames(False), 10),
             (True, h2_frames(True), 30),
             (True, h2_frames(True, 0, grpc.framed(b"")), 30))  # takes no answer
    TRICKLING = 2

    def open(self, count, kinds=range(8)):
        """`count` connections that are slow, of each kind in turn: [(connection, kind)]."""
        links = []
        for i in range(count):
            kind = kinds[i % len(kinds)]
            to_grpc, begin, _ = self.KINDS[kind]
            link = socket.create_connection(("127.0.0.1", self.pythiad.grpc if to_grpc else self.pythiad.http), 60)
            try:
                link.sendall(begin)
            except OSError:
                pass  # it had to go for the next already
            links.append((link, kind))
        self.addCleanup(lambda: [link.close() for link, _ in links])
        return links

    @staticmethod
    def latencies(pythiad, count):
        """How long others wait for an answer, over connections that they have and new ones."""
        body, took = otlp.protobuf([Span()]), []
        link = http.client.HTTPConnection("127.0.0.1", pythiad.http, timeout=60)
        call = grpc.Connection(pythiad.grpc)
        for i in range(count):
            begun = time.monotonic()
            if i % 3 == 0:
                status = rig.on(link, "POST", "/v1/traces", body, rig.PROTOBUF).status
            elif i % 3 == 1:
                status = 200 + call.call(body).status
            else:
                status = pythiad.send(body).status
            took.append(time.monotonic() - begun)
            assert status == 200
        link.close()
        call.close()
        return took

    def test_others_hardly_notice_and_they_are_closed(self):
        # Without decisions, which take some ms at times that differ from run to run.
        quiet = ("--learn-requests=1000000", "--cycle-requests=1000000", "--cycle-seconds=1000")
        self.pythiad = rig.Pythiad(self, "--connections=1500", *quiet)
        alone = rig.Pythiad(self, *quiet)  # another one, so that what else the machine does meets both
        self.latencies(alone, 300)
        self.latencies(self.pythiad, 300)
        begun = time.monotonic()
        links = self.open(1000)
        best, rounds = {}, 0
        while time.monotonic() - begun < 8:
            for pythiad in (alone, self.pythiad):
                p99 = percentile(self.latencies(pythiad, 200), .99)
                best[pythiad] = min(best.get(pythiad, p99), p99)
            rounds += 1
        print(f"p99 {best[alone] * 1000:.2f} ms alone, {best[self.pythiad] * 1000:.2f} ms beside them, {rounds} rounds", flush=True)
        rig.within(self, best[self.pythiad], best[alone] * 1.2 + .0002, "p99 beside a thousand slow senders")
        self.assertEqual(alone.stop(), 0)
        # The connections are held for 10 s before a whole header, and for 30 s before a whole body; one kind trickles on.
        ended, waiting = {}, dict(links)
        while waiting and time.monotonic() - begun < rig.patience(40):
            for link in list(waiting):
                if waiting[link] == self.TRICKLING and random.random() < .02:
                    try:
                        link.sendall(b" ")
                    except OSError:
                        pass
            for link in select_some(list(waiting)):
                ended.setdefault(waiting.pop(link), []).append(time.monotonic() - begun)
            time.sleep(.1)
        self.assertEqual(len(waiting), 0, {kind: len(times) for kind, times in ended.items()})
        for kind, (_, _, seconds) in enumerate(self.KINDS):
            self.assertGreater(min(ended[kind]), seconds - 2, kind)
            rig.within(self, max(ended[kind]), seconds + 4, f"until slow senders of kind {kind} are disconnected")
        self.assertEqual(self.pythiad.metric("pythia_connections_timed_out_total"), 1000)
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def answers_at_once(self, ask):
        for _ in range(20):
            begun = time.monotonic()
            self.assertEqual(ask(), 200)
            rig.within(self, time.monotonic() - begun, 1, "an answer to a new sender")

    def test_at_the_limit_a_new_sender_is_answered_at_once(self):
        self.pythiad = rig.Pythiad(self)
        body = otlp.protobuf([Span()])
        for kind in range(8):  # of one kind alone, too
            self.open(300, [kind])
            self.answers_at_once(lambda: self.pythiad.send(body).status)
            self.answers_at_once(lambda: 200 + self.once(body))
        self.open(1000)
        self.answers_at_once(lambda: self.pythiad.send(body).status)
        self.answers_at_once(lambda: 200 + self.once(body))
        metrics = self.pythiad.metrics()
        evicted = {why: metrics[f'pythia_connections_evicted_total{{reason="{why}"}}'] for why in ("header", "body", "idle")}
        for why in ("header", "body"):
            self.assertGreater(evicted[why], 100, why)
        # Of 3400 slow ones at most 256 are left on each side.
        if not rig.SANITIZER:
            self.assertGreaterEqual(sum(evicted.values()), 3400 - 2 * 256)
        self.assertEqual(metrics["pythia_connections_refused_total"], 0)
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def test_at_the_limit_those_who_deliver_go_on(self):
        self.pythiad = rig.Pythiad(self)
        body, strangers = otlp.protobuf([Span()]), (0, 1, 2, 4, 5, 6)
        link = http.client.HTTPConnection("127.0.0.1", self.pythiad.http, timeout=60)
        self.addCleanup(link.close)
        self.assertEqual(rig.on(link, "POST", "/v1/traces", body, rig.PROTOBUF).status, 200)
        call = grpc.Connection(self.pythiad.grpc)
        self.addCleanup(call.close)
        self.assertEqual(call.call(body).status, grpc.OK)
        # A body that is on its way is not cut off, however many come.
        half = grpc.framed(otlp.protobuf([Span(attributes={"k": "v" * 100}) for _ in range(300)]))
        stream = call.begin()
        call.data(stream, half[:len(half) // 2], ends=False)
        self.open(1000, strangers)
        self.answers_at_once(lambda: rig.on(link, "POST", "/v1/traces", body, rig.PROTOBUF).status)
        self.open(1000, strangers)
        call.data(stream, half[len(half) // 2:])
        self.assertEqual(call.wait(stream).status, grpc.OK)
        self.answers_at_once(lambda: rig.on(link, "POST", "/v1/traces", body, rig.PROTOBUF).status)
        self.answers_at_once(lambda: 200 + call.call(body).status)
        self.assertEqual(self.pythiad.metric("pythia_connections_refused_total"), 0)
        self.assertEqual(self.pythiad.get("/readyz").status, 200)
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def once(self, body):
        with grpc.Connection(self.pythiad.grpc) as link:
            return link.call(body).status


def select_some(links):
    """Those whose other side has ended."""
    ended = []
    poll = select.poll()
    by_number = {link.fileno(): link for link in links}
    for number in by_number:
        poll.register(number, select.POLLIN | select.POLLRDHUP)
    for number, _ in poll.poll(0):
        link = by_number[number]
        try:
            link.setblocking(False)
            while link.recv(4096):
                pass
            ended.append(link)
        except BlockingIOError:
            pass
        except OSError:
            ended.append(link)
        finally:
            link.setblocking(True)
    return ended


class Overload(unittest.TestCase):
    """Fault 2: ten times what it can take."""
    LIMIT = (24 << 20) + (32 << 20) + (16 << 20)

    def test_it_lives_keeps_its_limit_and_counts(self):
        folder = rig.make_folder(self)
        pythiad = rig.Pythiad(self, "--memory=16M", "--memory-hard=24M", "--waiting-max=16M", "--quiet-ms=500",
                              "--rootless-ms=1000", folder=folder)
        pythiad.send(otlp.protobuf([Span()]))
        base = pythiad.memory()
        bodies = [otlp.protobuf([Span(f"step {i % 20}", kind=2) for i in range(2000)]) for _ in range(4)]
        path = os.path.join(folder, "body")
        with open(path, "wb") as to:
            to.write(grpc.framed(bodies[0]))
        seconds = 8
        load = [subprocess.Popen(["h2load", "-D", str(seconds), "-c", "32", "-m", "16", "-t", "1", "-d", path, "-H",
                                  "content-type: application/grpc", "-H", "te: trailers",
                                  f"http://127.0.0.1:{pythiad.grpc}{grpc.EXPORT}"], stdout=subprocess.PIPE, text=True)]
        stop, told = threading.Event(), {"taken": 0, "refused": 0, "slow": 0.0}
        lock = threading.Lock()

        def send(body):
            link = http.client.HTTPConnection("127.0.0.1", pythiad.http, timeout=60)
            while not stop.is_set():
                begun = time.monotonic()
                answer = rig.on(link, "POST", "/v1/traces", body, rig.PROTOBUF)
                with lock:
                    told["taken"] += answer.status == 200
                    told["refused"] += answer.status == 503
                    told["slow"] = max(told["slow"], time.monotonic() - begun)
                    told.setdefault("other", set()).add(answer.status)
            link.close()
        threads = [threading.Thread(target=send, args=(body,), daemon=True) for body in bodies]
        for thread in threads:
            thread.start()
        most = 0
        while load[0].poll() is None:
            most = max(most, pythiad.memory())
            self.assertEqual(pythiad.get("/healthz").status, 200)
            time.sleep(.1)
        stop.set()
        for thread in threads:
            thread.join(60)
        ended = time.monotonic()
        text = load[0].stdout.read()
        load[0].stdout.close()

        # Normal again within 5 s.
        rig.until(lambda: pythiad.get("/readyz").text == "ready\n", 5, lambda: pythiad.get("/readyz").text)
        self.assertEqual(pythiad.send(otlp.protobuf([Span()])).status, 200)
        if not rig.SANITIZER:
            rig.within(self, time.monotonic() - ended, 5, "from the end of the load to normal")
            self.assertLess(most - base, self.LIMIT * 1.1, text)
        self.assertEqual(told["other"] - {200, 503}, set())
        self.assertGreater(told["refused"], 0)

        # Each body was taken or refused, and each span that was taken became part of a request, or was told why not.
        rig.until(lambda: pythiad.metric("pythia_open_spans") == 0, 20)
        metrics = pythiad.metrics()
        self.assertEqual(metrics['pythia_answers_total{listener="otlp-http",class="2xx"}'], told["taken"] + 2)
        self.assertEqual(metrics['pythia_answers_total{listener="otlp-http",class="5xx"}'], told["refused"])
        refused = told["refused"] + metrics.get('pythia_answers_total{listener="otlp-grpc",class="14"}', 0)
        self.assertGreaterEqual(metrics["pythia_bodies_refused_total"], refused)
        self.assertEqual(metrics["pythia_body_bytes_held"], 0)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        last = dict(part.split("=") for part in next(line for line in pythiad.lines if "Received: " in line)
                    .split("Received: ")[1].split(", "))
        self.assertGreaterEqual(int(last["spans"]), 2)
        self.assertLessEqual(int(last["kept"]) + int(last["hidden"]), int(last["spans"]))


class FullDisk(unittest.TestCase):
    """Fault 5: degraded, said so, working on, and well again by itself."""

    def setUp(self):
        self.folder = rig.make_folder(self)
        self.disk = os.path.join(self.folder, "disk")
        os.mkdir(self.disk)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "pythiad-test", self.disk], capture_output=True,
                              check=False)
        if done.returncode != 0:
            self.skipTest("a small file system can only be had by root")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=False)

    def test_degraded_and_back(self):
        pythiad = rig.Pythiad(self, f"--state={self.disk}/state.db", "--learn=default", folder=self.folder)
        points = [{"id": f"shop:{i}", "hits": 1, "open_by_default": False} for i in range(20)]

        def report():
            body = {"service": "shop", "instance": "1", "applied": "", "points": points}
            self.assertEqual(rig.ask(pythiad.http, "POST", "/v1/trace-points", json.dumps(body), rig.JSON).status, 200)
        report()
        rig.until(lambda: pythiad.metric("pythia_points_known") == 20, 5)
        self.assertEqual(pythiad.post("/v1/open", {"trace_points": ["shop:1"]}).status, 200)
        full = os.path.join(self.disk, "full")
        with open(full, "wb", buffering=0) as to:
            try:
                while True:
                    to.write(b"\0" * 4096)
            except OSError:
                pass
        # What is not on disk is not acknowledged.
        answer = rig.until(lambda: next((a for a in [pythiad.post("/v1/open", {"trace_points": ["shop:2"]})]
                                         if a.status != 200), None), 10)
        self.assertEqual(answer.status, 503)
        self.assertEqual(pythiad.metric("pythia_state_degraded"), 1)
        ready = pythiad.get("/readyz")
        self.assertEqual((ready.status, ready.text), (200, "degraded: the state cannot be written\n"))
        self.assertTrue(pythiad.get("/v1/status").json["degraded"])
        self.assertIn("its state cannot be written", pythiad.ctl("status").stdout)
        pythiad.logged("The state cannot be written; decisions continue without it")
        # It takes spans, and switches, as before.
        self.assertEqual(pythiad.send(otlp.protobuf([Span()])).status, 200)
        self.assertEqual(pythiad.post("/v1/off").status, 200)
        self.assertEqual(pythiad.post("/v1/on").status, 200)
        os.remove(full)
        rig.until(lambda: pythiad.metric("pythia_state_degraded") == 0, 10, lambda: pythiad.log)
        pythiad.logged("The state can be written again")
        self.assertEqual(pythiad.get("/readyz").text, "ready\n")
        self.assertEqual(pythiad.post("/v1/open", {"trace_points": ["shop:3"]}).status, 200)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)


class Order(unittest.TestCase):
    """Fault 12: late and twice, the same report."""

    def play(self, order, seconds=0, late=()):
        """The report of a cycle of all the requests, whose spans come in bodies in that order, within so many seconds; before
        the last body, and when all other requests are finished, come the late ones. They begin when the set is in force."""
        pythiad = rig.Pythiad(self, f"--quiet-ms={10000 + 1000 * seconds}", f"--rootless-ms={20000 + 1000 * seconds}",
                              f"--cycle-requests={self.COUNT}", "--cycle-seconds=1000", f"--space={self.folder}/space.json",
                              "--always=*")
        rig.until(lambda: pythiad.metric("pythia_desired_in_force") == 1, 10)
        time.sleep(.2)
        link = http.client.HTTPConnection("127.0.0.1", pythiad.http, timeout=60)
        begun, begun_ns = time.monotonic(), time.time_ns()

        def send(spans):  # messages of protobuf that follow each other are merged
            moved = [copy.copy(span) for span in spans]
            for span in moved:
                span.start += begun_ns
            body = b"".join(otlp.protobuf([span]) for span in moved)
            self.assertEqual(rig.on(link, "POST", "/v1/traces", body, rig.PROTOBUF).status, 200)
        for i, spans in enumerate(order):
            time.sleep(max(0, begun + seconds * i / len(order) - time.monotonic()))
            if late and i == len(order) - 1:
                rig.until(lambda: pythiad.metric('pythia_requests_finished_total{by="any"}') == self.COUNT - 1, 60)
                for again in late:
                    send(again)
            send(spans)
        link.close()
        if seconds:
            self.assertGreater(time.monotonic() - begun, seconds * .99)
        report = rig.until(lambda: pythiad.metric("pythia_cycles_total") and pythiad.get("/v1/report").json, 30 + 2 * seconds,
                           lambda: str(pythiad.metrics()))
        metrics = pythiad.metrics()
        self.assertEqual(pythiad.stop(), 0)
        if not late:
            self.assertEqual(metrics['pythia_spans_dropped_total{reason="late"}'], 0)
        return report, metrics

    COUNT = 100

    def make(self):
        """The search space, and the spans of the requests, each by itself; they begin at 1 ns."""
        self.folder = rig.make_folder(self)

        def requests(count, start=None):
            return [otlp.request(("a", "b", "c"), slow=("b", (i * 7919 % 30) * 1000000),
                                 start=start and start + i * 1000000) for i in range(count)]
        with open(f"{self.folder}/known", "wb") as to:
            to.write(b"\n".join(otlp.as_json(spans) for spans in requests(30)))
        subprocess.run([rig.program("pythia"), "space", "build", "--quiet", "--output", f"{self.folder}/space.json",
                        f"{self.folder}/known"], check=True, timeout=rig.patience(60))
        return [[span] for spans in requests(self.COUNT, 1) for span in spans]

    def same_bytes(self, one, other):
        """The whole report, byte by byte, but for how much came in, and when."""
        texts = [json.dumps({key: value for key, value in report.items() if key != "input"}, indent=1) for report in (one, other)]
        texts = [re.sub(r'"since_unix_ns": \d+', '"since_unix_ns": 0', text) for text in texts]
        self.assertEqual(texts[0], texts[1])
        for report in (one, other):
            self.assertEqual((report["input"]["spans"], report["input"]["traces"]), (4 * self.COUNT, self.COUNT))

    def test_shuffled_and_sent_twice(self):
        pieces, chance = self.make(), random.Random(5)
        shuffled = pieces[:]
        chance.shuffle(shuffled)
        twice = pieces + [piece for piece in pieces if chance.random() < .5]
        chance.shuffle(twice)
        sorted_report, _ = self.play(pieces)
        shuffled_report, _ = self.play(shuffled)
        report, metrics = self.play(twice)
        self.assertEqual(sorted_report["request_types"][0]["count"], self.COUNT)
        self.same_bytes(shuffled_report, sorted_report)
        self.assertEqual(metrics['pythia_spans_repaired_total{kind="duplicate"}'], len(twice) - len(pieces))
        self.same_bytes(report, sorted_report)

    def test_shuffled_within_30_seconds(self):
        """8 in `./dev test`."""
        pieces, chance = self.make(), random.Random(6)
        twice = pieces + pieces[::2]
        chance.shuffle(twice)
        sorted_report, _ = self.play(pieces)
        report, metrics = self.play(twice, 30 if rig.FULL else 8)
        self.assertEqual(metrics['pythia_spans_repaired_total{kind="duplicate"}'], len(twice) - len(pieces))
        self.same_bytes(report, sorted_report)

    def test_300_deliveries_again(self):
        """100 bodies of a request once more, 100 single spans in the body of another request, and 50 of each when the requests
        have long been finished: all are counted, and change nothing."""
        pieces, chance = self.make(), random.Random(8)
        whole = [pieces[at:at + 4] for at in range(0, len(pieces), 4)]
        once = [sum(spans, []) for spans in whole]
        bodies, last = once[:-1], once[-1]
        again = bodies + bodies[1:] + bodies[-2:]
        chance.shuffle(again)
        for number in range(100):
            at = chance.randrange(len(again))
            again[at] = again[at] + whole[0][number % 4]
        late = bodies[:50] + [spans[1] for spans in whole[:50]]
        plain, _ = self.play(once)
        report, metrics = self.play(again + [last], late=late)
        self.same_bytes(report, plain)
        # All spans but the last four have come again, once or more often: the number of spans is what is counted.
        self.assertEqual(metrics['pythia_spans_repaired_total{kind="duplicate"}'], 4 * (self.COUNT - 1))
        self.assertEqual(metrics['pythia_spans_dropped_total{reason="late"}'], 50 * 4 + 50)


class Threads(unittest.TestCase):
    def test_packed_bodies_of_all_kinds_at_once(self):
        """Decoders on several threads share the names."""
        pythiad = rig.Pythiad(self, "--memory=1G", "--memory-hard=1G")
        failures = []

        def send(number):
            link = http.client.HTTPConnection("127.0.0.1", pythiad.http, timeout=rig.patience(60))
            call = grpc.Connection(pythiad.grpc, timeout=rig.patience(60))
            for i in range(40):
                spans = [Span(f"name {(number * 7 + i + j) % 50}", attributes={f"key {j}": f"value {i}"}) for j in range(30)]
                kind = (number + i) % 3
                if kind == 0:
                    good = rig.on(link, "POST", "/v1/traces", otlp.as_json(spans), rig.JSON).status == 200
                elif kind == 1:
                    good = call.call(gzip.compress(otlp.protobuf(spans)), True, coding="gzip").status == grpc.OK
                else:
                    good = rig.on(link, "POST", "/v1/traces", otlp.zstd(otlp.protobuf(spans)), rig.PROTOBUF,
                                  Content_Encoding="zstd").status == 200
                if not good:
                    failures.append((number, i))
            link.close()
            call.close()
        threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        metrics = pythiad.metrics()
        self.assertEqual(metrics["pythia_spans_total"], 8 * 40 * 30)
        self.assertEqual(metrics['pythia_names{kind="trace_point"}'], 50)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)


if __name__ == "__main__":
    rig.main()
