"""Debian's PostgreSQL with a data folder of its own, loads for it, and causes of variance that are planted in it."""
import json
import os
import shutil
import subprocess
import tempfile

# Programs on this machine hand their requests over whole: nothing is waited for.
CYCLES = {"cycle_requests": 300, "quiet_ms": 300}
SERVER = "/usr/lib/postgresql/15/bin"
RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters", "controls", "probe", "rules",
                     "postgresql.yaml")
ALLOW = f"{SERVER}/postgres functions query__start:1\n/sys/kernel/tracing\n"
TABLES = ("create table acc(id int primary key, v int); insert into acc select g, 0 from generate_series(1, 10) g; "
          "create table item(k int, v int); insert into item select g, 0 from generate_series(1, 40000) g; "
          "create index on item(k) where k <= 20000; analyze")
UPDATE = "\\set i random(1, 10)\nupdate acc set v = v + 1 where id = :i;\n"
LOCK = "begin;\nupdate acc set v = v + 1 where id = 3;\nselect pg_sleep(0.02);\ncommit;\nselect pg_sleep(0.03);\n"
LOOK_UP = "\\set i random(1, 25000)\nselect v from item where k = :i;\n"


class Cause:
    """What is planted, in words; what clients do, and how; whether files are written often; what is to be named, and by which key."""

    def __init__(self, words, loads, request, named, storm=False, key=None):
        self.words, self.loads, self.request, self.named, self.storm, self.key = words, loads, request, named, storm, key


CAUSES = {
    "lock": Cause("a client that holds the lock of row 3 for 20 ms at a time",
                  [(UPDATE, "-c 4 -R 200"), (LOCK, "-c 1")], "update acc set v = v+? where id = ?;", "lock__wait"),
    "index": Cause("an index that has only half of the rows",
                   [(LOOK_UP, "-c 4 -R 200")], "select v from item where k = ?;", "buffer__read"),
    "fsync": Cause("a program that makes the disk write",
                   [(UPDATE, "-c 1 -R 100")], "update acc set v = v+? where id = ?;", "wal_", True, "kernel.block_io_ns"),
}


class Postgres:
    """A server with a data folder of its own, reached by a Unix socket alone."""

    def __init__(self, fsync=False, parent="/tmp"):
        self.folder = tempfile.mkdtemp(prefix="pythia-postgres.", dir=parent)
        self.children, self.running = [], False
        shutil.chown(self.folder, "postgres")
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync={'on' if fsync else 'off'}"
        self.run(f"{SERVER}/initdb -D {self.folder}/data -A trust")
        self.run(f'{SERVER}/pg_ctl -w -D {self.folder}/data -o "{options}" -l {self.folder}/log start')
        self.running = True
        self.run(f"{SERVER}/psql -q -h {self.folder} postgres -c '{TABLES}'")

    def run(self, command):
        subprocess.run(["su", "postgres", "-c", command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       cwd="/")

    def load(self, script, options):
        """pgbench with a script; ended by stop()."""
        path = os.path.join(self.folder, f"load{len(self.children)}.sql")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        command = f"exec {SERVER}/pgbench -h {self.folder} -n -f {path} {options} postgres"
        self.children.append(subprocess.Popen(["su", "postgres", "-c", command], stdout=subprocess.PIPE,
                                              stderr=subprocess.STDOUT, text=True, cwd="/"))
        return self.children[-1]

    def storm(self, seconds):
        """Write to the disk of the data folder, again and again."""
        command = f"for i in $(seq {seconds * 2}); do dd if=/dev/zero of={self.folder}/storm bs=1M count=48 conv=fsync; sleep .2; done"
        self.children.append(subprocess.Popen(["timeout", str(seconds), "sh", "-c", command], stderr=subprocess.DEVNULL))

    def plant(self, cause, seconds):
        """Begin the loads of a cause; they end by themselves after so long."""
        if cause.storm:
            self.storm(seconds)
        return [self.load(script, f"{options} -T {seconds}") for script, options in cause.loads]

    def stop(self):
        for child in self.children:
            child.terminate()
            child.wait()
        if self.running:
            self.run(f"{SERVER}/pg_ctl -D {self.folder}/data -m immediate stop")
        shutil.rmtree(self.folder)


def wait_for_points(pythiad):
    """Until every point is open, as while the search space is learnt: requests before that would not show them all. Where a single step
    is very expensive, a function that needs one is refused, and quarantined."""
    def are_open():
        points = pythiad.ctl("points")
        return points and all(point["quarantined"] or (point["wanted"] and point["result"] == "applied") for point in points)
    pythiad.until(60, "all points are open", are_open)


def explains(pythiad, key):
    """Whether the report names this key, in some cycle soon: the first verdict may come before enough of its values."""
    return pythiad.until(40, f"the report names {key}", lambda: key in json.dumps(pythiad.ctl("report")))


def verdict_of(pythiad, request):
    """The line of the log that names a cause of these requests with confidence, or None."""
    with open(pythiad.log, encoding="utf-8") as log:
        return next((line.strip() for line in log
                     if "Verdict: " in line and request in line and "confidence=high" in line), None)
