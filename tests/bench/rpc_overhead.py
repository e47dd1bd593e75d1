#!/usr/bin/env python3
"""What tracing costs the services of datasets/testbeds/rpc, in stages: rpc_overhead.py BUILD [--pace P] [--rounds N] [--turns N]

The stages are those of SYMBIOSYS (Ramesh et al., IPDPS 2021): ids that are passed on; the four events of each call between
services, at both of its ends; these with all variables, which is full tracing there, against all closed in the same processes
and against others without the library; and then every point that the services have: some fifty spans in a request, one every
6 us. Requests come at two paces: so that there are always some under way, as in that paper, where the time of a whole job is
told; and so that services sleep most of the time, where each call is made by a thread that was just woken and finds nothing in
the caches.

What counts is the processor time of a request in all services together; the time that it takes is told, too. Each round starts
the services anew, and warms them: what is done once in a process is not what tracing costs. In each turn of it the same requests
are sent with all points closed and then, in the same processes, with those of a stage open (or the other way round), in some
40 ms, since what else the machine does changes from moment to moment. The cost in a round is the mean of its turns' ratios
without the fifth of them at either end, since other programs take part in single ones; a stage's cost is the mean of its rounds,
with its 95 % interval. Prints a table for each pace and, as its last line, JSON; ends with 1 if a stage costs more than it must.
"""
import argparse
import collections
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

MUST, WHICH_MUST = .02, ("full", "whole", "every")
TRIM = .2
SHARDS = 2
# How requests come, and how many in one load: some 40 ms, in which the machine does not change much.
Pace = collections.namedtuple("Pace", "what options requests")
PACES = {
    "capacity": Pace("eight under way", ["--outstanding", "8"], 150),
    "paced": Pace("400 a second", ["--rate", "400"], 16),
}
SETTLING = 8  # requests before each load: these processes were idle, and what is open may be another set
WORK_US = 50  # in the handler of each service
CALLS = "get,put,list,call"  # both ends of a call: the names of the servers' points, and the callers' one
WARM = 2000  # requests with every point open: twice what fills the rings
# The services share one processor and who asks and reads has the others, so that what is measured is not who ran where.
SERVICES_ON = {min(os.sched_getaffinity(0))}
OTHERS_ON = os.sched_getaffinity(0) - SERVICES_ON or SERVICES_ON
# set of processes: program, options of the services
SETS = {
    "plain": ("rpc_testbed_plain", ["--no-variables"]),
    "points": ("rpc_testbed", ["--no-variables"]),
    "variables": ("rpc_testbed", []),
}
# name, what it is, set, names that are open; what is compared with: that set with all closed, or another one
STAGES = [
    ("ids", "ids passed on, against no library", "variables", "none", "plain"),
    ("calls", "four events of each call", "points", CALLS, "points"),
    ("full", "full: and variables", "variables", CALLS, "variables"),
    ("whole", "full, against no library", "variables", CALLS, "plain"),
    ("every", "every point, and variables", "variables", "*", "variables"),
]
# Student's t, two-sided 95 %, by degrees of freedom: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179,
       15: 2.131, 20: 2.086, 25: 2.060, 30: 2.042, 40: 2.021, 60: 2.000, 100: 1.984}


def trimmed(values):
    cut = int(TRIM * len(values))
    return statistics.fmean(sorted(values)[cut:len(values) - cut])


def interval(values):
    """Mean, and half of its 95 % interval."""
    n = len(values)
    if n < 2:
        return statistics.fmean(values), math.inf
    t = T95[max(degrees for degrees in T95 if degrees <= n - 1)]
    return statistics.fmean(values), t * statistics.stdev(values) / math.sqrt(n)


class Services:
    """Shards, store and front of one set, who reads what they record, and who asks."""

    def __init__(self, binaries, folder, name, work, pace):
        program, options = SETS[name]
        self.program, self.children, self.told = os.path.join(binaries, "rpc_testbed"), [], {"records": 0, "lost": 0}
        self.gate, self.traced, self.pace = os.path.join(folder, name), name != "plain", pace
        os.mkdir(self.gate, 0o700)
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHIA_")}
        self.env["PYTHIA_DIRECTORY"] = self.gate
        path, common = os.path.join(binaries, program), ["--work-rounds", str(work), "--workers", "4", *options]
        if self.traced:
            self.start(OTHERS_ON, self.program, "drain")
        first = len(self.children)
        shards = [self.start(SERVICES_ON, path, "shard", "--number", str(i), *common)[1] for i in range(SHARDS)]
        store = self.start(SERVICES_ON, path, "store", *(f"--to={one}" for one in shards), *common)[1]
        self.front = self.start(SERVICES_ON, path, "front", "--to", store, *common)[1]
        # The clock of a process by its id, as clock_getcpuclockid(3) gives it: what the process does not notice.
        self.clocks = [~child.pid << 3 | 2 for child in self.children[first:]]
        self.warm()
        self.asker = self.spawn(OTHERS_ON, self.program, "load", "--to", self.front, "--turns", *PACES[pace].options)
        self.load("none", 1)

    def spawn(self, cpus, *command):
        child = subprocess.Popen(command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.children.append(child)
        return child

    def start(self, cpus, *command):
        """The words that it says first."""
        return self.spawn(cpus, *command).stdout.readline().split()

    def run(self, *words):
        return subprocess.run([self.program, *words], env=self.env, capture_output=True, text=True, check=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, OTHERS_ON)).stdout

    def open(self, names):
        """Also what is open, and for services that have no points: those that are compared have to be idle for as long before."""
        self.run("open", names)

    def warm(self):
        """First passes, since what was never passed cannot be opened; and all pages of the rings."""
        self.run("load", "--to", self.front, "--requests", str(SETTLING))
        self.open("*")
        self.run("load", "--to", self.front, "--requests", str(WARM), *PACES["capacity"].options)

    def cpu_us(self):
        return 1e6 * sum(time.clock_gettime(clock) for clock in self.clocks)

    def send(self, requests, seed):
        self.asker.stdin.write(f"{requests} {seed}\n")
        self.asker.stdin.flush()
        return json.loads(self.asker.stdout.readline())

    def load(self, opened, seed):
        """Processor time of a request, in us, and its time: the median from its start to its end, or, if there are always some
        under way, the time of all by their number."""
        self.open(opened)
        self.send(SETTLING, seed)
        before = self.cpu_us()
        told = self.send(PACES[self.pace].requests, seed)
        after = self.cpu_us()
        return (after - before) / told["sent"], 1e6 * told["seconds"] / told["sent"] if self.pace == "capacity" else told["p50_us"]

    def stop(self):
        self.asker.stdin.close()
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
            child.stdin = None
            out, _ = child.communicate(timeout=60)
            if child is self.children[0] and self.traced:  # the reader, last: it has read all that they have left
                self.told = json.loads(out.splitlines()[-1])
        self.children = []

    def kill(self):
        """And remove the memory that stays when its processes have gone."""
        for child in self.children:
            child.kill()
            child.wait()
        for name in os.listdir(self.gate):
            if name.startswith(("area-", "switchboard-")):
                with open(os.path.join(self.gate, name), encoding="utf-8", errors="replace") as file:
                    subprocess.run(["ipcrm", "-m", file.read().split()[2]], check=False, capture_output=True)


def play(binaries, pace, number, turns, work):
    """One round: {stage: [(processor time, time, of both without it)]}, and what the readers have counted."""
    folder, running = tempfile.mkdtemp(prefix="rpc-overhead-"), {}
    pairs = {stage[0]: [] for stage in STAGES}
    chance = random.Random(number)
    try:
        sets = sorted({one for _, _, name, _, base in STAGES for one in (name, base)})
        for name in chance.sample(sets, len(sets)):  # two of one program may differ by half a percent
            running[name] = Services(binaries, folder, name, work, pace)
        for turn in range(turns):
            for stage, _, name, opened, base in chance.sample(STAGES, len(STAGES)):
                legs, seed = [(running[name], opened), (running[base], "none")], number * 1000 + turn
                order = chance.choice(((0, 1), (1, 0)))
                told = {leg: legs[leg][0].load(legs[leg][1], seed) for leg in order}
                pairs[stage].append((*told[0], *told[1]))
        for services in running.values():
            services.stop()
        return pairs, [services.told for services in running.values()]
    finally:
        for services in running.values():
            services.kill()
        shutil.rmtree(folder, True)


def row_of(stage, pace, rounds):
    """Of a stage's rounds, each of them the pairs of its turns. Ratios are averaged by their logarithms: the mean of a / b is
    larger than 1 where a and b are alike, by the variance of b."""
    def cost(with_it, without):
        mean, half = interval([trimmed([math.log(one[with_it] / one[without]) for one in pairs]) for pairs in rounds])
        return [math.expm1(value) for value in (mean, mean - half, mean + half)]

    cpu, took = cost(0, 2), cost(1, 3)
    every = [one for pairs in rounds for one in pairs]
    return {"row": f"rpc_{pace}_{stage[0]}", "name": stage[1], "unit": "1", "rounds": len(rounds), "cost": cpu[0], "low": cpu[1],
            "high": cpu[2], "cpu_us": statistics.median(one[0] for one in every),
            "base_cpu_us": statistics.median(one[2] for one in every), "time": took[0], "time_low": took[1], "time_high": took[2],
            "must": MUST if stage[0] in WHICH_MUST else None, "ok": stage[0] not in WHICH_MUST or cpu[0] <= MUST}


def run(build, pace, rounds, turns):
    """A row for each stage, printed as they are."""
    binaries = os.path.join(build, "bin")
    work = int(subprocess.run([os.path.join(binaries, "rpc_testbed"), "rounds", "--work-us", str(WORK_US)], capture_output=True,
                              text=True, check=True).stdout)
    played, told = {stage[0]: [] for stage in STAGES}, []
    for number in range(rounds):
        of_round, counts = play(binaries, pace, number, turns, work)
        for name, pairs in of_round.items():
            played[name].append(pairs)
        told += counts
    rows = [row_of(stage, pace, played[stage[0]]) for stage in STAGES]
    print(f"{'a request, ' + PACES[pace].what:36} {'rounds':>6} {'CPU us':>7} {'of':>7} {'cost':>7} {'95 % interval':>17} {'must':>5} "
          f"{'time':>8} {'95 % interval':>17}")
    for row in rows:
        print(f"{row['name']:36} {row['rounds']:6} {row['cpu_us']:7.1f} {row['base_cpu_us']:7.1f} {100 * row['cost']:6.2f}% "
              f"{100 * row['low']:7.2f} to {100 * row['high']:5.2f}% {'2 %' if row['must'] else '':>5} {100 * row['time']:7.1f}% "
              f"{100 * row['time_low']:7.1f} to {100 * row['time_high']:5.1f}%{'' if row['ok'] else '  MISSED'}")
    print(f"{sum(one['records'] for one in told)} records were read, {max(one['lost'] for one in told)} lost", flush=True)
    rows[-1]["lost"] = max(one["lost"] for one in told)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--pace", choices=list(PACES), help="only so (both, unless given)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=60)
    given = parser.parse_args()
    rows = [row for pace in ([given.pace] if given.pace else PACES)
            for row in run(given.build, pace, given.rounds, given.turns)]
    print(json.dumps(rows))
    if any(row.get("lost") for row in rows):
        sys.exit("records were lost: the reader did not keep up")
    sys.exit(0 if all(row["ok"] for row in rows if row["must"]) else 1)


if __name__ == "__main__":
    main()
