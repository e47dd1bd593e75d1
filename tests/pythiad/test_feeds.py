#!/usr/bin/env python3
"""Streams that pythiad reads for long: files that grow, rings of traced programs, records over a socket, Redis."""
import fcntl
import glob
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time
import unittest

import otlp
import records
import rig

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CAPTURE = os.path.join(ROOT, "datasets", "openstack", "contention.jsonl.zst")


def generate(folder, requests, name="made.json"):
    """OTLP/JSON lines of requests with 20 spans each."""
    path = os.path.join(folder, name)
    subprocess.run([rig.program("pythia"), "generate", "--nodes", "20", "--requests", str(requests), "--output", path],
                   check=True, capture_output=True)
    with open(path, "rb") as lines:
        return lines.read().splitlines(keepends=True)


def spans_of(lines):
    return sum(len(scope["spans"]) for line in lines for resource in json.loads(line)["resourceSpans"]
               for scope in resource["scopeSpans"])


def replayed(*paths):
    """How many spans and requests pythia replay finds."""
    done = subprocess.run([rig.program("pythia"), "replay", "--quiet", "--format", "json", *paths], capture_output=True,
                          text=True, check=False)
    found = json.loads(done.stdout)["input"]
    return found["spans"], found["traces"]


class Follow(unittest.TestCase):
    def start(self, *paths, **more):
        return rig.Pythiad(self, "--quiet-ms=200", *(f"--follow={path}" for path in paths), **more)

    def spans(self, daemon, count):
        rig.until(lambda: daemon.metric("pythia_spans_total") == count, 10,
                  lambda: f"{daemon.metric('pythia_spans_total')} spans, not {count}:\n{daemon.log}")

    def test_what_is_appended_is_read_line_by_line(self):
        folder = rig.make_folder(self)
        lines = generate(folder, 200)
        path = os.path.join(folder, "grows.json")
        with open(path, "wb", buffering=0) as to:
            daemon = self.start(path, folder=folder)
            to.write(lines[0])
            self.spans(daemon, spans_of(lines[:1]))
            to.write(lines[1] + lines[2][:1000])  # the rest of the line has not come yet
            self.spans(daemon, spans_of(lines[:2]))
            to.write(lines[2][1000:] + b"no JSON\n" + b"".join(lines[3:]))
            self.spans(daemon, spans_of(lines))
        daemon.logged("cannot be read.*grows.json:4")
        self.assertEqual(daemon.metric("pythia_records_broken_total"), 1)
        self.assertEqual(daemon.stop(), 0)

    def test_a_last_line_that_is_broken_is_told_before_another_comes(self):
        folder = rig.make_folder(self)
        lines = generate(folder, 50)
        with open(os.path.join(folder, "broken.json"), "wb", buffering=0) as to:
            daemon = self.start("broken.json", folder=folder)
            to.write(lines[0] + b"no JSON\n")
            rig.until(lambda: daemon.metric("pythia_records_broken_total") == 1, 10, lambda: daemon.log)
            self.spans(daemon, spans_of(lines[:1]))
            self.assertEqual(daemon.stop(), 0)  # and it holds up nobody

    def test_a_file_that_is_replaced_or_cut_short_is_read_from_its_beginning(self):
        folder = rig.make_folder(self)
        lines = generate(folder, 100)
        path = os.path.join(folder, "rotates.json")
        with open(path, "wb") as to:
            to.write(lines[0])
        daemon = self.start(path, folder=folder)
        self.spans(daemon, spans_of(lines[:1]))
        with open(path + ".new", "wb") as to:
            to.write(lines[1])
        os.rename(path + ".new", path)
        self.spans(daemon, spans_of(lines[:2]))
        daemon.logged("was replaced")
        with open(path, "wb") as to:  # shorter than it was
            to.flush()
            daemon.logged("was truncated")
            to.write(lines[2])
        self.spans(daemon, spans_of(lines[:3]))
        self.assertEqual(daemon.stop(), 0)

    def test_a_file_that_is_no_trace_is_told_and_costs_nothing_else(self):
        folder = rig.make_folder(self)
        lines = generate(folder, 50)
        for name, content in (("poem.txt", b"O Wild West Wind\n"), ("good.json", b"".join(lines)), ("empty", b"")):
            with open(os.path.join(folder, name), "wb") as to:
                to.write(content)
        daemon = self.start("poem.txt", "good.json", "empty", folder=folder)
        self.spans(daemon, spans_of(lines))
        daemon.logged("Stopped reading: poem.txt: its format was not recognised")
        self.assertEqual(daemon.stop(), 0)

    def test_a_file_that_is_not_there_ends_the_start(self):
        code, said = rig.run(self, "--follow=/nonexistent/file", "--otlp-grpc=off", "--otlp-http=off", "--zipkin=off",
                             "--control=off")
        self.assertEqual(code, 1)
        self.assertIn("/nonexistent/file: cannot be followed: No such file or directory", said)


class Series(unittest.TestCase):
    """What collectors of programs measure, and variables, are key-values of live requests as of replayed ones."""
    COUNT = 300
    LABEL = 'queue, "length"'

    def setUp(self):
        self.folder = rig.make_folder(self)
        self.series = os.path.join(self.folder, "series")
        chance = random.Random(3)
        self.begin = time.time_ns() + 3600 * 10**9  # so that all begin when the set is in force
        self.lengths = [chance.randrange(10) for _ in range(self.COUNT)]

    def start_of(self, i):
        return self.begin + i * 10 * 10**6

    def requests(self, attributes=lambda i: None, count=None):
        return [otlp.request(("a", "b", "c"), slow=("b", self.lengths[i] * 4000000), start=self.start_of(i),
                             attributes=attributes(i)) for i in range(count or self.COUNT)]

    def rows(self, first, end):
        quoted = '"' + self.LABEL.replace('"', '""') + '"'
        return "Timepoint,Measurement,Label,PID\n" + "".join(
            f"{self.start_of(i) - 1000},{self.lengths[i]},{quoted},7\n{self.start_of(i) - 500},{i % 3},noise,7\n"
            for i in range(first, end))

    def write(self, name, text):
        """Whole from its first moment, as programs hand their series over."""
        path = os.path.join(self.series, name)
        with open(path + ".part", "w", encoding="utf-8") as to:
            to.write(text)
        os.rename(path + ".part", path)
        return path

    def start(self, *options):
        known = os.path.join(self.folder, "known")
        with open(known, "wb") as to:
            to.write(b"\n".join(otlp.as_json(spans) for spans in self.requests(count=30)))
        subprocess.run([rig.program("pythia"), "space", "build", "--quiet", "--output", f"{self.folder}/space.json", known],
                       check=True, timeout=rig.patience(60))
        daemon = rig.Pythiad(self, f"--cycle-requests={self.COUNT}", "--cycle-seconds=1000", f"--space={self.folder}/space.json",
                             "--always=*", f"--record={self.folder}/recording", "--quiet-ms=200", *options, folder=self.folder)
        rig.until(lambda: daemon.metric("pythia_desired_in_force") == 1, 10)
        return daemon

    def report(self, daemon):
        return rig.until(lambda: daemon.metric("pythia_cycles_total") and daemon.get("/v1/report").json, 30,
                         lambda: str(daemon.metrics()))

    def same_as_replayed(self, live, *options):
        done = subprocess.run([rig.program("pythia"), "replay", "--quiet", "--format", "json", *options,
                               f"{self.folder}/recording"], capture_output=True, text=True, check=False)
        replayed = json.loads(done.stdout)
        self.assertEqual(replayed["request_types"], live["request_types"])
        # But for where a group comes from, which needs the skeleton that the search had; and for how sure it is of keys, as
        # whoever looks again and again, cycle by cycle, has to be stricter.
        picks = ("id", "count", "mean_ns", "sd_ns", "status", "modes", "path", "edges", "skipped_keys")
        self.assertEqual(*([[(e["key"], e["kind"], e["effect"], e["edges"]) for e in g["explanations"]]
                            for g in report["groups"]] for report in (replayed, live)))
        self.assertEqual([[g[key] for key in picks] for g in replayed["groups"]],
                         [[g[key] for key in picks] for g in live["groups"]])

    def test_a_series_names_the_key_that_the_replay_names(self):
        os.mkdir(self.series)
        daemon = self.start(f"--collect={self.series}", "--collect-ms=6000")
        self.assertEqual(daemon.send(otlp.protobuf([span for spans in self.requests() for span in spans])).status, 200)
        # The collector completes its files later than the requests end, as it does every 5 s.
        third = self.COUNT // 3
        done = self.write("shop.7.1.00000000000000aa.csv", self.rows(0, third))
        writing = self.write("shop.7.2.00000000000000aa.tmp", self.rows(third, 2 * third))
        killed = self.write("shop.7.3.00000000000000aa.tmp", self.rows(2 * third, self.COUNT) + "17000")  # in mid of a row
        other = self.write("notes.txt", "mine")
        with open(writing, "r+b") as file:  # somebody writes to it
            fcntl.lockf(file, fcntl.LOCK_EX)
            rig.until(lambda: not os.path.exists(done) and not os.path.exists(killed), 5)
            self.assertTrue(os.path.exists(writing))
            os.rename(writing, writing.replace(".tmp", ".csv"))
        live = self.report(daemon)
        self.assertEqual(os.listdir(self.series), ["notes.txt"])
        self.assertTrue(os.path.exists(other))
        first = live["groups"][0]["explanations"][0]
        self.assertEqual((first["key"], first["kind"]), ("series." + self.LABEL, "numeric"))
        metrics = daemon.metrics()
        self.assertEqual((metrics["pythia_series_files_total"], metrics["pythia_series_rows_total"], metrics["pythia_series"]),
                         (3, 2 * self.COUNT, 2))
        self.assertEqual((metrics["pythia_series_values_joined_total"], metrics["pythia_series_values_missing_total"]),
                         (2 * self.COUNT, 0))
        self.assertEqual(metrics['pythia_series_rows_dropped_total{reason="broken"}'], 1)
        self.assertEqual(daemon.stop(), 0, daemon.log)
        self.same_as_replayed(live, "--series", f"{self.folder}/recording.series.csv")

    def test_files_that_are_no_series_are_put_aside(self):
        daemon = self.start(f"--collect={self.series}", "--collect-ms=100")  # a folder that is not there yet
        os.mkdir(self.series)
        bad = self.write("bad.csv", "this is no series\n")
        os.symlink("/etc/passwd", os.path.join(self.series, "link.csv"))
        rig.until(lambda: daemon.metric("pythia_series_files_refused_total") == 1, 5)
        self.assertEqual(sorted(os.listdir(self.series)), ["bad.csv.refused", "link.csv"])
        with open(bad + ".refused", encoding="utf-8") as file:
            self.assertEqual(file.read(), "this is no series\n")
        daemon.logged("A series cannot be read: .*bad.csv")
        self.write("good.csv", self.rows(0, 5))
        rig.until(lambda: daemon.metric("pythia_series_rows_total") == 10, 5)
        self.assertEqual(daemon.stop(), 0, daemon.log)
        code, said = rig.run(self, "--otlp-grpc=off", "--otlp-http=off", "--zipkin=off", "--control=off", f"--collect={bad}.refused")
        self.assertEqual((code, "is not a folder" in said), (2, True), said)

    def test_what_is_there_at_the_end_is_taken_in(self):
        os.mkdir(self.series)
        daemon = self.start(f"--collect={self.series}", "--collect-ms=60000")
        for spans in self.requests():
            self.assertEqual(daemon.send(otlp.protobuf(spans)).status, 200)
        for i in range(30):
            self.write(f"shop.7.{i}.00000000000000aa.csv", self.rows(i * 10, i * 10 + 10))
        self.assertEqual(daemon.stop(), 0, daemon.log)
        self.assertEqual(os.listdir(self.series), [])
        with open(f"{self.folder}/recording.series.csv", encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 1 + 2 * self.COUNT)

    def test_variables_are_joined(self):
        daemon = self.start()
        for i, spans in enumerate(self.requests()):
            for j, span in enumerate(spans[:3]):  # whichever of them has it
                span.attributes = {"variable.held": self.lengths[i] if j == i % 3 else 0}
            self.assertEqual(daemon.send(otlp.protobuf(spans)).status, 200)
        live = self.report(daemon)
        self.assertEqual(live["groups"][0]["explanations"][0]["key"], "variable.held.max")
        self.assertEqual(daemon.stop(), 0, daemon.log)
        self.same_as_replayed(live)


class Rings(unittest.TestCase):
    def start(self, *options):
        folder = rig.make_folder(self)
        gate = os.path.join(folder, "gate")
        os.mkdir(gate, 0o700)
        daemon = rig.Pythiad(self, "--quiet-ms=200", f"--gate={gate}", *options, folder=folder)
        return daemon, dict(os.environ, PYTHIA_DIRECTORY=gate, PYTHIA_SERVICE="shop")

    def test_the_cause_in_a_program_with_trace_points_is_found(self):
        daemon, environment = self.start()
        program = subprocess.Popen([rig.program("traced_orders"), "100000"], env=environment)
        self.addCleanup(program.kill)
        daemon.logged("Found a cause: request-type=order, place=from the start of shop:pay to the start of "
                      "shop:query", 60)
        report = rig.until(lambda: next((g for g in daemon.get("/v1/groups").json if g["explanations"]), None), 30)
        self.assertEqual([e["key"] for e in report["explanations"]][0], "tenant")
        self.assertEqual(daemon.ctl("off").returncode, 0)
        rig.until(lambda: self.settled(daemon), 10)
        program.kill()
        self.assertEqual(daemon.stop(), 0)

    def test_what_a_killed_program_had_committed_is_not_lost(self):
        daemon, environment = self.start()
        program = subprocess.Popen([rig.program("traced_orders"), "100000"], env=dict(environment, PYTHIA_OPEN="*"))
        rig.until(lambda: daemon.metric("pythia_spans_total") > 200, 30)
        program.kill()
        program.wait()
        taken = rig.until(lambda: self.settled(daemon), 10)
        self.assertGreater(taken, 200)
        for reason in ("full_ring", "broken_record"):
            self.assertEqual(daemon.metric(f'pythia_spans_dropped_total{{reason="{reason}"}}'), 0)
        self.assertEqual(glob.glob(os.path.join(environment["PYTHIA_DIRECTORY"], f"*{program.pid}*")), [])
        self.assertEqual(daemon.stop(), 0)

    def settled(self, daemon):
        before = daemon.metric("pythia_spans_total")
        time.sleep(3 if rig.SANITIZER else 1.5)  # spans come on by tens of thousands at once
        return before if daemon.metric("pythia_spans_total") == before else None

    def killed(self, daemon, environment, threads, spans, moment=None):
        """Start a program that records as fast as it can, and kill it after some seconds, or when it has recorded all: how many spans
        there had been."""
        counts = os.path.join(environment["PYTHIA_DIRECTORY"], "..", f"committed-{threads}-{spans}-{moment}")
        program = subprocess.Popen([rig.program("traced_killed"), counts, str(threads), str(spans)], env=environment,
                                   stdout=subprocess.PIPE, text=True, preexec_fn=rig.die_with_parent)
        self.addCleanup(program.stdout.close)

        def committed():
            with open(counts, "rb") as file:
                return [int.from_bytes(word, "little") for word in iter(lambda: file.read(8), b"")]
        rig.until(lambda: os.path.exists(counts) and sum(committed()) > 0, 20, lambda: daemon.log)
        if moment is None:
            self.assertEqual(program.stdout.readline(), "done\n")
        else:
            time.sleep(moment)
        program.kill()
        self.assertEqual(program.wait(), -signal.SIGKILL)
        return sum(committed())

    def count(self, daemon):
        """Spans that came, and those that are told to be lost."""
        metrics = daemon.metrics()
        self.assertEqual(metrics['pythia_spans_dropped_total{reason="broken_record"}'], 0)
        self.assertEqual(metrics["pythia_records_broken_total"], 0)
        return metrics["pythia_spans_total"], metrics['pythia_spans_dropped_total{reason="full_ring"}']

    def test_all_that_was_committed_by_killed_programs_is_recovered(self):
        """At whatever moment, of threads that record: each may have been killed between a span and its count. Their rings have room for all,
        whenever pythiad may run."""
        daemon, environment = self.start("--learn-requests=1000000000")
        threads, kills, committed = 3, 10, 0
        for kill in range(kills):
            committed += self.killed(daemon, dict(environment, PYTHIA_RING_BYTES=str(1 << 28)), threads, 1500000,
                                     .01 + .013 * kill)
            rig.until(lambda: sum(self.count(daemon)) >= committed, 30, lambda: f"{kill}: {self.count(daemon)} of {committed}")
            came, lost = rig.until(lambda: self.settled(daemon) and self.count(daemon), 30)
            self.assertLessEqual(came + lost, committed + threads * (kill + 1), kill)
        self.assertEqual(lost, 0)
        self.assertGreater(committed, 10000)
        # The switchboard is as good as ever: the next program finds its switches, and they can be thrown.
        before = daemon.metric("pythia_spans_total")
        self.assertEqual(daemon.ctl("close", "traced_killed:step", "shop:step").returncode, 1)  # the first is not known
        self.assertEqual(daemon.ctl("off").returncode, 0)  # it begins requests, and stays open otherwise
        program = subprocess.Popen([rig.program("traced_killed"), os.path.join(daemon.folder, "after"), "1", "1000"],
                                   env=environment, stdout=subprocess.PIPE, text=True, preexec_fn=rig.die_with_parent)
        self.addCleanup(program.kill)
        self.addCleanup(program.stdout.close)
        time.sleep(.5)
        self.assertEqual(daemon.metric("pythia_spans_total"), before)
        self.assertEqual(daemon.ctl("on").returncode, 0)
        self.assertEqual(program.stdout.readline(), "done\n")
        rig.until(lambda: daemon.metric("pythia_spans_total") == before + 1000, 10, lambda: daemon.metrics())
        program.kill()
        program.wait()
        self.assertEqual(daemon.stop(), 0)

    def test_what_a_killed_program_had_no_room_for_is_counted(self):
        """Nobody reads while it runs, and its rings are small: what is recovered and what is lost make all."""
        daemon, environment = self.start("--learn-requests=1000000000")
        self.killed(daemon, environment, 1, 100)  # its point is known and open
        before, lost = rig.until(lambda: self.settled(daemon) and self.count(daemon), 20)
        self.assertEqual((before, lost), (100, 0))
        daemon.signal(signal.SIGSTOP)
        try:
            committed = self.killed(daemon, dict(environment, PYTHIA_RING_BYTES=str(1 << 16)), 2, 20000)
        finally:
            daemon.signal(signal.SIGCONT)
        self.assertEqual(committed, 40000)
        came, lost = rig.until(lambda: self.settled(daemon) and self.count(daemon), 20)
        self.assertEqual(came - before + lost, committed)
        self.assertGreater(came - before, 500)  # two rings full
        self.assertGreater(lost, 30000)
        self.assertEqual(daemon.stop(), 0)
        self.assertRegex(daemon.log, f"Received: .* spans={came:.0f}, .*dropped={lost:.0f}, ")

    def test_rings_have_one_reader(self):
        daemon, environment = self.start()
        code, said = rig.run(self, "--otlp-grpc=off", "--otlp-http=off", "--zipkin=off", "--control=off",
                             f"--gate={environment['PYTHIA_DIRECTORY']}")
        self.assertEqual(code, 1)
        self.assertIn("records of traced programs cannot be read", said)
        self.assertEqual(daemon.stop(), 0)


class Records(unittest.TestCase):
    def test_records_come_over_a_socket_as_they_do_from_a_file(self):
        folder = rig.make_folder(self)
        written, gate = os.path.join(folder, "orders.records"), os.path.join(folder, "none")
        os.mkdir(gate, 0o700)
        subprocess.run([rig.program("traced_orders"), "200"], check=True,
                       env=dict(os.environ, PYTHIA_OPEN="*", PYTHIA_RECORDS=written, PYTHIA_DIRECTORY=gate))
        path = os.path.join(folder, "records.sock")
        daemon = rig.Pythiad(self, "--quiet-ms=200", f"--records=unix:{path}", folder=folder)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(written, "rb") as file, socket.socket(socket.AF_UNIX) as link:
            content = file.read()
            link.connect(path)
            for at in range(0, len(content), 777):  # frames are cut anywhere
                link.sendall(content[at:at + 777])
        rig.until(lambda: daemon.metric("pythia_requests_finished_total{by=\"any\"}") == 200, 10, lambda: daemon.log)
        self.assertEqual(daemon.metric("pythia_spans_total"), replayed(written)[0])
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(path)
            link.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
        daemon.logged("A record cannot be read: records")
        self.assertEqual(daemon.stop(), 0)

    def test_spans_after_garbage_are_there_while_the_connection_goes_on(self):
        """Neither 2048 of them are waited for, nor the end, nor a pause: garbage comes all the time."""
        folder = rig.make_folder(self)
        path = os.path.join(folder, "records.sock")
        daemon = rig.Pythiad(self, "--quiet-ms=200", f"--records=unix:{path}", folder=folder)
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(path)
            shop = records.Process(link)
            spans = otlp.request(("step",))
            shop.send(spans)
            link.sendall(b"garbage " * 5)
            shop.send(otlp.request(("step",)))
            ended, trickle = threading.Event(), bytes(range(128))
            sender = threading.Thread(target=lambda: [link.sendall(trickle) for _ in iter(lambda: ended.wait(.02), True)])
            sender.start()
            try:
                rig.until(lambda: daemon.metric("pythia_requests_finished_total{by=\"any\"}") == 2, 20, lambda: daemon.log)
            finally:
                ended.set()
                sender.join()
            self.assertEqual(daemon.metric("pythia_spans_total"), 2 * len(spans))
        self.assertEqual(daemon.stop(), 0)


class Redis(unittest.TestCase):
    def setUp(self):
        self.folder = rig.make_folder(self)
        self.redis = rig.RedisServer(self)
        unpacked = subprocess.run(["zstd", "-dcq", CAPTURE], capture_output=True, check=True).stdout.splitlines()
        self.events = [json.loads(line) for line in unpacked]
        self.lines = unpacked
        some = list(dict.fromkeys(e["base_id"] for e in self.events))[:20]
        self.chosen = [(e, line) for e, line in zip(self.events, self.lines) if e["base_id"] in some]
        path = os.path.join(self.folder, "some.jsonl")
        with open(path, "wb") as to:
            to.write(b"\n".join(line for _, line in self.chosen) + b"\n")
        self.wanted = replayed(path)

    def start(self, *options):
        return rig.Pythiad(self, "--quiet-ms=500", f"--osprofiler={self.redis.url}", *options,
                           folder=self.folder)

    def commands(self, layout):
        for i, (event, line) in enumerate(self.chosen):
            base = event["base_id"]
            if layout == "list":
                yield "LPUSH", "osprofiler_opt:" + base, line
            elif layout == "key":
                yield "SET", f"osprofiler:{base}{event['trace_id']}{event['parent_id']}{i}", line
            else:
                yield "APPEND", "osprofiler:" + base, line

    def check(self, layout):
        daemon = self.start()
        self.redis.send(*self.commands(layout))
        rig.until(lambda: daemon.metric("pythia_requests_finished_total{by=\"any\"}") == self.wanted[1], 20,
                  lambda: f"{daemon.metrics()} {daemon.log}")
        self.assertEqual(daemon.metric("pythia_spans_total"), len(self.chosen))
        self.assertEqual(daemon.metric("pythia_records_broken_total"), 0)
        self.assertEqual(self.redis.send(("KEYS", "osprofiler*")), b"*0\r\n")
        self.assertEqual(daemon.stop(), 0)

    def test_the_list_of_a_trace(self):
        self.check("list")

    def test_a_key_for_each_event(self):
        self.check("key")

    def test_events_one_behind_the_other(self):
        self.check("append")

    def test_a_redis_that_is_not_there_is_told_at_once(self):
        self.redis.kill()
        daemon = self.start()
        daemon.logged("Redis cannot be reached; retrying: reason=Connection refused")
        self.redis.start()
        daemon.logged("Reading OSProfiler's events from Redis")
        self.assertEqual(daemon.log.count("Redis cannot be reached"), 1)

    def test_a_redis_that_is_gone_and_comes_back_is_read_again(self):
        daemon = self.start()
        daemon.logged("Reading OSProfiler's events from Redis")
        self.redis.kill()
        daemon.logged("Redis cannot be reached")
        self.redis.start()
        self.redis.send(*self.commands("list"))
        rig.until(lambda: daemon.metric("pythia_spans_total") == len(self.chosen), 20, lambda: daemon.log)
        self.assertEqual(daemon.stop(), 0)

    def test_what_is_recorded_gives_the_same_when_it_is_replayed(self):
        record = os.path.join(self.folder, "record")
        daemon = self.start(f"--record={record}")
        self.redis.send(*self.commands("list"))
        rig.until(lambda: daemon.metric("pythia_requests_finished_total{by=\"any\"}") == self.wanted[1], 20,
                  lambda: daemon.log)
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(replayed(record + ".1"), self.wanted)


if __name__ == "__main__":
    rig.main()
