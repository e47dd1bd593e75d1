#!/usr/bin/env python3
"""What tracing costs the services of datasets/testbeds/rpc, in stages: rpc_overhead.py BUILD [--rounds N] [--turns N] [--quick]

The stages are those of SYMBIOSYS (Ramesh et al., IPDPS 2021): ids that are passed on; the four events of each call between
services, at both of its ends; these with all variables, which is full tracing there, against all closed in the same processes
and against others without the library; and then every point that the services have: some fifty spans in a request, one every
6 us.

What counts is the processor time of a request in all services together; the time that it takes is told, too. Each round starts
the services anew. In each turn of it the same requests are sent with all points closed and then, in the same processes, with
those of a stage open (or the other way round), and that is one pair. A stage's cost is the mean of the pairs' ratios without the
fifth of them at either end, since other programs take part in single ones, with its 95 % interval (Tukey and McLaughlin, Sankhya
A 25, 1963). Prints a table and, as its last line, JSON; ends with 1 if a stage costs more than it must. --quick: two
of them, and 1 only if one surely costs more than is held: if the lower end of its interval is above that; with 77 if BUILD has
no services.
"""
import argparse
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

MUST, WHICH_MUST = .02, ("full", "whole", "every")
# What was reached, with a margin: a change must not lose it.
HELD = {"full": .02, "every": .05}
TRIM = .2
SHARDS = 2
RATE = 400  # requests a second
SECONDS = 1  # of each load
WORK_US = 50  # in the handler of each service
CALLS = "get,put,list,call"  # both ends of a call: the names of the servers' points, and the callers' one
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


def interval(values):
    """Trimmed mean, and half of its 95 % interval."""
    values, n = sorted(values), len(values)
    cut = int(TRIM * n)
    left = n - 2 * cut
    if left < 2:
        return statistics.fmean(values), math.inf
    winsorized = [values[cut]] * cut + values[cut:n - cut] + [values[n - cut - 1]] * cut
    t = T95[max(degrees for degrees in T95 if degrees <= left - 1)]
    return statistics.fmean(values[cut:n - cut]), t * statistics.stdev(winsorized) * math.sqrt(n - 1) / math.sqrt(left * (left - 1))


class Services:
    """Shards, store and front of one set, and who reads what they record."""

    def __init__(self, binaries, folder, name, work):
        program, options = SETS[name]
        self.program, self.children, self.told = os.path.join(binaries, "rpc_testbed"), [], {"records": 0, "lost": 0}
        self.gate, self.traced = os.path.join(folder, name), name != "plain"
        os.mkdir(self.gate, 0o700)
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHIA_")}
        self.env["PYTHIA_DIRECTORY"] = self.gate
        path, common = os.path.join(binaries, program), ["--work-rounds", str(work), "--workers", "4", *options]
        if self.traced:
            self.start(self.program, "drain")
        shards = [self.start(path, "shard", "--number", str(i), *common)[1] for i in range(SHARDS)]
        store = self.start(path, "store", *(f"--to={one}" for one in shards), *common)[1]
        self.front = self.start(path, "front", "--to", store, *common)[1]
        self.addresses = [*shards, store, self.front]

    def start(self, *command):
        """The words that it says first."""
        cpus = SERVICES_ON if command[1] != "drain" else OTHERS_ON
        child = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, text=True,
                                 preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.children.append(child)
        return child.stdout.readline().split()

    def run(self, *words):
        return subprocess.run([self.program, *words], env=self.env, capture_output=True, text=True, check=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, OTHERS_ON)).stdout

    def cpu_us(self):
        return sum(json.loads(line)["cpu_us"] for line in self.run("state", *self.addresses).splitlines())

    def load(self, opened, seed):
        """Processor time and median time of a request, in us."""
        if self.traced:
            self.run("open", opened)
        before = self.cpu_us()
        told = json.loads(self.run("load", "--to", self.front, "--rate", str(RATE), "--seconds", str(SECONDS), "--seed", str(seed)))
        return (self.cpu_us() - before) / told["sent"], told["p50_us"]

    def stop(self):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
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


def play(binaries, stages, number, turns, work):
    """One round: {stage: [(processor time, time, of both without it)]}, and what the readers have counted."""
    folder, running = tempfile.mkdtemp(prefix="rpc-overhead-"), {}
    pairs = {stage[0]: [] for stage in stages}
    chance = random.Random(number)
    try:
        for _, _, name, _, base in stages:
            for one in (name, base):
                if one not in running:
                    running[one] = Services(binaries, folder, one, work)
                    running[one].load("*", 99)  # connections, memory, first passes
        for turn in range(turns):
            for stage, _, name, opened, base in chance.sample(stages, len(stages)):
                legs, seed = [(running[name], opened), (running[base], "none")], number * 1000 + turn
                if chance.random() < .5:
                    (without, with_it) = (legs[1][0].load(legs[1][1], seed), legs[0][0].load(legs[0][1], seed))
                else:
                    (with_it, without) = (legs[0][0].load(legs[0][1], seed), legs[1][0].load(legs[1][1], seed))
                pairs[stage].append((*with_it, *without))
        for services in running.values():
            services.stop()
        return pairs, [services.told for services in running.values()]
    finally:
        for services in running.values():
            services.kill()
        shutil.rmtree(folder, True)


def row_of(stage, pairs):
    cost, half = interval([one[0] / one[2] - 1 for one in pairs])
    time, time_half = interval([one[1] / one[3] - 1 for one in pairs])
    return {"row": "rpc_" + stage[0], "name": stage[1], "unit": "1", "pairs": len(pairs), "cost": cost, "low": cost - half,
            "high": cost + half, "cpu_us": statistics.median(one[0] for one in pairs),
            "base_cpu_us": statistics.median(one[2] for one in pairs), "latency": time, "latency_low": time - time_half,
            "latency_high": time + time_half, "must": MUST if stage[0] in WHICH_MUST else None,
            "ok": stage[0] not in WHICH_MUST or cost <= MUST}


def run(build, rounds, turns, stages=STAGES):
    """A row for each stage, printed as they are."""
    binaries = os.path.join(build, "bin")
    work = int(subprocess.run([os.path.join(binaries, "rpc_testbed"), "rounds", "--work-us", str(WORK_US)], capture_output=True,
                              text=True, check=True).stdout)
    pairs, told = {stage[0]: [] for stage in stages}, []
    for number in range(rounds):
        of_round, counts = play(binaries, stages, number, turns, work)
        for name, some in of_round.items():
            pairs[name] += some
        told += counts
    rows = [row_of(stage, pairs[stage[0]]) for stage in stages]
    print(f"{'a request of the demo service':36} {'pairs':>5} {'CPU us':>7} {'of':>7} {'cost':>7} {'95 % interval':>17} {'must':>5} "
          f"{'latency':>8} {'95 % interval':>17}")
    for row in rows:
        print(f"{row['name']:36} {row['pairs']:5} {row['cpu_us']:7.1f} {row['base_cpu_us']:7.1f} {100 * row['cost']:6.2f}% "
              f"{100 * row['low']:7.2f} to {100 * row['high']:5.2f}% {'2 %' if row['must'] else '':>5} {100 * row['latency']:7.1f}% "
              f"{100 * row['latency_low']:7.1f} to {100 * row['latency_high']:5.1f}%{'' if row['ok'] else '  MISSED'}")
    print(f"{sum(one['records'] for one in told)} records were read, {max(one['lost'] for one in told)} lost")
    rows[-1]["lost"] = max(one["lost"] for one in told)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    if given.quick and not os.path.exists(os.path.join(given.build, "bin", "rpc_testbed")):
        sys.exit(77)
    stages = [stage for stage in STAGES if stage[0] in HELD or not given.quick]
    rows = run(given.build, given.rounds, given.turns, stages)
    print(json.dumps(rows))
    if rows[-1]["lost"]:
        sys.exit("records were lost: the reader did not keep up")
    held = [(row["low"] <= HELD[row["row"].removeprefix("rpc_")] if given.quick else row["ok"]) for row in rows if row["must"]]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
