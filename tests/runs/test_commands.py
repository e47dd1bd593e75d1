#!/usr/bin/env python3
"""`pythia run` and `pythia runs` as their users start them. usage: test_commands.py PYTHIA [SANITIZER] [TEST]"""
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import sqlite3
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PYTHIA = os.path.abspath(sys.argv[1])
HANGS = 300  # seconds after which something that other programs only slow down is taken to hang
SANITIZED = len(sys.argv) > 2 and sys.argv[2] and not sys.argv[2].startswith("Test")


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        self.db = os.path.join(self.path, "runs.db")
        self.environment = dict(os.environ, TMPDIR=self.path, PYTHIA_RUNS=self.db)

    def tearDown(self):
        self.folder.cleanup()

    def pythia(self, *words, **more):
        more.setdefault("env", self.environment)
        return subprocess.run([PYTHIA, *words], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=HANGS, **more)

    def record(self, *words, **more):
        return self.pythia("run", "-q", *words, **more)

    def runs(self, *words):
        done = self.pythia("runs", "list", "--format", "json", *words)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def show(self, run=1):
        return json.loads(self.pythia("runs", "show", "--format", "json", str(run)).stdout)

    def until(self, holds, run=1):
        """The record, once that holds: what git says may come after the run."""
        for _ in range(20 * HANGS):
            record = self.show(run)
            if holds(record):
                return record
            time.sleep(.05)
        self.fail(record)

    def git(self, *words, folder="."):
        done = subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], stdout=subprocess.PIPE,
                              cwd=os.path.join(self.path, folder), check=True)
        return done.stdout.decode().strip()

    def records(self, tag, wall, memory=1000000, count=8, command=None, **more):
        """Files as `pythia runs export` writes them, imported."""
        for i in range(count):
            run = {"started_ns": 10**18 + i, "command": command or ["svc"], "benchmark": "svc", "tag": tag, "exit_status": 0,
                   "metrics": {"wall": int(wall * (1 + i / 1000)), "user": int(wall), "sys": 0, "max_rss": int(memory)},
                   "host": {"name": "h"}, **more}
            self.file(f"{tag}{i}.json", json.dumps(run))
        self.assertEqual(self.pythia("runs", "import", *[f"{tag}{i}.json" for i in range(count)]).returncode, 0)

    def file(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w") as f:
            f.write(text)
        return path


class TestRecord(Runs):
    def test_arguments_and_exit_status_are_exact(self):
        done = self.record("--", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3)
        run = self.show()
        self.assertEqual(run["command"], ["sh", "-c", "exit 3"])
        self.assertEqual(run["exit_status"], 3)
        self.assertEqual(run["signal"], 0)

    def test_a_signal_is_recorded_and_ends_us_too(self):
        done = self.record("--", "sh", "-c", "kill -TERM $$")
        self.assertEqual(done.returncode, -signal.SIGTERM)
        run = self.show()
        self.assertEqual(run["signal"], signal.SIGTERM)
        self.assertNotIn("exit_status", run)

    def test_a_program_that_is_not_there_is_not_recorded(self):
        self.assertEqual(self.record("--", "no-such-program").returncode, 127)
        self.assertEqual(self.runs(), [])

    def test_memory_is_the_peak(self):
        self.record("--", "dd", "if=/dev/zero", "of=/dev/null", "bs=200M", "count=1")  # one block, which it fills
        rss = self.show()["metrics"]["max_rss"]
        self.assertGreater(rss, 200 << 20)
        self.assertLess(rss, 210 << 20)

    def test_page_faults_are_those_of_getrusage(self):
        text = ("import os, resource\nx = bytearray(20 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\n"
                "r = resource.getrusage(resource.RUSAGE_SELF)\nos.write(1, b'%d %d' % (r.ru_minflt, r.ru_majflt))\nos._exit(0)")
        minor, major = map(int, self.record("--", "python3", "-c", text).stdout.split())
        metrics = self.show()["metrics"]
        self.assertGreater(minor, 5000)  # pages that it touches
        self.assertTrue(minor <= metrics["minor_faults"] <= minor + 50, (minor, metrics))  # those of the last three calls
        self.assertTrue(major <= metrics["major_faults"] <= major + 50, (major, metrics))

    def test_wall_clock_time_is_that_from_start_to_end(self):
        text = "import os, time\nstart = time.monotonic_ns()\ntime.sleep(.05)\nos.write(1, b'%d' % (time.monotonic_ns() - start))\nos._exit(0)"
        begun = time.monotonic_ns()
        inside = int(self.record("--", "python3", "-c", text).stdout)
        outside = time.monotonic_ns() - begun
        self.assertTrue(5e7 < inside <= self.show()["metrics"]["wall"] <= outside, (inside, outside, self.show()["metrics"]))

    def test_cpu_time_is_that_of_getrusage(self):
        text = ("import os, resource, sys\nfor i in range(3000000): pass\n"
                "u = resource.getrusage(resource.RUSAGE_SELF)\nprint(u.ru_utime, u.ru_stime)\nsys.stdout.flush()\nos._exit(0)")
        done = self.record("--", "python3", "-c", text)
        user, system = map(float, done.stdout.split())
        metrics = self.show()["metrics"]
        self.assertGreaterEqual(metrics["cpu"] / 1e9, user + system - 1e-3)
        # Beside that it is the start and the end of the program: a fraction of a second, or more on a busy machine.
        self.assertLess(metrics["cpu"] / 1e9, 2 * (user + system) + 1)
        self.assertEqual(metrics["cpu"], metrics["user"] + metrics["sys"])

    def test_output_passes_through_and_its_start_is_kept(self):
        done = self.record("--", "sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x; echo err >&2")
        self.assertEqual(done.stdout, b"x" * 100000)
        self.assertEqual(done.stderr, b"err\n")
        run = self.show()
        self.assertEqual(len(run["stdout"]), 65536)
        self.assertEqual(run["stdout_bytes"], 100000)
        self.assertEqual(run["stderr"], "err\n")

    def test_two_outputs_to_one_file_keep_their_order(self):
        with open(os.path.join(self.path, "both"), "w+b") as both:
            subprocess.run([PYTHIA, "run", "-q", "--", "sh", "-c",
                            "for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done"],
                           env=self.environment, stdout=both, stderr=both, cwd=self.path, timeout=HANGS)
            both.seek(0)
            self.assertEqual(both.read().split(), [b"%s%d" % (w, i) for i in range(1, 6) for w in (b"out", b"err")])

    def test_input_passes_through(self):
        self.assertEqual(self.record("--", "cat", input=b"abc").stdout, b"abc")

    def test_a_program_at_a_terminal_still_has_one(self):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
        text = "import os, sys; print(sys.stdout.isatty(), os.get_terminal_size(1).columns); sys.exit(4)"
        done = subprocess.Popen([PYTHIA, "run", "-q", "--", "python3", "-c", text], env=self.environment,
                                stdin=slave, stdout=slave, stderr=slave, cwd=self.path)
        os.close(slave)
        seen = b""
        try:
            while True:
                piece = os.read(master, 1000)
                if not piece:
                    break
                seen += piece
        except OSError:  # the end of a pseudo-terminal
            pass
        os.close(master)
        self.assertEqual(done.wait(HANGS), 4)
        self.assertEqual(seen, b"True 77\r\n")

    def test_a_child_that_is_left_behind_may_go_on_writing(self):
        """It writes only after `pythia run` has ended, and nothing may end it by SIGPIPE."""
        os.mkfifo(os.path.join(self.path, "go"))
        program = subprocess.Popen([PYTHIA, "run", "-q", "--", "sh", "-c",
                                    "(read -r line < go; echo late; echo $? > went) & echo early"],
                                   env=self.environment, cwd=self.path, stdout=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), b"early\n")
        self.assertEqual(program.wait(HANGS), 0)
        with open(os.path.join(self.path, "go"), "w") as go:
            go.write("on\n")
        self.assertEqual(program.stdout.read(), b"late\n")
        program.stdout.close()

    def test_a_reader_that_leaves_ends_the_program(self):
        shell = f"'{PYTHIA}' run -q -- yes | head -n 1"
        done = subprocess.run(["sh", "-c", shell], env=self.environment, cwd=self.path, stdout=subprocess.PIPE, timeout=HANGS)
        self.assertEqual(done.stdout, b"y\n")
        self.assertEqual(self.show()["signal"], signal.SIGPIPE)

    def test_a_program_that_the_kernel_refuses_is_recorded(self):
        os.chmod(self.file("program", "\x7fELF, but no more of it\n"), 0o700)
        done = self.record("--", "./program")
        self.assertEqual((done.returncode, done.stderr), (126, b"pythia: error: ./program: Exec format error\n"))
        self.assertEqual(self.show()["exit_status"], 126)

    def test_a_file_that_is_damaged_is_told_at_the_end(self):
        """It is opened beside the program, so that what is wrong behind its header is found then: its tables, or their pages."""
        for at, size in (100, 3996), (4096, 40960):
            self.environment["PYTHIA_RUNS"] = self.db = os.path.join(self.path, f"{at}.db")
            self.record("--", "true")
            with open(self.db, "r+b") as f:
                f.seek(at)
                f.write(b"x" * size)
            done = self.record("--", "echo", "ran")
            self.assertEqual((done.returncode, done.stdout), (1, b"ran\n"))
            self.assertIn(b"The run was not recorded: " + self.db.encode(), done.stderr)

    def test_a_file_that_is_locked_holds_no_output_up(self):
        """Somebody has it alone: what the program says comes through all the same, and its record waits."""
        self.record("--", "true")
        db = sqlite3.connect(self.db, isolation_level=None)
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        db.execute("BEGIN IMMEDIATE")
        program = subprocess.Popen([PYTHIA, "run", "-q", "--", "sh", "-c", "echo said"], env=self.environment, cwd=self.path,
                                   stdout=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), b"said\n")
        db.execute("ROLLBACK")
        db.close()
        self.assertEqual(program.wait(HANGS), 0)
        program.stdout.close()
        self.assertEqual(len(self.runs()), 2)

    def test_ten_runs_at_once_give_ten_records(self):
        for turn in range(20):  # each on a new file
            self.environment["PYTHIA_RUNS"] = self.db = os.path.join(self.path, "turn%d.db" % turn)
            many = [subprocess.Popen([PYTHIA, "run", "-q", "--", "true"], env=self.environment, cwd=self.path,
                                     stderr=subprocess.PIPE) for _ in range(10)]
            ended = [(one.communicate(timeout=HANGS)[1], one.returncode) for one in many]
            self.assertEqual(ended, [(b"", 0)] * 10)
            self.assertEqual(len(self.runs()), 10)

    def test_nobody_else_may_read_the_file(self):
        self.record("--", "true")
        self.assertEqual(stat.S_IMODE(os.stat(self.db).st_mode), 0o600)

    def test_data_environment_and_commit_are_recorded(self):
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        commit = self.git("rev-parse", "HEAD")
        self.environment.update(SECRET="s", MINE="m", OMP_NUM_THREADS="2")
        self.record("--tag", "v1", "--description", "why", "-m", "size=10", "-m", "a=b=c", "--environment", "MINE",
                    "--", "true")
        run = self.until(lambda run: "git_dirty" in run)
        self.assertEqual((run["tag"], run["description"], run["git_commit"], run["git_dirty"]), ("v1", "why", commit, 0))
        self.assertEqual(run["meta"]["size"], "10")
        self.assertEqual(run["meta"]["a"], "b=c")
        self.assertEqual(run["meta"]["env.MINE"], "m")
        self.assertEqual(run["meta"]["env.OMP_NUM_THREADS"], "2")
        self.assertNotIn("env.SECRET", run["meta"])

    def test_secrets_are_redacted_everywhere(self):
        self.record("--redact", "hunter[0-9]", "-m", "pw=hunter2", "--", "sh", "-c", "echo hunter2 $0", "hunter3")
        with open(self.db, "rb") as f:
            whole = f.read()
        if os.path.exists(self.db + "-wal"):
            with open(self.db + "-wal", "rb") as f:
                whole += f.read()
        self.assertNotIn(b"hunter2", whole)
        self.assertNotIn(b"hunter3", whole)
        run = self.show()
        self.assertEqual(run["stdout"], "*** ***\n")
        self.assertEqual(run["command"][-1], "***")

    def test_without_a_command_line_runs_can_still_be_told_apart(self):
        for word in ("a", "a", "b"):
            self.record("--no-command-line", "--", "echo", word)
        runs = self.runs()
        self.assertNotIn("command", runs[0])
        self.assertNotIn("stdout", self.show())
        self.assertEqual(runs[0]["command_key"], runs[1]["command_key"])
        self.assertNotEqual(runs[0]["command_key"], runs[2]["command_key"])

    def test_a_profiler_gets_the_program_s_own_process_id(self):
        done = self.record("--profiler", "echo {pid} > {out}; echo '{x}' > /dev/null", "--", "sh", "-c", "echo $$")
        artifacts = self.show()["artifacts"]
        self.assertEqual(len(artifacts), 1)
        self.assertEqual(artifacts[0]["body"].strip(), done.stdout.decode().strip())

    def test_a_profiler_that_fails_is_reported_and_the_run_recorded(self):
        done = self.pythia("run", "--profiler", "exit 7", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"The profiler failed: exit 7: exit-status=7", done.stderr)
        self.assertEqual(self.show()["artifacts"], [])

    def test_wrong_usage_runs_nothing(self):
        for words, part in ((["--redact", "(", "--", "touch", "ran"], b"--redact ("),
                            (["-m", "x", "--", "touch", "ran"], b"KEY=VALUE"),
                            (["--db", "no/such/folder/x.db", "--", "touch", "ran"], b"cannot be opened"),
                            (["--db", "text", "--", "touch", "ran"], b"no database of runs"),
                            ([], b"a command, or --suite FILE")):
            self.file("text", "x" * 5000)
            done = self.pythia("run", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(part, done.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.path, "ran")))

    def test_the_default_file_is_in_the_state_folder(self):
        del self.environment["PYTHIA_RUNS"]
        self.environment["XDG_STATE_HOME"] = os.path.join(self.path, "state")
        self.record("--", "true")
        self.assertTrue(os.path.exists(os.path.join(self.path, "state/pythia/runs.db")))
        self.assertEqual(len(self.runs()), 1)

    def test_nothing_is_recorded_if_nobody_wants_it(self):
        self.record("--no-record", "--", "true")
        self.assertFalse(os.path.exists(self.db))


class TestSource(Runs):
    """The commit, and whether tracked files have changed, of the folder that a run starts in."""

    def setUp(self):
        super().setUp()
        self.git("init", "-q", "-b", "main", "tree")
        self.tree = os.path.join(self.path, "tree")
        self.file("tree/a", "one\n")
        self.git("add", "a", folder="tree")
        self.git("commit", "-q", "-m", "x", folder="tree")
        self.commit = self.git("rev-parse", "HEAD", folder="tree")
        os.mkdir(os.path.join(self.tree, "below"))

    def recorded(self, folder="tree", *options, command="true"):
        """What a run in that folder has of git at once: (commit, changed), each None if it is not known."""
        done = subprocess.run([PYTHIA, "run", "-q", *options, "--", "/bin/sh", "-c", command], cwd=os.path.join(self.path, folder),
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=HANGS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.known(self.last())

    def last(self):
        return max(run["id"] for run in self.runs())

    def known(self, run):
        record = self.show(run)
        return record.get("git_commit"), record.get("git_dirty")

    def settles(self, *expected):
        """The last run has that in the end."""
        run = self.last()
        self.until(lambda record: (record.get("git_commit"), record.get("git_dirty")) == expected, run)

    def stand_in(self, text):
        """A git that is this script; it first writes its process id to a file."""
        os.makedirs(os.path.join(self.path, "bin"), exist_ok=True)
        path = self.file("bin/git", f"#!/bin/sh\necho $$ > '{self.path}/new'; mv '{self.path}/new' '{self.path}/pid'\n{text}\n")
        os.chmod(path, 0o700)
        self.environment["PATH"] = os.path.join(self.path, "bin") + ":" + os.environ["PATH"]

    def end_stand_in(self):
        path = os.path.join(self.path, "pid")
        for _ in range(20 * HANGS):
            if os.path.exists(path):
                break
            time.sleep(.05)
        with open(path, encoding="ascii") as lines:
            os.kill(int(lines.read()), signal.SIGKILL)
        os.remove(path)

    def test_a_tree_without_changes(self):
        self.file("tree/untracked", "")
        for folder in "tree", "tree/below":
            self.assertEqual(self.recorded(folder)[0], self.commit)
            self.settles(self.commit, 0)

    def test_a_tree_with_changes(self):
        self.file("tree/a", "two\n")
        self.recorded()
        self.settles(self.commit, 1)
        self.git("add", "a", folder="tree")
        self.recorded()
        self.settles(self.commit, 1)

    def test_wherever_git_keeps_the_commit(self):
        self.git("pack-refs", "--all", folder="tree")
        self.assertEqual(self.recorded()[0], self.commit)
        self.settles(self.commit, 0)
        self.git("commit", "-q", "--allow-empty", "-m", "later", folder="tree")  # a file again, over the packed one
        later = self.git("rev-parse", "HEAD", folder="tree")
        self.assertEqual(self.recorded()[0], later)
        self.settles(later, 0)
        self.git("worktree", "add", "-q", "../second", "-b", "other", self.commit, folder="tree")
        self.assertEqual(self.recorded("second")[0], self.commit)
        self.settles(self.commit, 0)
        self.git("checkout", "-q", "--detach", self.commit, folder="tree")
        self.assertEqual(self.recorded()[0], self.commit)
        self.settles(self.commit, 0)
        self.git("init", "-q", "empty")  # no commit yet
        self.assertEqual(self.recorded("empty"), (None, None))
        self.assertEqual(self.recorded("."), (None, None))  # no repository

    def test_without_git_the_commit_is_known(self):
        self.environment["PATH"] = os.path.join(self.path, "nothing")
        self.recorded()
        self.settles(self.commit, None)

    def test_a_git_that_fails_after_half_an_answer_says_nothing(self):
        self.stand_in(f"echo '# branch.oid {self.commit}'; exit 1")
        self.recorded(command="while [ ! -e ../pid ]; do sleep .01; done")
        self.assertEqual(self.known(1), (self.commit, None))

    def test_a_program_that_ends_first_does_not_wait(self):
        os.mkfifo(os.path.join(self.path, "go"))
        self.stand_in(f"grep SigCgt /proc/$PPID/status > '{self.path}/caught'\n"
                      f"read go < '{self.path}/go'; echo '# branch.oid {self.commit}'; echo $go")
        for word, dirty in (("1 .M N... a", 1), ("# branch.head main", 0)):
            self.assertEqual(self.recorded(), (self.commit, None))
            self.file("go", word + "\n")
            self.settles(self.commit, dirty)
        with open(os.path.join(self.path, "caught"), encoding="ascii") as caught:
            self.assertEqual(int(caught.read().split()[1], 16) & 0x7fffffff, 0)  # whoever asks git can be ended

    def test_a_git_that_hangs_holds_nobody_up(self):
        self.stand_in("exec sleep 1000")
        self.assertEqual(self.recorded(), (self.commit, None))  # and whoever reads its output goes on
        self.end_stand_in()
        done = subprocess.run([PYTHIA, "run", "--repeat", "3", "--", "true"], cwd=self.tree, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=HANGS)
        self.assertEqual(done.stderr.count(b"git status takes more than 1 s here"), 1)
        self.assertEqual([self.known(run) for run in (2, 3, 4)], 3 * [(self.commit, None)])

    def test_a_program_that_a_signal_ends_first_does_not_wait_either(self):
        os.mkfifo(os.path.join(self.path, "go"))
        self.stand_in(f"read go < '{self.path}/go'; echo '# branch.oid {self.commit}'; echo $go")
        done = subprocess.run([PYTHIA, "run", "-q", "--", "sh", "-c", "kill -TERM $$"], cwd=self.tree, env=self.environment, timeout=HANGS)
        self.assertEqual(done.returncode, -signal.SIGTERM)
        self.assertEqual(self.known(1), (self.commit, None))
        self.file("go", "1 .M N... a\n")
        self.settles(self.commit, 1)

    def test_a_run_that_is_killed_leaves_no_git(self):
        self.stand_in("exec sleep 1000")
        run = subprocess.Popen([PYTHIA, "run", "-q", "--", "cat"], cwd=self.tree, env=self.environment, stdin=subprocess.PIPE)
        path = os.path.join(self.path, "pid")
        while not os.path.exists(path):
            time.sleep(.05)
        run.kill()
        run.communicate(timeout=HANGS)
        with open(path, encoding="ascii") as lines:
            git = int(lines.read())
        for _ in range(20 * HANGS):
            if not os.path.exists(f"/proc/{git}"):
                return
            time.sleep(.05)
        self.fail(f"process {git} is still there")

    def test_without_standard_files(self):
        self.recorded()
        self.settles(self.commit, 0)
        subprocess.run(["sh", "-c", '"$0" run -q -- true <&- >&- 2>&-', PYTHIA], cwd=self.tree, env=self.environment, check=True, timeout=HANGS)
        self.settles(self.commit, 0)

    def test_the_runs_of_a_suite_know_it_each(self):
        self.assertEqual(self.recorded("tree", "--repeat", "5")[0], self.commit)
        self.settles(self.commit, 0)
        self.assertEqual([self.known(run) for run in range(1, 6)], 5 * [(self.commit, 0)])


class TestSuite(Runs):
    SUITE = {"suite": "s", "repeat": 2, "benchmarks": [{"name": "a", "command": ["sh", "-c", "exit 0"], "meta": {"size": 5}},
                                                       {"name": "b", "command": ["sh", "-c", "exit 6"]}]}

    def test_benchmarks_take_turns(self):
        path = self.file("suite.json", json.dumps(self.SUITE))
        self.assertEqual(self.record("--suite", path, "--tag", "t").returncode, 6)
        runs = self.runs("--suite", "s", "--tag", "t")
        self.assertEqual([r["benchmark"] for r in runs], ["a", "b", "a", "b"])
        self.assertEqual(runs[0]["meta"]["size"], "5")
        self.record("--suite", path, "--repeat", "1", "--tag", "u")
        self.assertEqual(len(self.runs("--tag", "u")), 2)
        self.assertEqual(len(self.runs("--benchmark", "a")), 3)

    def test_a_wrong_suite_is_refused_with_its_place(self):
        for change, part in ((lambda s: s.pop("suite"), "no name"), (lambda s: s.update(repeat=0), '"repeat"'),
                             (lambda s: s.update(benchmarks=[]), "no list"),
                             (lambda s: s["benchmarks"][1].pop("name"), "benchmark 2: has no"),
                             (lambda s: s["benchmarks"][1].update(name="a"), "same name as an earlier"),
                             (lambda s: s["benchmarks"][0].update(command=[]), "benchmark 1: has no"),
                             (lambda s: s["benchmarks"][0].update(command=[3]), "not text"),
                             (lambda s: s["benchmarks"][0].update(meta=[]), "not an object"),
                             (lambda s: s["benchmarks"][0].update(meta={"x": []}), "neither text nor a number")):
            suite = json.loads(json.dumps(self.SUITE))
            change(suite)
            done = self.record("--suite", self.file("wrong.json", json.dumps(suite)))
            self.assertEqual(done.returncode, 1)
            self.assertIn(part, done.stderr.decode())
        self.assertIn("line 2", self.record("--suite", self.file("wrong.json", '{\n"a":}')).stderr.decode())


class TestJudgement(Runs):
    def regress(self, *words):
        return self.pythia("runs", "regress", "--base", "old", "--candidate", "new", *words)

    def test_exit_statuses(self):
        self.records("old", 1e9)
        self.assertEqual(self.regress().returncode, 4)  # there is no new one
        self.records("new", 1.2e9)
        done = self.regress()
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout.decode(), r"✖ .*\+20\.0 %.*wall")
        self.assertEqual(self.regress("--metric", "max_rss").returncode, 0)
        same = self.pythia("runs", "compare", "old", "old").stdout.decode()
        self.assertRegex(same, r" \+0\.0 % .* wall\n")
        self.assertNotIn("-0.0 %  (", same)
        self.assertEqual(self.regress("--effect", ".5").returncode, 0)
        self.assertEqual(self.regress("--last", "4").returncode, 4)
        self.assertEqual(self.regress("--metric", "nonsense").returncode, 2)
        self.assertEqual(self.pythia("runs", "regress", "--base", "old").returncode, 2)

    def test_forms_agree(self):
        self.records("old", 1e9)
        self.records("new", 1e9, memory=1.3e6)
        document = json.loads(self.regress("--format", "json").stdout)
        worse = [c for c in document["comparisons"] if c["verdict"] == "worse"]
        self.assertEqual([c["metric"] for c in worse], ["max_rss"])
        self.assertAlmostEqual(worse[0]["median_after"], 1.3e6)
        self.assertIn("failures=\"1\"", self.regress("--format", "junit").stdout.decode())
        self.assertRegex(self.regress("--format", "markdown").stdout.decode(), r"\| worse \| svc \| max\\_rss \|")
        xml = self.file("out.xml", self.regress("--format", "junit").stdout.decode())
        subprocess.run(["xmllint", "--noout", xml], check=True)

    def test_an_import_of_nothing_leaves_no_file_of_runs(self):
        os.mkdir(os.path.join(self.path, "empty"))
        self.file("bad.json", "{")
        for path, code in (("missing.json", 1), ("bad.json", 1), ("empty", 4)):
            done = self.pythia("runs", "import", "--db", "new.db", path)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertFalse([name for name in os.listdir(self.path) if name.startswith("new.db")], path)
        self.file("good.json", json.dumps({"started_ns": 1, "command": ["a"], "metrics": {"wall": 1}}))
        done = self.pythia("runs", "import", "--db", "missing/new.db", "good.json")
        self.assertEqual((done.returncode, done.stderr.count(b"error")), (1, 1), done.stderr)
        self.assertEqual(self.pythia("runs", "import", "--db", "new.db", "missing.json", "good.json").returncode, 1)
        self.assertEqual(len(self.runs("--db", "new.db")), 1)

    def test_export_and_import_lose_nothing(self):
        self.records("old", 1e9, callpaths=[{"path": "a;b", "calls": 1, "sum_ns": 5, "sum_squares": 25.0, "min_ns": 5,
                                             "max_ns": 5, "p50_ns": 5, "p99_ns": 5, "exclusive_ns": 5}], stdout="x")
        self.assertEqual(self.pythia("runs", "export", "out").returncode, 0)
        self.assertEqual(self.pythia("runs", "import", "--db", "copy.db", "out").returncode, 0)
        self.assertEqual(self.pythia("runs", "export", "--db", "copy.db", "again").returncode, 0)
        names = sorted(os.path.relpath(os.path.join(f, n), os.path.join(self.path, "out"))
                       for f, _, ns in os.walk(os.path.join(self.path, "out")) for n in ns)
        self.assertEqual(len(names), 9)  # eight records and the command
        for name in names:
            pair = [re.sub(r'"id":\d+', '"id":0', pathlib.Path(self.path, d, name).read_text())
                    for d in ("out", "again")]
            self.assertEqual(pair[0], pair[1])

    def test_a_file_that_is_no_record_is_refused_and_the_rest_imported(self):
        self.file("bad.json", "{}")
        self.records("old", 1e9, count=1)
        done = self.pythia("runs", "import", "bad.json", "old0.json", "missing.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.json: is no record of a run", done.stderr.decode())
        self.assertIn("Imported 1 runs, refused 2", done.stderr.decode())

    def test_a_trend_over_a_size_has_its_exponent(self):
        for size in (10, 20, 40, 80):
            self.records(f"t{size}", 100 * size**2, count=1, meta={"size": str(size)})
        done = self.pythia("runs", "trend", "--x", "meta.size", "--metric", "user")
        self.assertRegex(done.stdout.decode(), r"user grows with size\^2\.00 \(2\.00 to 2\.00\), 4 runs")
        svg = self.file("t.svg", self.pythia("runs", "trend", "--x", "meta.size", "--format", "svg").stdout.decode())
        subprocess.run(["xmllint", "--noout", svg], check=True)

    def test_a_trend_is_in_the_order_of_time_over_all_tags(self):
        for i, tag in enumerate(("v3", "v1", "v2")):
            self.records(tag, 1e9, count=1, started_ns=10**18 + i * 10**9)
        text = self.pythia("runs", "trend").stdout.decode()
        self.assertEqual(re.findall(r" (v\d) ", text), ["v3", "v1", "v2"])
        svg = self.pythia("runs", "trend", "--format", "svg").stdout.decode()
        self.assertEqual(svg.count("<title>run "), 3)

    def test_no_run_is_status_4_and_no_file_1(self):
        self.assertEqual(self.pythia("runs", "list").returncode, 1)
        self.record("--", "true")
        self.assertEqual(self.pythia("runs", "list", "--tag", "x").returncode, 4)
        self.assertEqual(self.pythia("runs", "show", "7").returncode, 4)
        self.assertEqual(self.pythia("runs", "show", "x").returncode, 2)
        self.assertEqual(self.pythia("runs", "list", "--since", "noon").returncode, 2)
        self.assertEqual(len(self.runs("--since", "1h")), 1)
        self.assertEqual(len(self.runs("--until", "2020-01-01")), 0)

    def test_folded_stacks_of_a_profiler_make_a_flame_graph(self):
        self.record("--profiler", "printf 'main;f 3\\nmain;g 1\\n' > {out}", "--", "true")
        done = self.pythia("runs", "flame", "1")
        self.assertIn("f: 3.000 samples, 75.0 %", done.stdout.decode())
        self.assertEqual(self.pythia("runs", "flame", "--format", "folded", "1").stdout, b"main;f 3\nmain;g 1\n")
        self.record("--", "true")
        for words, run in ((["2"], 2), (["1", "--diff", "2"], 2), (["2", "--diff", "1"], 2)):
            done = self.pythia("runs", "flame", *words)
            self.assertEqual((done.returncode, done.stdout), (4, b""))
            self.assertEqual(done.stderr.decode(), f"pythia: error: Run {run} has neither traces (pythia run --points) nor "
                                                   "folded stacks (--profiler)\n")
        self.records("t", 1e9, count=1, callpaths=[{"path": "a", "calls": 1, "sum_ns": 5, "sum_squares": 25.0, "min_ns": 5,
                                                    "max_ns": 5, "p50_ns": 5, "p99_ns": 5, "exclusive_ns": 5}])
        done = self.pythia("runs", "flame", "1", "--diff", "3")
        self.assertEqual((done.returncode, done.stdout), (4, b""))
        self.assertIn("Runs 1 and 3 cannot be compared: one has traces, and the other only folded stacks", done.stderr.decode())


@unittest.skipIf(SANITIZED, "a sanitizer cannot be loaded into another program")
class TestTraced(Runs):
    POINTS = [{"name": "request", "module": "__main__", "function": "request", "request": True},
              {"name": "load", "module": "__main__", "function": "load", "keys": ["n=arg0"]},
              {"name": "render", "module": "__main__", "function": "render"}]
    PROGRAM = """
import sys, time
slow = len(sys.argv) > 1
def load(n):
    time.sleep(.0005 + (.02 if slow and n >= 2 else 0))
def render():
    time.sleep(.0005)
def request(n):
    load(n)
    render()
for n in range(60):
    request(n % 4)
"""

    def test_callpaths_of_a_traced_run_are_recorded(self):
        points = self.file("points.json", json.dumps(self.POINTS))
        app = self.file("app.py", self.PROGRAM)
        done = self.record("--tag", "v1", "--points", points, "--service", "app", "--", "python3", app)
        self.assertEqual(done.returncode, 0, done.stderr)
        paths = {p["path"]: p for p in self.show()["callpaths"]}
        self.assertEqual(sorted(paths), ["app:request", "app:request;app:load", "app:request;app:render"])
        self.assertEqual(paths["app:request;app:load"]["calls"], 60)
        self.assertLess(paths["app:request"]["exclusive_ns"], paths["app:request"]["sum_ns"])
        flame = self.pythia("runs", "flame", "1").stdout.decode()
        self.assertIn('data-n="app:load"', flame)
        self.assertEqual(self.show()["metrics"]["processes"], 1)

    def test_a_traced_run_counts_its_processes_and_what_tracing_took(self):
        points = self.file("points.json", json.dumps(self.POINTS))
        app = self.file("app.py", self.PROGRAM)
        both = self.file("both.py", "import subprocess, sys\nfor child in [subprocess.Popen([sys.executable, sys.argv[1]]) for _ in range(3)]:\n"
                                    "    child.wait()\n")
        done = self.record("--tag", "v1", "--points", points, "--service", "app", "--", "python3", both, app)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.show()
        self.assertEqual(run["metrics"]["processes"], 3)  # the one that has started them calls none of the functions
        self.assertEqual({p["path"]: p["calls"] for p in run["callpaths"]}["app:request"], 180)
        self.assertGreater(run["metrics"]["overhead"], 0)
        self.assertLess(run["metrics"]["overhead"], run["metrics"]["wall"] * 3)

    def test_each_process_of_a_traced_run_has_its_figures(self):
        """One that allocates and touches 64 MiB, one that is killed, and the one that has started both."""
        points = self.file("points.json", json.dumps([{"name": "work", "module": "__main__", "function": "work"}]))
        child = self.file("child.py", "import os, resource, sys\ndef work(): return bytearray(int(sys.argv[1]))\nwork(); work()\n"
                          "if sys.argv[1] == '1': os.kill(os.getpid(), 9)\n"
                          "took = resource.getrusage(resource.RUSAGE_SELF)\nprint(os.getpid(), took.ru_maxrss)\n")
        both = self.file("both.py", "import os, subprocess, sys\nchildren = [subprocess.Popen([sys.executable, sys.argv[1], size]) "
                         "for size in (str(64 << 20), '1')]\nfor child in children: child.wait()\n"
                         "print(os.getpid(), children[1].pid, flush=True)\n")
        done = self.record("--tag", "v1", "--points", points, "--service", "app", "--", "python3", both, child)
        self.assertEqual(done.returncode, 0, done.stderr)
        (large, peak), (parent, killed) = (map(int, line.split()) for line in done.stdout.decode().splitlines())
        processes = {p["pid"]: p for p in self.show()["processes"]}
        self.assertEqual(sorted(processes), sorted((large, parent, killed)))
        self.assertEqual([processes[pid]["spans"] for pid in (large, killed, parent)], [2, 2, 0])
        self.assertTrue(peak * 1024 <= processes[large]["max_rss_bytes"] <= peak * 1024 * 1.05, (peak, processes))
        self.assertGreaterEqual(processes[large]["max_rss_bytes"], 64 << 20)
        self.assertGreater(processes[parent]["user_ns"], 0)
        self.assertNotIn("user_ns", processes[killed])
        self.assertTrue(all(p["name"].startswith("python3") for p in processes.values()), processes)
        text = self.pythia("runs", "show", "1").stdout.decode()
        self.assertRegex(text, rf"\n  {killed} python3\S*: killed, or ended by _exit; 2 spans, own time ")
        self.assertRegex(text, rf"\n  {large} python3\S*: cpu .*, max_rss .*, faults \d+ major, \d+ minor, 2 spans, own time ")

    @unittest.skipIf(SANITIZED, "a sanitizer cannot be loaded into a program of others")
    def test_functions_of_a_library_on_a_relative_path_are_found(self):
        wc = shutil.which("wc")
        libc = re.search(r"=> (/\S*/libc\.so\.6) ", subprocess.run(["ldd", wc], stdout=subprocess.PIPE, text=True, check=True).stdout)[1]
        os.symlink(libc, os.path.join(self.path, "libc.so.6"))
        self.file("points.json", json.dumps([{"name": "read", "function": "read"}]))
        done = self.record("--tag", "v1", "--points", "points.json", "--", wc, "points.json", env=dict(self.environment, LD_LIBRARY_PATH="."))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([p["path"] for p in self.show()["callpaths"]], ["wc:read"])

    def test_an_escalation_names_what_varies_and_only_after_a_regression(self):
        """The times that are judged are made up, so that the machine may be busy; the run after them is a real one."""
        points = self.file("points.json", json.dumps(self.POINTS))
        command = ["python3", self.file("app.py", self.PROGRAM), "slow"]
        for tag, wall in (("old", 1e9), ("same", 1e9), ("new", 2e9)):
            self.records(tag, wall, command=command)
        words = ["--escalate", points]
        done = self.pythia("runs", "regress", "--base", "old", "--candidate", "same", *words)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(self.runs()), 24)
        # Other programs may make the rest of it vary more than what was planted: then it is run again.
        for turn in range(1, 6):
            done = self.pythia("runs", "regress", "--base", "old", "--candidate", "new", *words)
            self.assertEqual(done.returncode, 3, done.stderr)
            runs = self.runs("--tag", "new+trace")
            self.assertEqual(len(runs), turn)
            finding = self.show(max(run["id"] for run in runs))["findings"][0]
            if "load" in finding.get("place", "") and finding["share"] > .5 and finding.get("key"):
                break
        self.assertIn("load", finding["place"])
        self.assertGreater(finding["share"], .5)
        self.assertRegex(finding["key"], r"(^|\W)n(\W|$)")  # the variable: 2 and 3 are slow, 0 and 1 are not


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + [a for a in sys.argv[2:] if a.startswith("Test")], verbosity=1)
