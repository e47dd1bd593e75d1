#!/usr/bin/env python3
"""Settings, signals, the end, and what survives it. usage: test_lifecycle.py BIN [SANITIZER]"""
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import unittest

import grpc
import otlp
import rig
from otlp import Span

HERE = os.path.dirname(os.path.abspath(__file__))
NOWHERE = ("--otlp-grpc=off", "--otlp-http=off", "--zipkin=off", "--control=off")


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as to:
        to.write(text)
    return path


class Settings(unittest.TestCase):
    def check(self, text, *options, env=None):
        path = write(rig.make_folder(self), "pythiad.yaml", text)
        code, said = rig.run(self, "--check-config", f"--config={path}", *options, env=env)
        return code, said.replace(path, "FILE")

    def test_good_ones(self):
        for text in ("", "# nothing\n", "connections: 4\n", "otlp-http: 'off'\n", "always: [a, b]\nnever:\n  - c\n",
                     "always: [db-1/store/*/read, '*/x', a/b:c/d]\nnever: //*/x\n", "otlp:\n  http: off\n  grpc: 127.0.0.1:1\n", "---\ninsecure: true\ncontrol: '*:1'\n", "body-max: 1M\n"):
            code, said = self.check(text)
            self.assertEqual((code, said.startswith("pythiad: The settings are valid: body-max=")), (0, True), (text, said))
        self.assertEqual(rig.run(self, "--check-config")[0], 0)

    def test_wrong_ones_with_line_and_column(self):
        for text, line, column, why in (
                ("connections: many\n", 1, 14, "connections"),
                ("otlp-http: off\nconnections: 0\n", 2, 14, "connections"),
                ("\n\n  nothing: 1\n", 3, 3, "there is no setting nothing"),
                ("otlp:\n  nothing: 1\n", 2, 3, "there is no setting otlp-nothing"),
                ("connections: 4\nconnections: 5\n", 2, 1, "connections is set twice"),
                ("insecure: perhaps\n", 1, 11, "insecure must be true or false"),
                ("connections: [4]\n", 1, 14, "requires one value, not a list"),
                ("always: {a: b}\n", 1, 9, "requires a value"),
                ("a: &x b\n", 1, 4, "anchors, aliases and tags"),
                ("- a\n", 1, 1, "settings must be lines of NAME: VALUE"),
                ("connections: 4\n---\nconnections: 5\n", 2, 1, "there is a second document"),
                ("connections: \"4\n", 2, 1, "it is not YAML"),
                ("connections: 4\n\tstreams: 5\n", 2, 1, "it is not YAML")):
            code, said = self.check(text)
            self.assertEqual(code, 2, (text, said))
            self.assertIn(f"FILE:{line}: column {column}: ", said, text)
            self.assertIn(why, said, text)

    def test_what_does_not_go_together(self):
        for text in ("always: ['']\n", "never: ['db-1/store\\']\n", "always: [" + "h" * 513 + "/store]\n",
                     "memory: 10M\nmemory-hard: 1M\n", "body-max: 2M\ninflated-max: 1M\n", "quiet: true\nverbose: true\n",
                     "tls-key: /x\n", "tls-trust: /x\n", "otlp-http: nowhere\n", "control: '*:1'\n"):
            self.assertEqual(self.check(text)[0], 2, text)
        code, said = rig.run(self, "--check-config", "--config=/no/such/file")
        self.assertEqual((code, "/no/such/file: cannot be opened" in said), (1, True), said)

    def test_file_environment_and_command_line(self):
        def of(*options, env=None, config=None):
            pythiad = rig.Pythiad(self, *options, env=env, config=config, addresses={"zipkin": None})
            lines = [line for line in pythiad.lines if "Listens" in line]
            self.assertEqual(pythiad.stop(), 0)
            return re.search(r"zipkin=127\.0\.0\.1:(\d+)|zipkin=(off)", lines[0]).group(0)
        ports = []
        for _ in range(3):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                ports.append(free.getsockname()[1])
        file, env = f"zipkin: 127.0.0.1:{ports[0]}\n", {"PYTHIAD_ZIPKIN": f"127.0.0.1:{ports[1]}"}
        self.assertEqual(of(config=file), f"zipkin=127.0.0.1:{ports[0]}")
        self.assertEqual(of(config=file, env=env), f"zipkin=127.0.0.1:{ports[1]}")
        self.assertEqual(of(f"--zipkin=127.0.0.1:{ports[2]}", config=file, env=env), f"zipkin=127.0.0.1:{ports[2]}")
        self.assertEqual(of("--zipkin=off", config=file, env=env), "zipkin=off")
        path = write(rig.make_folder(self), "named.yaml", file)
        self.assertEqual(of(env={"PYTHIAD_CONFIG": path}), f"zipkin=127.0.0.1:{ports[0]}")

    def test_memory_fits_what_was_set_or_the_machine(self):
        def limits(*options):
            metrics = rig.Pythiad(self, *options).metrics()
            return [metrics[f'pythia_limit{{name="{name}"}}'] for name in ("memory", "memory-hard")]
        self.assertEqual(limits("--memory=100M"), [100 << 20, 125 << 20])
        self.assertEqual(limits("--memory-hard=100M"), [80 << 20, 100 << 20])
        memory, hard = limits()
        self.assertLessEqual(memory, min(1 << 30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4))
        self.assertEqual(hard, memory + memory // 4)

    def test_a_variable_that_is_no_setting(self):
        code, said = rig.run(self, "--check-config", env={"PYTHIAD_NOTHING": "1"})
        self.assertEqual(code, 2)
        self.assertIn("PYTHIAD_NOTHING: there is no such setting", said)
        code, said = rig.run(self, "--check-config", env={"PYTHIAD_CONNECTIONS": "x"})
        self.assertEqual((code, "PYTHIAD_CONNECTIONS: " in said), (2, True), said)
        self.assertEqual(rig.run(self, "--check-config", env={"PYTHIAD_ALWAYS": "a,b", "PYTHIAD_INSECURE": "yes",
                                                              "PYTHIADX": "1"})[0], 0)

    def test_the_command_line(self):
        for options in (("--nothing",), ("operand",), ("--connections",), ("--connections=0",), ("--connections=65537",)):
            code, said = rig.run(self, *options)
            self.assertEqual((code, said.startswith("pythiad: error: ")), (2, True), (options, said))
        code, said = rig.run(self, "--help")
        self.assertEqual((code, "usage: pythiad" in said and "--lease-seconds" in said), (0, True))
        code, said = rig.run(self, "--version")
        self.assertRegex(said, r"^pythiad \d+\.\d+\.\d+( \(commit [0-9a-f]{12}\))?\n$")


class Reload(unittest.TestCase):
    """Fault 20: a wrong file keeps the old settings, and is told with line and column; a right one costs no connection."""

    def agent(self, pythiad):
        body = {"service": "shop", "instance": "1", "applied": "", "points": [
            {"id": f"shop:{name}", "hits": 1, "open_by_default": False} for name in "abc"]}
        self.assertEqual(rig.ask(pythiad.http, "POST", "/v1/trace-points", json.dumps(body), rig.JSON).status, 200)

    def opened(self, pythiad):
        answer = rig.ask(pythiad.http, "GET", "/v1/trace-points?service=shop&instance=1")
        return {*answer.json["open"], *answer.json["open_for"]} if answer.status == 200 else None

    def test_pins_change_and_no_connection_is_lost(self):
        folder = rig.make_folder(self)
        pythiad = rig.Pythiad(self, "--learn=default", config="always: [shop:a]\n", folder=folder)
        self.agent(pythiad)
        rig.until(lambda: self.opened(pythiad) == {"shop:a"}, 5)
        link = http.client.HTTPConnection("127.0.0.1", pythiad.http, timeout=60)
        call = grpc.Connection(pythiad.grpc)
        self.addCleanup(call.close)
        self.addCleanup(link.close)
        self.assertEqual(rig.on(link, "POST", "/v1/traces", b"", rig.PROTOBUF).status, 200)
        stream = call.begin()  # a call that is under way
        body = grpc.framed(otlp.protobuf([Span()]))
        call.data(stream, body[:10], ends=False)
        before = link.sock

        write(folder, "pythiad.yaml", "always: [shop:b]\nconnections: 7\n")
        pythiad.signal(signal.SIGHUP)
        pythiad.logged("Read the settings again")
        pythiad.logged("This setting only changes with a restart: name=connections")
        rig.until(lambda: self.opened(pythiad) == {"shop:b"}, 5)
        self.assertEqual(rig.on(link, "POST", "/v1/traces", b"", rig.PROTOBUF).status, 200)
        self.assertIs(link.sock, before)
        call.data(stream, body[10:])
        self.assertEqual(call.wait(stream).status, grpc.OK)

        for number, (text, place) in enumerate((("always: [shop:c]\nnever: {a: b}\n", "pythiad.yaml:2: column 8: "),
                                                ("always: [shop:c\n", "pythiad.yaml:2: column 1: "),
                                                ("always: [shop:c]\nmemory: 1M\nmemory-hard: 1K\n", "memory-hard is below memory"),
                                                ("waiting-max: 1M\n", "waiting-max is below body-max")), 1):
            write(folder, "pythiad.yaml", text)
            pythiad.signal(signal.SIGHUP)
            rig.until(lambda number=number: pythiad.metric("pythia_reloads_failed_total") == number, 5,
                      lambda: pythiad.log)
            kept = pythiad.logged(r"Kept the previous settings: .*" + re.escape(place))
            self.assertIn("error", kept)
        os.remove(os.path.join(folder, "pythiad.yaml"))
        pythiad.signal(signal.SIGHUP)
        rig.until(lambda: pythiad.metric("pythia_reloads_failed_total") == 5, 5)
        self.assertEqual(self.opened(pythiad), {"shop:b"})
        self.assertEqual(pythiad.metric("pythia_reloads_total"), 1)

        write(folder, "pythiad.yaml", "quiet: true\n")
        pythiad.signal(signal.SIGHUP)
        rig.until(lambda: self.opened(pythiad) == set(), 5)
        self.assertEqual(rig.on(link, "POST", "/v1/traces", b"", rig.PROTOBUF).status, 200)
        call.close()
        self.assertEqual(pythiad.stop(), 0)
        self.assertNotIn("Stopped", pythiad.log)  # quiet by now

    def test_pins_by_hand_outlive_it(self):
        pythiad = rig.Pythiad(self, "--learn=default", config="always: [shop:a]\n")
        self.agent(pythiad)
        rig.until(lambda: self.opened(pythiad) == {"shop:a"}, 5)
        self.assertEqual(pythiad.post("/v1/open", {"trace_points": ["shop:c"]}).status, 200)
        rig.until(lambda: self.opened(pythiad) == {"shop:a", "shop:c"}, 5)
        pythiad.signal(signal.SIGHUP)
        pythiad.logged("Read the settings again")
        self.agent(pythiad)
        self.assertEqual(self.opened(pythiad), {"shop:a", "shop:c"})


class Sender(threading.Thread):
    """Sends as fast as it is answered, until the connection ends; counts what was acknowledged."""

    def __init__(self, pythiad, spans, by_grpc):
        super().__init__(daemon=True)
        self.pythiad, self.spans, self.by_grpc = pythiad, spans, by_grpc
        self.acknowledged = self.refused = 0
        self.stop = False

    def run(self):
        try:
            if self.by_grpc:
                with grpc.Connection(self.pythiad.grpc) as link:
                    while not self.stop:
                        self.count(link.call(otlp.protobuf([Span() for _ in range(self.spans)])).status == grpc.OK)
            else:
                link = http.client.HTTPConnection("127.0.0.1", self.pythiad.http, timeout=60)
                while not self.stop:
                    body = otlp.protobuf([Span() for _ in range(self.spans)])
                    self.count(rig.on(link, "POST", "/v1/traces", body, rig.PROTOBUF).status == 200)
        except (OSError, http.client.HTTPException, KeyError):
            pass

    def count(self, good):
        self.acknowledged += self.spans * good
        self.refused += self.spans * (not good)


class End(unittest.TestCase):
    """Fault 19: it ends within 5 s, and with all that it acknowledged."""

    def press(self, pythiad, folder):
        """Bodies without spans, so many that there is always one that waits. Not where all takes ten times as long."""
        empty = os.path.join(folder, "empty")
        with open(empty, "wb") as to:
            to.write(otlp.message(15, b"\0" * 500000))
        if rig.SANITIZER:
            return
        load = subprocess.Popen(["h2load", "--h1", "-D", "30", "-c", "16", "-t", "1", "-d", empty, "-H",
                                 f"content-type: {rig.PROTOBUF}", f"http://127.0.0.1:{pythiad.http}/v1/traces"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=rig.die_with_parent)
        self.addCleanup(load.wait)
        self.addCleanup(load.kill)

    def test_under_load_nothing_that_was_acknowledged_is_lost(self):
        folder = rig.make_folder(self)
        pythiad = rig.Pythiad(self, f"--record={folder}/recording", "--memory=1G", "--memory-hard=1G", folder=folder)
        senders = [Sender(pythiad, 50, i % 2 == 0) for i in range(6)]
        for sender in senders:
            sender.start()
        self.press(pythiad, folder)
        # Each of them is acknowledged something, and bodies without spans are under way.
        rig.until(lambda: all(sender.acknowledged > 0 for sender in senders) and
                  (rig.SANITIZER or pythiad.metric("pythia_bodies_total") > pythiad.metric("pythia_spans_total") / 50), 20)
        begun = time.monotonic()
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        rig.within(self, time.monotonic() - begun, 5, "the end under load")
        for sender in senders:
            sender.join(rig.patience(10))
            self.assertFalse(sender.is_alive())
            self.assertGreater(sender.acknowledged, 0)
        acknowledged = sum(sender.acknowledged for sender in senders)
        told = re.search(r"Received: bodies=(\d+), refused-bodies=(\d+), spans=(\d+), kept=(\d+), .*requests=(\d+)", pythiad.log)
        self.assertIsNotNone(told, pythiad.log)
        bodies, _, spans, kept, requests = (int(number) for number in told.groups())
        self.assertGreaterEqual(bodies, spans // 50 + (not rig.SANITIZER))
        self.assertGreaterEqual(spans, acknowledged)
        self.assertLessEqual(spans, acknowledged + 50 * len(senders))  # taken, and the answer did not arrive
        self.assertEqual((kept, requests), (spans, spans))
        done = subprocess.run([rig.program("pythia"), "replay", "--quiet", "--format", "json", f"{folder}/recording"],
                              capture_output=True, timeout=rig.patience(60), check=False)
        self.assertEqual(json.loads(done.stdout)["input"]["spans"], spans)

    def test_it_ends_while_somebody_is_slow(self):
        pythiad = rig.Pythiad(self)
        with grpc.Connection(pythiad.grpc) as link, socket.create_connection(("127.0.0.1", pythiad.http)) as other:
            stream = link.begin()
            link.data(stream, b"\0", ends=False)
            other.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Content-Length: 100\r\n\r\n{")
            time.sleep(.2)
            begun = time.monotonic()
            self.assertEqual(pythiad.stop(), 0, pythiad.log)
            rig.within(self, time.monotonic() - begun, 2, "the end beside slow senders")

    def test_an_interrupt_and_a_second_signal(self):
        pythiad = rig.Pythiad(self)
        pythiad.signal(signal.SIGINT)
        pythiad.signal(signal.SIGTERM)
        self.assertEqual(pythiad.wait(10), 0, pythiad.log)

    def test_ends_at_once_when_nothing_goes_on(self):
        for _ in range(10):
            self.assertEqual(rig.Pythiad(self).stop(), 0)

    def test_a_second_one_at_the_same_place(self):
        pythiad = rig.Pythiad(self)
        for name, port in (("otlp-grpc", pythiad.grpc), ("otlp-http", pythiad.http), ("control", pythiad.control)):
            where = {one.split("=")[0][2:]: one for one in NOWHERE}
            where[name] = f"--{name}=127.0.0.1:{port}"
            begun = time.monotonic()
            code, said = rig.run(self, *where.values())
            self.assertEqual(code, 1, said)
            self.assertIn(f"cannot listen at 127.0.0.1:{port}: another program listens there", said)
            rig.within(self, time.monotonic() - begun, 2, "a failed start")
        self.assertEqual(pythiad.get("/healthz").status, 200)

    def test_a_recording_is_not_overwritten(self):
        folder = rig.make_folder(self)
        path = write(folder, "recording", "mine")
        code, said = rig.run(self, *NOWHERE, f"--record={path}")
        self.assertEqual((code, "cannot be made to record into: a file that is not a recording exists there and was left alone" in said),
                         (1, True), said)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")


    def test_recordings_of_earlier_starts_are_kept(self):
        """A restart with the same settings works, after a kill as well, and what was recorded before can be replayed."""
        folder = rig.make_folder(self)
        os.mkdir(f"{folder}/series")
        traces = write(folder, "traces", otlp.as_json([Span()]).decode() + "\n")
        options = (f"--record={folder}/recording", f"--follow={traces}", f"--collect={folder}/series", "--quiet-ms=100",
                   "--collect-ms=10")
        for turn in range(3):
            pythiad = rig.Pythiad(self, *options, folder=folder)
            for _ in range(turn + 1):
                self.assertEqual(pythiad.send(otlp.protobuf([Span()])).status, 200)
            rig.until(lambda turn=turn, pythiad=pythiad: pythiad.metric("pythia_spans_total") == turn + 2, 10)
            if turn == 1:
                pythiad.signal(signal.SIGKILL)
                pythiad.wait(10)
            else:
                self.assertEqual(pythiad.stop(), 0, pythiad.log)
            self.assertEqual(pythiad.log.count("Renamed an earlier recording: "), 3 if turn else 0, pythiad.log)
        names = sorted(name for name in os.listdir(folder) if name.startswith("recording"))
        self.assertEqual(len(names), 9, names)
        for name in names:
            self.assertRegex(name, r"^recording(\.1|\.series\.csv)?(\.\d{8}T\d{6}Z(-2)?)?$")
            self.assertEqual(os.stat(f"{folder}/{name}").st_mode & 0o777, 0o600)
        spans = {}
        for name in names:
            if ".series" not in name:
                done = subprocess.run([rig.program("pythia"), "replay", "--format", "json", "--input-format", "recording",
                                       f"{folder}/{name}"], capture_output=True, text=True, check=False)
                spans.setdefault(".1" in name, []).append(json.loads(done.stdout)["input"]["spans"])
        self.assertEqual({kind: sorted(counts) for kind, counts in spans.items()}, {False: [1, 2, 3], True: [1, 1, 1]})


class Idle(unittest.TestCase):
    def wake_ups(self, pythiad, seconds):
        """How often it gave up its core by itself, which it does each time before it sleeps."""
        def count():
            with open(f"/proc/{pythiad.pid}/status", encoding="ascii") as lines:
                return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:"))
        before, begun = count(), time.monotonic()
        time.sleep(seconds)
        rig.until(lambda: count() > before, 10)  # where other programs leave it any time
        return count() - before, time.monotonic() - begun

    def test_at_most_five_wake_ups_a_second(self):
        """A busy machine makes them fewer."""
        pythiad = rig.Pythiad(self)
        for traffic in (False, True):
            if traffic:
                self.assertEqual(pythiad.send(otlp.protobuf(otlp.request(("b",)))).status, 200)
                rig.until(lambda: pythiad.metric("pythia_open_requests") == 0 and pythiad.metric('pythia_requests_finished_total{by="any"}') == 1, 20)
            time.sleep(1)  # connections end
            count, seconds = self.wake_ups(pythiad, 4)
            self.assertLessEqual(count, 5 * seconds + 1)


class Systemd(unittest.TestCase):
    def test_it_is_told(self):
        folder = rig.make_folder(self)
        for path in (os.path.join(folder, "notify"), "\0pythiad-test-%d" % os.getpid()):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as here:
                here.bind(path)
                here.settimeout(rig.patience(5))
                pythiad = rig.Pythiad(self, config="connections: 5\n",
                                      env={"NOTIFY_SOCKET": path.replace("\0", "@"), "WATCHDOG_USEC": "200000"})
                self.assertEqual(here.recv(1000), b"READY=1")
                begun = time.monotonic()
                for _ in range(3):
                    self.assertEqual(here.recv(1000), b"WATCHDOG=1")
                rig.within(self, time.monotonic() - begun, .6, "three turns of a watchdog of .2 s")
                pythiad.signal(signal.SIGHUP)
                told = self.next(here)
                self.assertRegex(told, rb"^RELOADING=1\nMONOTONIC_USEC=\d+$")
                now = int(told.split(b"=")[2])
                self.assertLess(begun * 1e6, now)
                self.assertLessEqual(now, time.monotonic_ns() // 1000)
                self.assertEqual(self.next(here), b"READY=1")
                pythiad.signal(signal.SIGTERM)
                self.assertEqual(self.next(here), b"STOPPING=1")
                self.assertEqual(pythiad.wait(10), 0)

    @staticmethod
    def next(here):
        while True:
            told = here.recv(1000)
            if told != b"WATCHDOG=1":
                return told

    def test_a_manager_that_does_not_read_holds_nothing_up(self):
        """Its queue is full before the start, and again before the settings are read anew."""
        path = os.path.join(rig.make_folder(self), "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as here:
            here.bind(path)
            here.settimeout(rig.patience(5))
            self.fill(path)
            pythiad = rig.Pythiad(self, config="connections: 5\n", env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"})
            self.assertEqual(pythiad.get("/healthz").status, 200)
            self.assertEqual(self.after_the_filling(here), b"READY=1")
            self.fill(path)
            pythiad.signal(signal.SIGHUP)
            pythiad.logged("Read the settings again")
            self.assertEqual(pythiad.get("/healthz").status, 200)
            self.assertRegex(self.after_the_filling(here), rb"^RELOADING=1\n")
            self.assertEqual(self.next(here), b"READY=1")
            self.fill(path)
            pythiad.signal(signal.SIGTERM)
            self.assertEqual(pythiad.wait(10), 0)

    @staticmethod
    def fill(path):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as full:
            full.setblocking(False)
            try:
                while True:
                    full.sendto(b"full", path)
            except BlockingIOError:
                pass

    def after_the_filling(self, here):
        while True:
            told = self.next(here)
            if told != b"full":
                return told

    def test_the_watchdog_notices_a_loop_that_hangs(self):
        path = os.path.join(rig.make_folder(self), "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as here:
            here.bind(path)
            here.settimeout(rig.patience(5))
            pythiad = rig.Pythiad(self, env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"})
            here.recv(1000)
            here.recv(1000)
            pythiad.signal(signal.SIGSTOP)
            time.sleep(.1)
            here.settimeout(.5)
            with self.assertRaises(TimeoutError):
                while True:
                    here.recv(1000)
            pythiad.signal(signal.SIGCONT)


class Restart(unittest.TestCase):
    """Faults 3 and 21."""

    OPTIONS = ("--quiet-ms=50", "--cycle-requests=60", "--learn-requests=20", "--cycle-seconds=1", "--lease-seconds=30")

    def start(self, folder, *options):
        return rig.Pythiad(self, f"--state={folder}/state.db", *self.OPTIONS, *options, folder=folder)

    @staticmethod
    def rows(folder, query):
        with sqlite3.connect(f"file:{folder}/state.db?mode=ro", uri=True) as db:
            rows = db.execute(query).fetchall()
        db.close()
        return rows

    def desired(self, folder):
        return {row[0] for row in self.rows(folder, "SELECT trace_point FROM desired")}

    def generate(self, folder):
        """Traces with a planted cause, its place, and their services."""
        path = os.path.join(folder, "traces.json")
        with open(path, "wb") as to:
            subprocess.run([rig.program("pythia"), "generate", "--nodes", "60", "--requests", "300", "--causes", "sleep:0.3",
                            "--duration", "20", "--interval", "10", "--seed", "5", "--truth", f"{folder}/truth.json"],
                           stdout=to, check=True, timeout=rig.patience(60))
        with open(path, encoding="utf-8") as file:
            services = sorted(set(re.findall(r'"service.name","value":\{"stringValue":"([^"]+)"', file.read())))
        self.assertTrue(services)
        return path, services

    def play(self, pythiad, path, services):
        """As agents that obey, until the function is called that this gives."""
        stream = subprocess.Popen(
            ["python3", os.path.join(HERE, "stream.py"), "--url", f"http://127.0.0.1:{pythiad.http}", "--rounds", "0",
             "--seconds", str(rig.patience(180)), *(word for s in services for word in ("--agent", s)), path],
            stderr=subprocess.DEVNULL, preexec_fn=rig.die_with_parent)

        def stop():
            stream.kill()
            stream.wait()
        self.addCleanup(stop)
        return stop

    @staticmethod
    def rests(pythiad):
        """No request is open, and no cycle has ended for twice as long as one lasts: nothing is decided any more."""
        seen = []  # cycles, and since when

        def stands_still():
            cycles, now = pythiad.metric("pythia_cycles_total"), time.monotonic()
            if not seen or seen[0] != cycles or pythiad.metric("pythia_open_requests"):
                seen[:] = [cycles, now]
            return now - seen[1] >= 2
        rig.until(stands_still, 40, lambda: pythiad.log)

    @staticmethod
    def listed(pythiad, services):
        """What agents of the services are told to have open."""
        found = set()
        for service in services:
            answer = rig.ask(pythiad.http, "GET", f"/v1/trace-points?service={service}")
            found |= {*answer.json["open"], *answer.json["open_for"]} if answer.status == 200 else set()
        return found

    def agrees(self, pythiad):
        """The log, the report and the decisions of a start speak of the same cycles by the same numbers."""
        status = pythiad.get("/v1/status").json

        def decided():
            return sorted((d["open"], d["trace_point"], d["cycle"]) for d in pythiad.get("/v1/decisions?count=10000").json
                          if d["start_unix_ns"] == status["started_unix_ns"])

        def logged():
            return sorted((word == "Opens", point, int(cycle)) for word, point, cycle in re.findall(
                r"(Opens|Closes) a trace point: trace-point=(.*?), request-type=.*?, cycle=(\d+), reason=", pythiad.log))
        rig.until(lambda: decided() and decided() == logged(), 5, lambda: f"{decided()}\n{logged()}")
        told = sorted((what == "opened", point["trace_point"], cycle["cycle"]) for cycle in pythiad.get("/v1/report").json["loop"]
                      for what in ("opened", "closed") for point in cycle[what])
        self.assertEqual(told, decided())
        last = max(cycle for _, _, cycle in told)
        self.assertGreaterEqual(status["cycle"], last)
        self.assertLessEqual(status["cycle"], status["cycles"] + status["saved_search"]["restored_cycle"])
        self.assertEqual(pythiad.metric("pythia_cycle"), pythiad.get("/v1/status").json["cycle"])

    def goes_on(self):
        """Fault 3: the last decisions that were acknowledged, the desired set and its version go on after an end, with or
        without warning, and the search with them."""
        folder = rig.make_folder(self)
        path, services = self.generate(folder)
        pythiad = self.start(folder)
        stop = self.play(pythiad, path, services)
        rig.until(lambda: [d for d in pythiad.get("/v1/decisions").json if d["open"]], 120, lambda: pythiad.log)
        stop()
        self.rests(pythiad)
        self.agrees(pythiad)
        wanted = {p["trace_point"] for p in pythiad.get("/v1/points").json if p["wanted"]}
        shut = sorted(wanted)[-1]
        self.assertEqual(pythiad.post("/v1/close", {"trace_points": [shut]}).status, 200)
        decisions = pythiad.get("/v1/decisions?count=10000").json
        version = pythiad.metric("pythia_desired_version")
        desired, history = self.desired(folder), self.rows(folder, "SELECT value FROM note WHERE name = 'history'")
        last = {d["trace_point"]: d["open"] for d in reversed(decisions)}
        opened = {point for point, is_open in last.items() if is_open} - {shut}
        self.assertTrue(opened and opened <= desired, (opened, desired))
        self.assertGreaterEqual(version, 2)
        if self.killed:
            pythiad.kill()
        else:
            self.assertEqual(pythiad.stop(), 0, pythiad.log)
        self.assertEqual(self.desired(folder), desired)
        self.assertGreaterEqual(len(self.rows(folder, "SELECT * FROM cycle")), 1)
        self.assertGreaterEqual(len(self.rows(folder, "SELECT * FROM inventory")), 2)
        self.assertEqual(len(history), 1)

        begun = time.monotonic()
        pythiad = self.start(folder)
        self.assertIn("Goes on with the search of the state: cycle=", pythiad.log)
        self.assertEqual(pythiad.get("/v1/decisions?count=10000").json[-len(decisions):], decisions)
        self.assertEqual(pythiad.metric("pythia_desired_version"), version + 1)
        self.assertEqual((self.desired(folder), self.rows(folder, "SELECT trace_point, pin FROM pin")), (desired, [(shut, -1)]))
        self.assertEqual(self.rows(folder, "SELECT CAST(value AS INTEGER) FROM note WHERE name = 'version'"), [(version + 1,)])
        self.assertEqual(self.rows(folder, "SELECT value FROM note WHERE name = 'history'"), history)
        # Agents have it within a round, and the search finds the cause with no more than it had open, and its surroundings.
        stop = self.play(pythiad, path, services)
        rig.until(lambda: pythiad.metric("pythia_points_known") > 0 and pythiad.metric("pythia_desired_in_force") == 1, 5)
        rig.within(self, time.monotonic() - begun, 5, "from a restart to the desired set in force")
        if pythiad.metric("pythia_desired_version") == version + 1:
            self.assertEqual({p for p in self.listed(pythiad, services) if p in opened}, opened)
        with open(f"{folder}/truth.json", encoding="utf-8") as file:
            planted = json.load(file)["causes"][0]["trace_point"]
        if planted != shut:
            self.assertIn(planted, pythiad.logged("Found a cause: ", 60))
        stop()
        self.rests(pythiad)
        if pythiad.get("/v1/decisions?count=10000").json != decisions:
            self.agrees(pythiad)
        self.assertEqual({d["start_unix_ns"] for d in decisions} - {None},
                         {d["start_unix_ns"] for d in pythiad.get("/v1/decisions?count=10000").json[-len(decisions):]})
        self.assertEqual(pythiad.stop(), 0)

    killed = False

    def test_what_survives(self):
        self.goes_on()

    def test_what_survives_when_it_is_killed(self):
        self.killed = True
        self.goes_on()

    def test_agents_get_their_list_from_the_first_time_they_ask(self):
        """An agent that asks at once after a restart, before it has reported, does not close what is open."""
        folder = rig.make_folder(self)
        options = (f"--state={folder}/state.db", "--learn=default")
        pythiad = rig.Pythiad(self, *options, folder=folder)
        body = json.dumps({"service": "shop", "instance": "1", "applied": "",
                           "points": [{"id": f"shop:{i}", "hits": 1, "open_by_default": False} for i in range(20)]})
        self.assertEqual(rig.ask(pythiad.http, "POST", "/v1/trace-points", body, rig.JSON).status, 200)
        rig.until(lambda: pythiad.metric("pythia_points_known") == 20, 5)
        self.assertEqual(pythiad.post("/v1/open", {"trace_points": ["shop:1", "shop:7"]}).status, 200)

        def listed():
            return rig.ask(pythiad.http, "GET", "/v1/trace-points?service=shop&instance=1").json["open"]
        rig.until(lambda: listed() == ["shop:1", "shop:7"], 5)
        for end in ("kill", "stop"):
            getattr(pythiad, end)()
            pythiad = rig.Pythiad(self, *options, folder=folder)
            self.assertEqual(listed(), ["shop:1", "shop:7"])
            self.assertEqual(rig.ask(pythiad.http, "POST", "/v1/trace-points", body, rig.JSON).status, 200)
            for _ in range(20):
                self.assertEqual(listed(), ["shop:1", "shop:7"])
                time.sleep(.03)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_off_survives(self):
        folder = rig.make_folder(self)
        for ending in (lambda pythiad: pythiad.kill(), lambda pythiad: pythiad.stop()):
            pythiad = self.start(folder, "--always=shop:a")
            self.assertEqual(pythiad.post("/v1/off").json, {"doing": "off", "kept": True})
            ending(pythiad)
            pythiad = self.start(folder, "--always=shop:a")
            pythiad.logged("Everything is still off")
            self.assertEqual((pythiad.metric("pythia_off"), pythiad.get("/v1/status").json["doing"]), (1, "off"))
            body = {"service": "shop", "instance": "1", "applied": "", "points": [{"id": "shop:a", "hits": 1,
                                                                                   "open_by_default": False}]}
            self.assertEqual(rig.ask(pythiad.http, "POST", "/v1/trace-points", json.dumps(body), rig.JSON).status, 200)
            rig.until(lambda pythiad=pythiad: pythiad.metric("pythia_points_known") == 1, 5)
            time.sleep(.5)
            self.assertEqual(self.listed(pythiad, ["shop"]), set())
            self.assertEqual(pythiad.post("/v1/on").json, {"doing": "works", "kept": True})
            rig.until(lambda pythiad=pythiad: self.listed(pythiad, ["shop"]) == {"shop:a"}, 5)
            ending(pythiad)
        self.assertEqual(self.start(folder).metric("pythia_off"), 0)

    def test_a_search_space_that_cannot_be_read_is_learnt_anew(self):
        folder = rig.make_folder(self)
        self.assertEqual(self.start(folder).stop(), 0)
        db = sqlite3.connect(f"{folder}/state.db")
        db.execute("INSERT OR REPLACE INTO note VALUES('space', '{\"schema\":\"pythia.space/9\"}')")
        db.commit()
        db.close()
        pythiad = self.start(folder)
        self.assertIn("search space of the state", pythiad.logged("Learning the search space again"))
        self.assertEqual(pythiad.stop(), 0)

    def test_a_state_of_the_future_is_read_and_left_alone(self):
        folder = rig.make_folder(self)
        self.assertEqual(self.start(folder).stop(), 0)
        db = sqlite3.connect(f"{folder}/state.db")
        db.execute("PRAGMA user_version = 99")
        db.close()
        pythiad = self.start(folder)
        self.assertIn("schema=99", pythiad.logged("The state is of a newer pythiad"))
        self.assertEqual(pythiad.metric("pythia_state_degraded"), 1)
        self.assertEqual(pythiad.stop(), 0)
        self.assertEqual(self.rows(folder, "PRAGMA user_version"), [(99,)])

    def test_a_state_that_is_damaged_is_put_aside(self):
        folder = rig.make_folder(self)
        write(folder, "state.db", "SQLite format 3\0 and what is no database " * 1000)
        pythiad = self.start(folder)
        pythiad.logged("a new one was created")
        self.assertEqual(pythiad.stop(), 0)
        with open(f"{folder}/state.db.broken", encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("SQLite format 3\0 and what is no database"))

    def test_a_file_that_is_no_state_is_refused(self):
        """Nothing of it changes, and nothing is put beside it."""
        folder = rig.make_folder(self)
        write(folder, "thesis.txt", "this is no database " * 1000)
        code, said = rig.run(self, *NOWHERE, f"--state={folder}/thesis.txt")
        self.assertEqual((code, "thesis.txt: is not a database, and was left alone; choose another file with --state" in said),
                         (2, True), said)
        with open(f"{folder}/thesis.txt", encoding="utf-8") as file:
            self.assertEqual(file.read(), "this is no database " * 1000)
        db = sqlite3.connect(f"{folder}/places.sqlite")
        db.execute("CREATE TABLE bookmark(url TEXT)")
        db.commit()
        db.close()
        with open(f"{folder}/places.sqlite", "rb") as file:
            before = file.read()
        code, said = rig.run(self, *NOWHERE, f"--state={folder}/places.sqlite")
        self.assertEqual((code, "places.sqlite: is a database of another program, and was left alone" in said), (2, True), said)
        with open(f"{folder}/places.sqlite", "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(sorted(os.listdir(folder)), ["places.sqlite", "thesis.txt"])

    def test_a_state_has_one_pythiad(self):
        """Two would overwrite the pins that the other acknowledged. The lock ends with the process, however that ends."""
        folder = rig.make_folder(self)
        pythiad = self.start(folder)
        os.symlink("state.db", f"{folder}/other.db")
        for name in ("state.db", "other.db"):
            code, said = rig.run(self, *NOWHERE, f"--state={folder}/{name}")
            self.assertEqual(code, 1, said)
            self.assertIn(f"{name}: is the state of a running pythiad, pid {pythiad.pid}; stop it, or choose another "
                          "file with --state", said)
        # The first notices nothing of it.
        self.assertEqual(pythiad.get("/healthz").status, 200)
        self.assertEqual(self.rows(folder, "SELECT count(*) FROM pin"), [(0,)])
        pythiad.signal(signal.SIGKILL)
        pythiad.process.wait()
        pythiad = self.start(folder)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        self.assertFalse(os.path.exists(f"{folder}/state.db.lock"))

    def test_files_that_others_may_read(self):
        """What is made is for its user alone; of what was there the log says so, and names it."""
        folder = rig.make_folder(self)
        for name in ("control", "read", "agent", "ingest"):
            write(folder, f"{name}.token", name)
        tokens = [f"--{name}-token={folder}/{name}.token" for name in ("control", "read", "agent", "ingest")]
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        pythiad = self.start(folder, f"--record={folder}/recording")
        pythiad.stop()
        for name in os.listdir(folder):
            if not name.endswith(".token"):
                self.assertEqual(os.stat(f"{folder}/{name}").st_mode & 0o077, 0, name)
        self.assertNotIn("Other users can read", pythiad.log)
        os.remove(f"{folder}/recording")
        for mode, warned in ((0o600, False), (0o644, True), (0o640, True)):
            for name in ("state.db", "control.token", "read.token", "agent.token", "ingest.token"):
                os.chmod(f"{folder}/{name}", mode)
            pythiad = self.start(folder, *tokens)
            self.assertEqual(pythiad.stop(), 0)
            for name, what in (("state.db", "state"), *((f"{n}.token", "secret") for n in ("control", "read", "agent", "ingest"))):
                line = f"Other users can read the {what}; chmod 600 prevents that: file={folder}/{name}"
                self.assertEqual(line in pythiad.log, warned, (name, mode))


class Recording(unittest.TestCase):
    REQUESTS = 400

    @staticmethod
    def requests(count):
        for i in range(count):
            yield otlp.request(("step a", "step b", "step c"), slow=("step b", (i * 7919 % 30) * 1000000))

    def pythia(self, *words):
        done = subprocess.run([rig.program("pythia"), *words], capture_output=True, timeout=rig.patience(60), check=False)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return done.stdout

    def test_replayed_it_gives_the_same_groups(self):
        """What was received by all protocols, in one recording: the same types, counts, means and shares."""
        folder = rig.make_folder(self)
        with open(f"{folder}/known", "wb") as to:
            to.write(b"\n".join(otlp.as_json(spans) for spans in self.requests(30)))
        self.pythia("space", "build", "--quiet", "--output", f"{folder}/space.json", f"{folder}/known")
        pythiad = rig.Pythiad(self, f"--record={folder}/recording", "--quiet-ms=100", f"--cycle-requests={self.REQUESTS}",
                              "--cycle-seconds=1000", f"--space={folder}/space.json", "--always=*", folder=folder)
        rig.until(lambda: pythiad.metric("pythia_desired_in_force") == 1, 10)
        time.sleep(.2)
        with grpc.Connection(pythiad.grpc) as link:
            for i, spans in enumerate(self.requests(self.REQUESTS)):
                if i % 4 == 0:
                    self.assertEqual(link.call(otlp.protobuf(spans)).status, grpc.OK)
                elif i % 4 == 1:
                    self.assertEqual(pythiad.send(otlp.as_json(spans), rig.JSON).status, 200)
                elif i % 4 == 2:
                    body = otlp.gzipped(otlp.protobuf(spans))
                    self.assertEqual(pythiad.send(body, Content_Encoding="gzip").status, 200)
                else:
                    self.assertEqual(pythiad.send(otlp.zstd(otlp.as_json(spans)), rig.JSON, Content_Encoding="zstd").status,
                                     200)
        live = rig.until(lambda: pythiad.metric("pythia_cycles_total") and pythiad.get("/v1/report").json, 20)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        self.assertEqual(os.stat(f"{folder}/recording").st_mode & 0o777, 0o600)
        replayed = json.loads(self.pythia("replay", "--quiet", "--format", "json", f"{folder}/recording"))
        self.assertEqual(replayed["input"]["spans"], self.REQUESTS * 4)
        self.assertEqual(replayed["input"]["dropped"], {})
        self.assertEqual(replayed["request_types"], live["request_types"])
        self.assertEqual(replayed["request_types"][0]["count"], self.REQUESTS)
        self.assertEqual([(g["id"], g["count"], g["mean_ns"], g["sd_ns"], g["path"]) for g in replayed["groups"]],
                         [(g["id"], g["count"], g["mean_ns"], g["sd_ns"], g["path"]) for g in live["groups"]])
        self.assertEqual([[(e["from"], e["to"], e["share"]) for e in g["edges"]] for g in replayed["groups"]],
                         [[(e["from"], e["to"], e["share"]) for e in g["edges"]] for g in live["groups"]])
        top = replayed["groups"][0]["edges"][0]
        self.assertEqual((top["from"]["trace_point"], top["to"]["trace_point"]), ("shop:step b", "shop:step b"))


if __name__ == "__main__":
    rig.main()
