#!/usr/bin/env python3
"""The demo services by themselves: they answer under each problem, and whatever is sent to them; they end when they have
answered. usage: test_rpc_services.py BIN [SANITIZER]"""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pythiad"))
import rig  # noqa: E402

TESTBED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "datasets", "testbeds", "rpc")
GET, PUT, LIST, PLANT, STATE = 1, 2, 3, 16, 17
OK, BUSY, AGAIN, BROKEN, FAILED = range(5)
REQUEST, ANSWER = 1, 2
VERSION = 2
PAUSE_US = 4000


def head(body=b"", method=GET, number=1, kind=REQUEST, version=VERSION, attempt=0, body_bytes=None, context_bytes=0, free=0,
         magic=b"RP"):
    return magic + struct.pack(">BBBBBBIIIHH", version, kind, method, 0, attempt, 0, number, 0,
                               len(body) if body_bytes is None else body_bytes, context_bytes, free)


def frame(body=b"", **more):
    return head(body, **more) + body


def request(tenant=0, key=0, count=1, value=b"", **more):
    return frame(struct.pack(">HIH", tenant, key, count) + value, **more)


class Link:
    """One connection."""

    def __init__(self, address):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=rig.patience(20))
        self.bytes = b""

    def send(self, data):
        self.socket.sendall(data)

    def fill(self, size):
        while len(self.bytes) < size:
            try:
                got = self.socket.recv(65536)
            except ConnectionResetError:  # there was more than it had read when it hung up
                got = b""
            if not got:
                return False
            self.bytes += got
        return True

    def answer(self):
        """(status, number, body), or None at the end of the connection."""
        if not self.fill(24):
            return None
        status, number, size = self.bytes[5], *struct.unpack(">I4xI", self.bytes[8:20])
        assert self.bytes[:4] == bytes((*b"RP", VERSION, ANSWER)), self.bytes[:24]
        assert self.fill(24 + size)
        body, self.bytes = self.bytes[24:24 + size], self.bytes[24 + size:]
        return status, number, body

    def ask(self, data):
        self.send(data)
        return self.answer()

    def close(self):
        self.socket.close()

    def __del__(self):
        if hasattr(self, "socket"):  # else it was refused
            self.close()


class Process:
    """One role of rpc_testbed; `address` once it listens."""

    def __init__(self, test, *words):
        environment = dict(os.environ, PYTHIA_DIRECTORY=test.gate)
        self.child = subprocess.Popen([rig.program("rpc_testbed"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True, env=environment, preexec_fn=rig.die_with_parent)
        test.addCleanup(self.kill)
        line = self.child.stdout.readline().split()
        assert len(line) == 2, self.child.stderr.read()
        self.address = line[1]

    def state(self):
        link = Link(self.address)
        status, _, body = link.ask(frame(method=STATE))
        link.close()
        assert status == OK
        return json.loads(body)

    def end(self):
        """By SIGTERM; what it has said of what went wrong."""
        self.child.send_signal(signal.SIGTERM)
        _, said = self.child.communicate(timeout=rig.patience(20))
        assert self.child.returncode == 0, (self.child.returncode, said)
        return said

    def kill(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.communicate()


def runs(pid):
    """Is there such a process, and has it not ended?"""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Services(unittest.TestCase):
    def setUp(self):
        self.folder = rig.make_folder(self)
        self.gate = os.path.join(self.folder, "gate")
        os.mkdir(self.gate, 0o700)
        self.addCleanup(self.remove_segments)

    def remove_segments(self):
        """What programs leave for a reader, which there is none of here."""
        for name in os.listdir(self.gate):
            with open(os.path.join(self.gate, name), encoding="utf-8", errors="replace") as file:
                words = file.read().split()
            if len(words) > 2 and words[2].isdigit():
                subprocess.run(["ipcrm", "-m", words[2]], check=False, capture_output=True)

    def start_all(self, *words, shards=2):
        self.shards = [Process(self, "shard", "--number", str(i), "--pause-us", str(PAUSE_US), *words) for i in range(shards)]
        self.store = Process(self, "store", *(f"--to={shard.address}" for shard in self.shards), *words)
        self.front = Process(self, "front", "--to", self.store.address, *words)
        return [*self.shards, self.store, self.front]

    def load(self, *words):
        done = subprocess.run([rig.program("rpc_testbed"), "load", "--to", self.front.address, *words], text=True,
                              capture_output=True, timeout=rig.patience(60), check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, json.loads(done.stdout)

    def script(self, name, *words, program="rpc_testbed"):
        env = dict(os.environ, TESTBED_RPC=os.path.join(self.folder, "testbed"), PYTHIA_DIRECTORY=self.gate,
                   RPC_PROGRAM=rig.program(program), RPC_PAUSE_US=str(PAUSE_US), RPC_SHARDS="3")
        return subprocess.run([os.path.join(TESTBED, name), *words], env=env, text=True, capture_output=True,
                              timeout=rig.patience(60), check=False)

    def test_the_scripts_start_load_and_end_them(self):
        for program in ("rpc_testbed", "rpc_testbed_plain"):
            self.addCleanup(self.script, "down")
            up = self.script("up", program=program)
            self.assertEqual((up.returncode, up.stderr), (0, ""))
            self.assertRegex(up.stdout, r"^127\.0\.0\.1:\d+\n$")
            self.assertEqual(self.script("up", program=program).stdout, up.stdout)  # they run already
            for problem in ("none", "pool", "shard", "lock", "retry"):
                self.assertEqual(self.script("plant", problem, program=program).returncode, 0)
                done = self.script("load", "--rate", "60", "--seconds", "2", program=program)
                told = json.loads(done.stdout)
                self.assertEqual(done.returncode, 0, (problem, told, done.stderr))
                self.assertEqual(told["ok"], told["sent"], problem)
                self.assertGreater(told["sent"], 60)
                states = [json.loads(line) for line in self.script("state", program=program).stdout.splitlines()]
                self.assertEqual([one["service"] for one in states], ["shard"] * 3 + ["store", "front"])
                self.assertEqual({one["problem"] for one in states}, {problem})
                retries = next(one["retries"] for one in states if one["service"] == "store")
                self.assertEqual(retries > 0, problem == "retry", problem)
            self.assertNotEqual(self.script("plant", "other", program=program).returncode, 0)
            self.assertEqual(self.script("down", program=program).returncode, 0)
            for one in states:
                rig.until(lambda pid=one["pid"]: not runs(pid), 5)

    def test_each_problem_makes_slow_what_it_is_about(self):
        self.start_all("--problem", "retry")
        _, retried = self.load("--rate", "50", "--seconds", "2", "--put-percent", "0", "--list-percent", "0")
        self.assertGreater(retried["p99_us"], 20000)  # the pause before another attempt
        link = Link(self.shards[0].address)
        self.assertEqual(link.ask(request(key=0))[0], AGAIN)
        self.assertEqual(link.ask(request(key=0, attempt=1))[0], OK)
        self.assertEqual(link.ask(request(key=16))[0], OK)
        store = Link(self.store.address)
        self.assertEqual(store.ask(frame(b"lock", method=PLANT))[::2], (OK, b"lock"))
        begin = time.monotonic()
        self.assertEqual(store.ask(request(tenant=3, key=16))[0], OK)
        self.assertGreater(time.monotonic() - begin, .02)
        self.assertEqual(store.ask(frame(b"lo", method=PLANT))[0], BROKEN)
        self.assertEqual(store.ask(frame(b"lock\0", method=PLANT))[0], BROKEN)
        self.assertEqual(self.store.state()["problem"], "lock")

    def test_a_load_ends_after_so_many_requests(self):
        self.start_all()
        code, told = self.load("--rate", "500", "--seconds", "60", "--requests", "33")
        self.assertEqual((code, told["sent"], told["ok"]), (0, 33, 33))

    def test_a_closed_loop_has_so_many_requests_under_way(self):
        """Little's law: their number is throughput times mean time in the services."""
        self.start_all()
        for outstanding in (1, 5):
            code, told = self.load("--outstanding", str(outstanding), "--requests", "400")
            self.assertEqual((code, told["sent"], told["ok"]), (0, 400, 400))
            self.assertAlmostEqual(told["sent"] / told["seconds"] * told["mean_us"] * 1e-6 / outstanding, 1, delta=.15)
        code, told = self.load("--outstanding", "2", "--seconds", "1")
        self.assertEqual((code, told["ok"]), (0, told["sent"]))
        self.assertGreater(told["sent"], 2)
        done = subprocess.run([rig.program("rpc_testbed"), "load", "--to", self.front.address, "--rate", "5", "--outstanding", "5"],
                              text=True, capture_output=True, timeout=rig.patience(60), check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "load: --rate and --outstanding exclude each other\n"))

    def test_turns_are_loads_of_their_own_over_the_same_connections(self):
        self.start_all()
        def turns(lines):
            return subprocess.run([rig.program("rpc_testbed"), "load", "--to", self.front.address, "--turns", "--outstanding", "3"],
                                  input=lines, text=True, capture_output=True, timeout=rig.patience(60), check=False)
        done = turns("10 1\n25 2\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([json.loads(line)["ok"] for line in done.stdout.splitlines()], [10, 25])
        self.assertEqual(self.front.state()["handled"], 35)
        for bad in ("10\n", "0 1\n", "-1 1\n", "10 x\n", "4294967296 1\n", "x\n", "10 1 1\n"):
            done = turns("2 1\n" + bad + "3 1\n")
            self.assertEqual((done.returncode, done.stderr, len(done.stdout.splitlines())),
                             (2, "load: A line of the input is not REQUESTS SEED\n", 1), bad)
        self.assertEqual(self.front.state()["handled"], 35 + 2 * 7)

    def test_what_is_no_frame_is_answered_and_ends_the_connection(self):
        self.start_all()
        hostile = [b"GET / HTTP/1.1\r\n\r\n", head(magic=b"RQ"), head(version=VERSION - 1), head(version=VERSION + 1), head(kind=7), head(method=9),
                   head(body_bytes=0xffffffff), head(body_bytes=(1 << 20) + 1), head(context_bytes=257), head(free=1),
                   frame(kind=ANSWER), b"R" + b"\xff" * 100000]
        for data in hostile:
            link = Link(self.front.address)
            answered = link.ask(data)
            if len(data) < 1000:  # else a reset may take the answer with it
                self.assertEqual(answered[:2], (BROKEN, 0), data[:30])
            self.assertIsNone(link.answer(), data[:30])
            link.close()
        self.assertEqual(self.front.state()["broken"], len(hostile))
        link = Link(self.front.address)
        self.assertEqual(link.ask(request())[0], OK)
        said = self.front.end()
        self.assertEqual(said.count("A frame is broken: "), len(hostile))
        self.assertIn("it is of another version", said)

    def test_good_frames_before_a_broken_one_are_answered(self):
        self.start_all()
        link = Link(self.front.address)
        link.send(request(number=5) + request(number=6, key=1) + b"nonsense")
        numbers = [link.answer() for _ in range(3)]
        self.assertEqual(sorted((status, number) for status, number, _ in numbers), [(OK, 5), (OK, 6), (BROKEN, 0)])
        self.assertIsNone(link.answer())

    def test_frames_come_in_pieces_and_many_at_once(self):
        self.start_all()
        link = Link(self.front.address)
        for byte in request(tenant=7, key=5, count=3, number=77, method=LIST):
            link.send(bytes([byte]))
        status, number, body = link.answer()
        self.assertEqual((status, number, len(body)), (OK, 77, 3 * 64 * len(self.shards)))
        link.send(b"".join(request(key=i, number=i) for i in range(100)))
        answers = [link.answer() for _ in range(100)]
        self.assertEqual(sorted(number for _, number, _ in answers), list(range(100)))
        self.assertEqual({status for status, _, _ in answers}, {OK})
        status, _, _ = link.ask(request(method=PUT, value=bytes((1 << 20) - 8)))  # the longest
        self.assertEqual(status, OK)

    def test_requests_that_cannot_be_meant_are_refused_and_others_go_on(self):
        self.start_all()
        link = Link(self.front.address)
        for data in (frame(b""), frame(b"1234567"), request(tenant=8), request(tenant=65535)):
            self.assertEqual(link.ask(data)[0], BROKEN)
        ids = b"\0\0" + b"t" * 16 + b"\1" + b"s" * 8 + b"\2\1"
        for context in (b"x" * 29, b"\0" * 29, ids[:28], ids, ids + b"P", ids + b"P\4\0\0\0\7cut", ids + b"P\1\0\0\0\7\xff", b"x" * 256):
            body = struct.pack(">HIH", 0, 0, 1)
            link.send(head(body, context_bytes=len(context)) + context + body)
            self.assertEqual(link.answer()[0], OK)

    def test_who_hangs_up_is_forgotten(self):
        self.start_all()
        for data in (b"", b"R", request()[:20], request(), request() * 20):
            link = Link(self.front.address)
            link.send(data)
            link.close()
        rig.until(lambda: self.front.state()["handled"] == 21, 20, lambda: str(self.front.state()))
        rig.until(lambda: self.front.state()["connections"] == 1, 20)
        self.assertGreater(self.front.state()["gone"], 0)
        self.assertEqual(self.front.end(), "")

    def test_a_queue_that_is_full_is_told(self):
        shard = Process(self, "shard", "--workers", "1", "--queue", "2", "--pause-us", "200000")
        link = Link(shard.address)
        link.send(b"".join(request(number=i) for i in range(10)))
        answers = [link.answer() for _ in range(10)]
        refused = [body for status, _, body in answers if status == BUSY]
        self.assertIn(len(refused), (7, 8))  # the worker may have taken the first before the second came
        self.assertEqual(set(refused), {b"the queue is full"})
        self.assertEqual(shard.state()["refused"], len(refused))
        self.assertEqual(sum(status == OK for status, _, _ in answers), 10 - len(refused))

    def test_a_service_below_that_is_gone_fails_its_requests_and_no_others(self):
        self.start_all()
        link = Link(self.front.address)
        self.assertEqual(link.ask(request(key=0))[0], OK)
        self.shards[0].kill()
        self.assertEqual(link.ask(request(key=0))[0], FAILED)
        self.assertEqual(link.ask(request(key=1))[0], OK)
        port = self.shards[0].address
        self.shards[0] = Process(self, "shard", "--number", "0", "--listen", port)
        self.assertEqual(link.ask(request(key=0))[0], OK)

    def test_what_was_asked_is_answered_before_the_end(self):
        shard = Process(self, "shard", "--workers", "2", "--pause-us", "300000")
        link = Link(shard.address)
        link.send(b"".join(request(number=i) for i in range(4)))
        rig.until(lambda: shard.state()["connections"] == 2, 10)
        time.sleep(.05)
        shard.child.send_signal(signal.SIGTERM)
        answers = [link.answer() for _ in range(4)]
        self.assertEqual(sorted(number for _, number, _ in answers), [0, 1, 2, 3])
        self.assertEqual({status for status, _, _ in answers}, {OK})
        self.assertIsNone(link.answer())
        self.assertEqual((shard.child.wait(rig.patience(10)), shard.child.stderr.read()), (0, ""))
        with self.assertRaises(ConnectionRefusedError):
            Link(shard.address)

    def test_wrong_words_are_refused(self):
        for words, why in (([], "usage:"), (["other"], "usage:"), (["front"], "front asks one service"),
                           (["store"], "store asks 1 to 16 shards"), (["shard", "--to", "127.0.0.1:1"], "shard asks nobody"),
                           (["front", "--to", "nowhere"], "nowhere is not an address"), (["shard", "--workers", "0"], "from 1 to 64"),
                           (["shard", "--workers"], "wants a value"), (["shard", "--problem", "x"], "x is no problem"),
                           (["shard", "--no-such"], "no option --no-such"), (["load", "--to", ":1"], ":1 is not an address"),
                           (["plant", "x", "127.0.0.1:1"], "usage:"), (["shard", "--number", "16"], "from 0 to 15"),
                           (["store", *["--to=127.0.0.1:1"] * 17], "more than 16 times")):
            done = subprocess.run([rig.program("rpc_testbed"), *words], capture_output=True, text=True, check=False,
                                  timeout=rig.patience(10))
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(why, done.stderr)
        shard = Process(self, "shard")
        done = subprocess.run([rig.program("rpc_testbed"), "shard", "--listen", shard.address], capture_output=True, text=True,
                              check=False, timeout=rig.patience(10))
        self.assertEqual(done.returncode, 1)
        self.assertIn("Cannot listen at", done.stderr)


if __name__ == "__main__":
    rig.main()
