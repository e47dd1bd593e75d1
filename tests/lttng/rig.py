# SPDX-License-Identifier: MIT
"""LTTng's daemons for one test: in a folder of their own, on free ports of the loopback, ended by process id. Root's session
daemon is the machine's: of root, the processes are another user's."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "live"))
import daemon  # noqa: E402  pylint: disable=wrong-import-position

NOBODY = 65534
WHO = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
RULES = os.path.join(HERE, "shop.yaml")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


class Pythiad(daemon.Pythiad):
    who = WHO


class Rig:
    """A session daemon, a relay daemon, and the program, each of which can be killed and started again."""

    def __init__(self):
        for program in ("lttng-sessiond", "lttng-relayd", "lttng"):
            if not shutil.which(program):
                skip(f"there is no {program}: apt-get install lttng-tools")
        if subprocess.run(["cc", "-E", "-include", "lttng/tracepoint.h", "-x", "c", "/dev/null"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode != 0:
            skip("programs cannot be built with LTTng-UST: apt-get install liblttng-ust-dev")
        self.work = tempfile.mkdtemp(prefix="pythia-lttng.")
        self.children = {}
        if os.getuid() == 0:
            os.chmod(self.work, 0o777)
        os.environ["HOME"] = os.environ["LTTNG_HOME"] = self.work
        os.environ.pop("XDG_RUNTIME_DIR", None)
        first = daemon.free_ports(3)
        self.ports = [first, first + 1, first + 2]
        self.relay = "127.0.0.1:" + ":".join(str(port) for port in self.ports)
        self.program = os.path.join(self.work, "shop")
        subprocess.run(["cc", "-O1", "-I", HERE, os.path.join(HERE, "shop.c"), "-o", self.program, "-llttng-ust", "-ldl",
                        "-lpthread"], check=True)

    def start(self, name, *command):
        with open(os.path.join(self.work, name + ".log"), "ab") as out:
            self.children[name] = subprocess.Popen(command, stdout=out, stderr=out, cwd=self.work, **WHO)

    def kill(self, name):
        child = self.children.pop(name)
        child.kill()
        child.wait()

    def start_sessiond(self):
        self.start("sessiond", "lttng-sessiond", "--no-kernel")
        self.until(20, "the session daemon answers",
                   lambda: self.lttng("list") is not None)

    @staticmethod
    def lttng(*arguments):
        """What it prints; None if it fails."""
        done = subprocess.run(["lttng", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
                              **WHO)
        return done.stdout if done.returncode == 0 else None

    def start_relayd(self):
        control, data, live = self.ports
        self.start("relayd", "lttng-relayd", "-C", f"tcp://127.0.0.1:{control}", "-D", f"tcp://127.0.0.1:{data}", "-L",
                   f"tcp://127.0.0.1:{live}", "-o", os.path.join(self.work, "relay"))
        self.until(20, "the relay daemon listens", self.is_listening)

    def is_listening(self):
        try:
            socket.create_connection(("127.0.0.1", self.ports[2]), 1).close()
        except OSError:
            return False
        return True

    def start_shop(self, seconds=600):
        self.start("shop", self.program, str(seconds))

    def pythiad(self, binaries, rules=RULES, folder="pythiad", **options):
        folder = os.path.join(self.work, folder)
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o777)
        return Pythiad(binaries, folder, lttng=rules, lttng_relay=self.relay, **options)

    def sessions(self):
        """Names of the sessions that the session daemon has."""
        text = self.lttng("--mi", "xml", "list") or ""
        return [part.split("</name>")[0] for part in text.partition("<sessions>")[2].split("<name>")[1:]]

    def enabled(self, session):
        """Events that are enabled in a session; None: LTTng does not say."""
        text = self.lttng("list", "--userspace", "--channel=pythia", session)
        return text if text is None else {line.split()[0] for line in text.splitlines() if line.rstrip().endswith("[enabled]") and
                line.split()[0].startswith("shop:")}

    @staticmethod
    def until(seconds, what, holds):
        """What holds() gives as soon as that is something."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            got = holds()
            if got:
                return got
            time.sleep(.1)
        raise AssertionError(f"not within {seconds} s: {what}")

    def stop(self):
        """Consumer daemons end with their session daemon, when it is asked to end."""
        for name in ("shop", "relayd", "sessiond"):
            child = self.children.pop(name, None)
            if child:
                child.send_signal(signal.SIGTERM)
                try:
                    child.wait(20)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()
        shutil.rmtree(self.work, ignore_errors=True)
