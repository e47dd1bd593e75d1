"""What the tests of pythiad share: starting one on free ports, asking it, reading its metrics, and ending it by its pid.

A test is `test_NAME.py BIN [SANITIZER]`: BIN is where pythiad and pythia are, SANITIZER what they are built with, if
anything. Then times are generous, and memory is not looked at. Ends with 77 if every test was skipped."""
import ctypes
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

BIN = ""
SANITIZER = ""
PROTOBUF, JSON = "application/x-protobuf", "application/json"


# Set by `./dev bench times`: measured times are compared with their bounds.
TIMED = bool(os.environ.get("PYTHIA_TIMED"))
# Set by `./dev check`: sizes that were asked for, where those of `./dev test` are smaller.
FULL = bool(os.environ.get("PYTHIA_FULL"))
HANGS = 120  # seconds after which something that other programs only slow down is taken to hang


def patience(seconds):
    """How long to wait for something that takes `seconds` at most in a plain build on an idle machine."""
    if SANITIZER:
        seconds *= 10
    return seconds if TIMED else max(seconds, HANGS)


def within(test, seconds, limit, what):
    """Print a measured time. It fails the test only where times are measured, because no bound on a time holds on a machine
    that other programs use."""
    missed = "" if seconds < limit or SANITIZER else ": MISSED"
    print(f"{what}: {seconds:.3f} s, below {limit:.3g} s asked for{missed}", flush=True)
    if TIMED and missed:
        test.fail(f"{what}: {seconds:.3f} s, below {limit:.3g} s asked for")


def program(name):
    return os.path.join(BIN, name)


def main():
    """Run the tests of the file that was started."""
    global BIN, SANITIZER
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BIN [SANITIZER [TEST...]]")
    BIN = os.path.abspath(sys.argv[1])
    SANITIZER = sys.argv[2] if len(sys.argv) > 2 else ""
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=1")
    result = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False, verbosity=2).result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun and len(result.skipped) == result.testsRun:
        sys.exit(77)


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def die_with_parent():
    """In a child: nothing is left running, however this test ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Answer:
    """An answer with its body; that of a stream of events has no end, and is left."""

    def __init__(self, answer):
        self.status, self.headers = answer.status, answer.headers
        self.body = b"" if answer.headers.get_content_type() == "text/event-stream" else answer.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


def on(link, method, path, body=None, kind=None, **headers):
    """Ask over a connection of http.client; in names of headers _ stands for -."""
    head = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind:
        head["Content-Type"] = kind
    link.request(method, path, body, head)
    return Answer(link.getresponse())


def ask(port, method, path, body=None, kind=None, tls=None, timeout=60, **headers):
    """Ask once, by a connection of its own. `port`: a number, or the path of a unix socket."""
    if isinstance(port, str):
        link = UnixConnection(port, timeout)
    elif tls:
        link = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=tls)
    else:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        return on(link, method, path, body, kind, **headers)
    finally:
        link.close()


def parse_metrics(text):
    """{name with labels: value}; fails on what is not the Prometheus text format, version 0.0.4."""
    values, types, helps, done = {}, {}, set(), set()
    family = None
    if not text.endswith("\n"):
        raise AssertionError("the last line of metrics does not end")
    for line in text.splitlines():
        match = re.fullmatch(r"# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)", line)
        if match:
            what, name, rest = match.groups()
            known = helps if what == "HELP" else types
            if name in known or name in done:
                raise AssertionError(f"{what} of {name} comes twice")
            if what == "HELP":
                helps.add(name)
            else:
                if rest not in ("counter", "gauge", "histogram", "summary", "untyped"):
                    raise AssertionError(f"{name} is no {rest}")
                types[name] = rest
            if family and family != name:
                done.add(family)
            family = name
            continue
        match = re.fullmatch(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? '
                             r"([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|Inf)|NaN)", line)
        if not match:
            raise AssertionError(f"no line of metrics: {line!r}")
        name, labels, value = match.groups()
        if name != family or name not in types or name not in helps:
            raise AssertionError(f"{name} does not stand below its HELP and TYPE")
        if name + (labels or "") in values:
            raise AssertionError(f"{name}{labels} comes twice")
        if types[name] == "counter" and not name.endswith("_total"):
            raise AssertionError(f"{name} is a counter without _total")
        values[name + (labels or "")] = float(value)
    return values


class Pythiad:
    """A running one. Ports are free ones of the loopback; `grpc`, `http`, `zipkin`, `control` say which."""

    def __init__(self, test, *options, env=None, folder=None, wait=True, addresses=None, config=None):
        self.folder = folder or make_folder(test)
        self.lines, self.listens = [], threading.Event()
        where = {"otlp-grpc": "127.0.0.1:0", "otlp-http": "127.0.0.1:0", "zipkin": "127.0.0.1:0",
                 "control": "127.0.0.1:0", **(addresses or {})}
        command = [program("pythiad"), *(f"--{name}={value}" for name, value in where.items() if value)]
        if any(option.startswith("--quiet-ms=") for option in options):
            command.append("--wait-max-ms=0")  # the senders of these tests are never late
        if config is not None:
            path = os.path.join(self.folder, "pythiad.yaml")
            with open(path, "w", encoding="utf-8") as to:
                to.write(config)
            command.append(f"--config={path}")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHIAD_")}
        environment.update(env or {})
        self.process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        env=environment, cwd=self.folder, preexec_fn=die_with_parent)
        self.pid = self.process.pid
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        test.addCleanup(self.kill)
        if wait:
            if not self.listens.wait(patience(10)) or self.process.poll() is not None and not self.ports:
                raise AssertionError("pythiad does not listen:\n" + self.log)

    ports = {}

    def _read(self):
        for line in self.process.stderr:
            line = line.decode(errors="replace").rstrip("\n")
            self.lines.append(line)
            if "Listens: " in line:
                places = dict(part.split("=", 1) for part in line.split("Listens: ")[1].split(", "))
                self.ports = {name: int(place.rsplit(":", 1)[1]) for name, place in places.items()
                              if not place.startswith("unix:") and place != "off"}
                self.listens.set()
        self.process.stderr.close()
        self.listens.set()

    @property
    def log(self):
        return "\n".join(self.lines)

    def logged(self, pattern, seconds=10):
        """Wait until a line of the log matches; that line."""
        return until(lambda: next((line for line in list(self.lines) if re.search(pattern, line)), None), seconds,
                     lambda: f"nothing in the log matches {pattern}:\n{self.log}")

    grpc = property(lambda self: self.ports["otlp-grpc"])
    http = property(lambda self: self.ports["otlp-http"])
    zipkin = property(lambda self: self.ports["zipkin"])
    control = property(lambda self: self.ports["control"])

    def metrics(self, **more):
        answer = ask(self.control, "GET", "/metrics", **more)
        if answer.status != 200:
            raise AssertionError(f"/metrics: {answer.status} {answer.text}")
        return parse_metrics(answer.text)

    def metric(self, name):
        return self.metrics()[name]

    def get(self, path, **headers):
        return ask(self.control, "GET", path, **headers)

    def post(self, path, body=None, **headers):
        return ask(self.control, "POST", path, json.dumps(body if body is not None else {}), JSON, **headers)

    def send(self, body, kind=PROTOBUF, **headers):
        """OTLP over HTTP."""
        return ask(self.http, "POST", "/v1/traces", body, kind, **headers)

    def ctl(self, *words, seconds=30, address=None):
        return subprocess.run([program("pythia"), "ctl", "--address", address or f"127.0.0.1:{self.control}", *words],
                              capture_output=True, text=True, timeout=patience(seconds), check=False)

    def memory(self, what="VmRSS"):
        """Bytes; VmHWM: the most that there were."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what + ":"))

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self, seconds):
        """Its exit status, once it has ended and its log is read."""
        code = self.process.wait(patience(seconds))
        self.reader.join(patience(5))
        return code

    def stop(self, seconds=10):
        """SIGTERM; its exit status. What a sanitizer found is a failure."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.wait(seconds)
        if "Sanitizer" in self.log:
            raise AssertionError(self.log)
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.send_signal(signal.SIGCONT)
            self.process.wait()
        self.reader.join(10)
        if "Sanitizer" in self.log:
            raise AssertionError(self.log)


class RedisServer:
    """A redis-server on a free port of the loopback, which keeps nothing on disk."""

    def __init__(self, test):
        if not shutil.which("redis-server"):
            test.skipTest("there is no redis-server: apt-get install redis-server")
        self.test, self.folder = test, make_folder(test)
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = server.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self):
        self.process = subprocess.Popen(["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "",
                                         "--appendonly", "no", "--dir", self.folder], stdout=subprocess.DEVNULL,
                                        preexec_fn=die_with_parent)
        self.test.addCleanup(self.process.wait)
        self.test.addCleanup(self.process.kill)
        until(self._answers, 10)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def _answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def send(self, *commands):
        """Commands of the wire protocol, in one go; the bytes of all answers."""
        with socket.create_connection(("127.0.0.1", self.port)) as link:
            for words in commands:
                parts = [word if isinstance(word, bytes) else word.encode() for word in words]
                link.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
            link.shutdown(socket.SHUT_WR)
            answers = b""
            while True:
                more = link.recv(65536)
                if not more:
                    return answers
                answers += more


def make_folder(test):
    folder = tempfile.mkdtemp(prefix="pythiad-test-")
    test.addCleanup(shutil.rmtree, folder, True)
    return folder


def run(test, *options, env=None, seconds=10):
    """Run pythiad to its end: (exit status, what it said)."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHIAD_")}
    environment.update(env or {})
    done = subprocess.run([program("pythiad"), *options], capture_output=True, text=True, env=environment,
                          timeout=patience(seconds), check=False)
    if "Sanitizer" in done.stderr:
        test.fail(done.stderr)
    return done.returncode, done.stdout + done.stderr


def until(what, seconds, why=None):
    """Wait until `what` gives something; that. It is asked less often the longer it takes: whoever waits leaves the processor to
    other tests."""
    begin = time.monotonic()
    while True:
        got = what()
        if got:
            return got
        passed = time.monotonic() - begin
        if passed > patience(seconds):
            raise AssertionError(why() if callable(why) else why or "it did not come in time")
        time.sleep(min(.01 + passed / 20, .05))


class Point(ctypes.Structure):
    """struct pythia_switchboard_point."""
    _fields_ = [("id", ctypes.c_char * 272), ("id_bytes", ctypes.c_size_t), ("switches", ctypes.c_uint64)]


class BoardState(ctypes.Structure):
    """struct pythia_switchboard_state."""
    _fields_ = [("points", ctypes.c_uint32), ("types", ctypes.c_int), ("off", ctypes.c_int),
                ("refused_points", ctypes.c_uint64), ("refused_types", ctypes.c_uint64),
                ("removed_areas", ctypes.c_uint64), ("removed_bytes", ctypes.c_uint64)]


def open_points(library, board):
    """What is open on a switchboard, as programs see it."""
    state, point = BoardState(), Point()
    library.pythia_switchboard_state_get_sized(board, ctypes.byref(state), ctypes.c_size_t(ctypes.sizeof(state)))
    found = set()
    for i in range(library.pythia_switchboard_points(board)):
        if library.pythia_switchboard_at_sized(board, ctypes.c_uint32(i), ctypes.byref(point),
                                               ctypes.c_size_t(ctypes.sizeof(point))) == 0 and point.switches:
            found.add(point.id.decode())
    found.discard("pythia:gate:owner")  # whose set it is, kept by the plane itself
    return set() if state.off else found


def warnings_off():
    """For asking for what is known to be old."""
    caught = warnings.catch_warnings()
    warnings.simplefilter("ignore")
    return caught


def make_certificates(folder):
    """An authority, a server's certificate for the loopback, a client's, and one of another authority."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    def make(name, authority, extension):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key",
                "-subj", f"/CN={name}", "-out", f"{name}.csr")
        with open(os.path.join(folder, f"{name}.ext"), "w", encoding="ascii") as to:
            to.write(extension)
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
                "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.pem")
    for authority in ("ca", "stranger-ca"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                f"{authority}.key", "-subj", f"/CN={authority}", "-days", "2", "-out", f"{authority}.pem")
    make("server", "ca", "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n")
    make("client", "ca", "extendedKeyUsage=clientAuth\n")
    make("stranger", "stranger-ca", "extendedKeyUsage=clientAuth\n")


def tls_context(folder, client=None, alpn=None):
    context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
    if client:
        context.load_cert_chain(os.path.join(folder, f"{client}.pem"), os.path.join(folder, f"{client}.key"))
    if alpn:
        context.set_alpn_protocols([alpn])
    return context
