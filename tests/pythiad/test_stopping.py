#!/usr/bin/env python3
"""Whatever pythiad waits for, it ends soon after it was told to: peers that are stopped, that take connections and never answer,
names that are looked up for good, files that nobody reads. usage: test_stopping.py BIN [SANITIZER]"""
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest
import uuid

import otlp
import rig
import test_kafka
import test_kafka_search

ENDED = 0  # with all that it had to do
GAVE_UP = 1  # after 20 s, because something still waited


class Silent:
    """A port of the loopback where connections succeed, and nobody ever takes them."""

    def __init__(self, test, family=socket.AF_INET, kind=socket.SOCK_STREAM, name=("127.0.0.1", 0)):
        self.socket = socket.socket(family, kind)
        test.addCleanup(self.socket.close)
        self.socket.bind(name)
        self.socket.listen(16)
        if family == socket.AF_INET:
            self.port = self.socket.getsockname()[1]


def connects(path):
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        return True
    return False


class Stopping(unittest.TestCase):
    def ends(self, pythiad, *codes):
        """SIGTERM ends it: with one of these statuses, and without a second signal."""
        begun = time.monotonic()
        code = pythiad.stop(30)
        rig.within(self, time.monotonic() - begun, 6 if code == ENDED else 21, "the end")
        self.assertIn(code, codes or (ENDED,), pythiad.log)
        if code == GAVE_UP:
            self.assertRegex(pythiad.log, "Stopped before all input was processed|Stopped, although a thread still waits")

    @contextlib.contextmanager
    def writing(self, write):
        """Calls write(0), write(1) and so on meanwhile, without a pause."""
        enough = threading.Event()

        def run():
            number = 0
            while not enough.is_set():
                write(number)
                number += 1
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            enough.set()
            thread.join()

    def hanging(self):
        """An environment in which names are looked up for good."""
        if rig.SANITIZER:
            self.skipTest("a sanitizer has to be loaded first")
        return {"LD_PRELOAD": os.path.join(rig.BIN, "..", "tests", "pythiad", "libhang.so")}

    # ---- Kafka ----

    def kafka(self, *settings, port):
        return f"--kafka=kafka://127.0.0.1:{port}/traces?" + "&".join(settings)

    def test_brokers_that_take_connections_and_never_answer(self):
        for settings in ((), ("evidence=found",)):
            pythiad = rig.Pythiad(self, self.kafka(*settings, port=Silent(self).port))
            pythiad.logged("Cannot read from Kafka", 60)
            self.ends(pythiad)

    def test_a_broker_whose_name_is_looked_up_for_good(self):
        environment = self.hanging()
        for settings in ("", "?evidence=found"):
            pythiad = rig.Pythiad(self, f"--kafka=kafka://broker.hangs.test:9092/traces{settings}", env=environment)
            pythiad.logged("Cannot read from Kafka", 60)
            self.ends(pythiad, ENDED, GAVE_UP)

    def test_a_broker_that_is_stopped_while_a_member_reads(self):
        mock = test_kafka.Mock(self, partitions=1)
        pythiad = rig.Pythiad(self, "--quiet-ms=200", f"--kafka={mock.url()}")
        rig.until(lambda: pythiad.get("/v1/status").json["kafka"]["partitions"], 30, lambda: pythiad.log)
        with self.stopped(mock.process.pid):
            self.ends(pythiad)

    def test_a_broker_that_is_stopped_while_members_share_a_search(self):
        mock = test_kafka.Mock(self, partitions=1)
        mock.command("topic", test_kafka_search.EVIDENCE, 1)
        pythiad = rig.Pythiad(self, "--quiet-ms=200", f"--kafka={mock.url(f'evidence={test_kafka_search.EVIDENCE}')}")
        rig.until(lambda: pythiad.get("/v1/status").json["kafka"]["partitions"], 40, lambda: pythiad.log)
        with self.stopped(mock.process.pid):
            pythiad.logged("Cannot read from Kafka", 60)
            self.ends(pythiad)

    @contextlib.contextmanager
    def stopped(self, pid):
        """It does nothing meanwhile."""
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    # ---- who gets what pythiad sends ----

    def test_a_collector_that_takes_connections_and_never_answers(self):
        pythiad = rig.Pythiad(self, f"--forward=http://127.0.0.1:{Silent(self).port}/")
        for i in range(20):
            self.assertEqual(pythiad.send(otlp.protobuf(otlp.request((f"step{i}",)))).status, 200)
        self.ends(pythiad)
        pythiad.logged("Bodies were not sent on before the end: lost=20")

    def test_a_collector_whose_name_is_looked_up_for_good(self):
        pythiad = rig.Pythiad(self, "--forward=http://collector.hangs.test/", env=self.hanging())
        self.assertEqual(pythiad.send(otlp.protobuf(otlp.request(("step",)))).status, 200)
        self.ends(pythiad)
        pythiad.logged("Bodies were not sent on before the end: lost=1")

    # ---- where points are switched, and their records come from ----

    def test_a_redis_that_is_stopped(self):
        redis = rig.RedisServer(self)
        pythiad = rig.Pythiad(self, f"--osprofiler={redis.url}")
        with self.stopped(redis.process.pid):
            time.sleep(1)
            self.ends(pythiad)

    def test_a_redis_that_takes_connections_and_never_answers(self):
        pythiad = rig.Pythiad(self, f"--osprofiler=redis://127.0.0.1:{Silent(self).port}/0")
        self.ends(pythiad)

    def test_a_redis_that_is_filled_without_end(self):
        """What pythiad takes in no more stays in Redis."""
        redis, record = rig.RedisServer(self), os.path.join(rig.make_folder(self), "record")
        pythiad = rig.Pythiad(self, f"--osprofiler={redis.url}", f"--record={record}", "--redact=off")
        pushed = 0

        def push(number):
            nonlocal pushed
            event = json.dumps({"name": "step-start", "base_id": str(uuid.UUID(int=number)), "parent_id": str(uuid.UUID(int=number)),
                                "trace_id": str(uuid.UUID(int=number + 1)), "timestamp": "2026-01-01T00:00:00.000001", "info": {}})
            redis.send(*[("LPUSH", f"osprofiler_opt:{uuid.UUID(int=number)}", event)] * 100)
            pushed += 100
        with self.writing(push):
            rig.until(lambda: os.path.exists(record + ".1") and os.path.getsize(record + ".1") > 100000, 30, lambda: pythiad.log)
            self.ends(pythiad)
        with open(record + ".1", "rb") as lines:
            taken = sum(1 for _ in lines)
        keys = redis.send(("KEYS", "osprofiler_opt:*")).split(b"\r\n")[2::2]
        left = sum(int(answer) for answer in redis.send(*[("LLEN", key) for key in keys]).replace(b":", b"").split()) if keys else 0
        self.assertEqual(taken + left, pushed)

    # ---- files ----

    def test_a_file_to_follow_that_is_a_pipe(self):
        folder = rig.make_folder(self)
        path = os.path.join(folder, "pipe")
        os.mkfifo(path)
        pythiad = rig.Pythiad(self, f"--follow={path}", folder=folder)
        self.ends(pythiad)

    def test_a_file_that_is_followed_is_replaced_by_a_pipe(self):
        folder = rig.make_folder(self)
        path = os.path.join(folder, "traces")
        open(path, "wb").close()
        pythiad = rig.Pythiad(self, f"--follow={path}", folder=folder)
        os.mkfifo(path + ".new")
        os.rename(path + ".new", path)
        time.sleep(.5)
        self.ends(pythiad)

    def test_a_log_that_nobody_reads(self):
        """Also while nobody reads it does pythiad answer, and it ends."""
        ends = os.pipe()
        folder = rig.make_folder(self)
        path = os.path.join(folder, "socket")
        with subprocess.Popen([rig.program("pythiad"), "--verbose", "--otlp-grpc=off", "--zipkin=off", "--otlp-http=off",
                               "--control=127.0.0.1:0", f"--control-socket=unix:{path}"], stderr=ends[1],
                              stdout=subprocess.DEVNULL, preexec_fn=rig.die_with_parent) as process:
            os.set_blocking(ends[1], False)
            with contextlib.suppress(BlockingIOError):
                while os.write(ends[1], b"x" * 4096):
                    pass
            os.set_blocking(ends[1], True)
            os.close(ends[1])
            rig.until(lambda: connects(path), 20)  # the file is there before it listens
            for _ in range(3):
                process.send_signal(signal.SIGHUP)  # which is logged
                self.assertEqual(rig.ask(path, "GET", "/healthz").status, 200)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(rig.patience(30)), 0)
        os.close(ends[0])


if __name__ == "__main__":
    rig.main()
