#!/usr/bin/env python3
"""Members of a consumer group that make one search together, by a topic of evidence, with the mock brokers of librdkafka."""
import json
import os
import random
import re
import signal
import subprocess
import time
import unittest

import otlp
import rig
from agent import Agent
from test_kafka import Mock, TOPIC

EVIDENCE = "pythia.evidence"
PARTITIONS = 4
MSG_SIZE_TOO_LARGE = 10
REQUESTS = 120


def make_requests(count, seed, root="checkout"):
    """Requests of one type, most of whose variance is in the child "charge", in the order of sending."""
    chance = random.Random(seed)
    return [otlp.request(("cart", "charge", "mail"), service_root=root, slow=("charge", int(chance.expovariate(1) * 20e6)))
            for _ in range(count)]


class Members(unittest.TestCase):
    def begin(self):
        mock = Mock(self, partitions=PARTITIONS)
        mock.command("topic", EVIDENCE, 1)
        return mock

    def start(self, mock, *options, space=None, requests=REQUESTS, group="pythia", **more):
        return rig.Pythiad(self, "--quiet-ms=200", "--rootless-ms=60000", f"--cycle-requests={requests}", "--cycle-seconds=60",
                           "--learn-requests=20", *([f"--space={space}"] if space else []),
                           f"--kafka={mock.url(f'evidence={EVIDENCE}', group=group)}", *options, **more)

    def search(self, daemon):
        return daemon.get("/v1/status").json["kafka"]["search"]

    def until(self, what, *daemons):
        rig.until(what, 40, lambda: "\n".join(f"{self.search(one)}\n{one.log[-3000:]}" for one in daemons))

    def together(self, *daemons):
        """All of them have partitions, and know of each other."""
        def met():
            shares = [one.get("/v1/status").json["kafka"] for one in daemons]
            owned = sorted(p["partition"] for share in shares for p in share["partitions"])
            return owned == list(range(PARTITIONS)) and all(share["partitions"] for share in shares)
        self.until(met, *daemons)

    def finished(self, count, *daemons):
        """So many requests have been seen whole by these members together."""
        self.until(lambda: sum(one.metric('pythia_requests_finished_total{by="any"}') for one in daemons) == count, *daemons)

    def rounds(self, count, requests, *daemons):
        self.until(lambda: all(self.search(one)["rounds"] >= count for one in daemons), *daemons)
        for one in daemons:
            self.assertEqual((self.search(one)["rounds"], self.search(one)["requests"]), (count, requests))

    def send(self, mock, requests):
        for at, spans in enumerate(requests):
            mock.send(otlp.protobuf(spans), at % PARTITIONS)

    def space(self, folder):
        """A file with the search space of such requests."""
        path = os.path.join(folder, "traces.json")
        with open(path, "wb") as to:
            to.write(otlp.as_json([span for spans in make_requests(30, 0) for span in spans]))
        with open(f"{folder}/space.json", "wb") as to:
            subprocess.run([rig.program("pythia"), "space", "build", path], stdout=to, check=True, timeout=rig.patience(60))
        return f"{folder}/space.json"

    def forget(self, mock, *daemons):
        """Let the topic of evidence forget all that it has: the mock's has room for 5 MB. The offset of the last message. These members
        read each message before the next one is sent: who misses any waits for a snapshot of a member that has not."""
        path = os.path.join(mock.folder, "filler")
        with open(path, "wb") as to:
            to.write(bytes(2500000))
        for _ in range(4):
            last = int(mock.command("send", EVIDENCE, 0, "key", path))
            self.until(lambda at=last: all(self.search(one)["position"] > at for one in daemons), *daemons)
        return last

    def snapshot(self, after, *daemons):
        """A member has written a snapshot after that offset, and all have read it."""
        self.until(lambda: all((self.search(one)["snapshot"] or -1) > after for one in daemons), *daemons)

    def found(self, daemon):
        """What was found and decided, without times."""
        verdicts = daemon.get("/v1/verdicts").json
        for verdict in verdicts:
            del verdict["since_unix_ns"]
        decisions = daemon.get("/v1/decisions?count=1000").json
        for decision in decisions:
            del decision["unix_ns"], decision["start_unix_ns"]
            decision["reason"] = decision["reason"].split("; measured after it was opened")[0]  # effects are not shared
        return verdicts, decisions

    def compare(self, count):
        """(the mock, a space, one pythiad that gets everything, so many members, cycle(n): the n-th cycle of all of them)"""
        space, mock = self.space(rig.make_folder(self)), self.begin()
        alone = rig.Pythiad(self, "--quiet-ms=200", f"--cycle-requests={REQUESTS}", "--cycle-seconds=60", f"--space={space}",
                            "--observe-only")
        members = [self.start(mock, "--observe-only", space=space) for _ in range(count)]
        self.together(*members)

        def cycle(number):
            requests = make_requests(REQUESTS, number)
            for spans in requests:
                self.assertEqual(alone.send(otlp.protobuf(spans)).status, 200)
            self.send(mock, requests)
            self.rounds(number, number * REQUESTS, *members)
            rig.until(lambda: alone.get("/v1/status").json["cycles"] == number, 40, lambda: alone.log)
        return mock, space, alone, members, cycle


class Evidence(Members):
    """Members decide as one, whoever comes, goes or misses evidence."""

    def test_three_members_decide_as_one_pythiad_that_gets_all(self):
        _, _, alone, members, cycle = self.compare(3)
        for number in range(1, 7):
            cycle(number)
            expected = self.found(alone)
            for one in members:
                self.assertEqual(self.search(one)["members"], 3)
                self.assertEqual(self.found(one), expected)
        self.assertEqual(expected[0][0]["sentence"], "shop:charge accounts for 100 % of the latency variance (100 to 100 %).")
        self.assertEqual(members[0].stop(), 0)

    def test_what_is_open_is_learnt_by_one_and_known_to_all(self):
        mock = self.begin()
        members = [self.start(mock, "--observe-only") for _ in range(2)]
        self.together(*members)
        self.send(mock, make_requests(REQUESTS, 1))
        self.until(lambda: all(self.search(one)["set"] == 1 for one in members), *members)
        spaces = [one.get("/v1/status").json["learnt_types"] for one in members]
        self.assertEqual(spaces, [1, 1])
        self.send(mock, make_requests(REQUESTS, 2))
        self.rounds(1, REQUESTS, *members)
        self.assertEqual(self.found(members[0]), self.found(members[1]))

    def test_a_killed_member_loses_no_evidence_and_counts_none_twice(self):
        """An unfinished request keeps an offset back, so that requests after it are read again that are evidence already."""
        folder = rig.make_folder(self)
        space = self.space(folder)
        mock = self.begin()
        members = [self.start(mock, "--observe-only", space=space) for _ in range(2)]
        self.together(*members)
        *children, root = make_requests(1, 9)[0]
        mock.send(otlp.protobuf(children), 0)
        self.send(mock, make_requests(REQUESTS, 1))
        self.rounds(1, REQUESTS, *members)
        rig.until(lambda: mock.committed(PARTITIONS)[0] == 0, 20, lambda: mock.committed(PARTITIONS))
        owner = next(one for one in members if any(p["partition"] == 0 for p in one.get("/v1/status").json["kafka"]["partitions"]))
        other = next(one for one in members if one is not owner)
        # These are in nobody's evidence yet.
        self.send(mock, make_requests(40, 2))
        self.finished(REQUESTS + 40, *members)
        owner.kill()
        self.until(lambda: len(other.get("/v1/status").json["kafka"]["partitions"]) == PARTITIONS, other)
        self.send(mock, make_requests(60, 3))
        self.until(lambda: all(p["lag"] == 0 for p in other.get("/v1/status").json["kafka"]["partitions"]), other)
        rig.until(lambda: other.get("/v1/status").json["open_requests"] == 1, 20, lambda: other.log)
        self.assertEqual(self.search(other)["rounds"], 1)  # 100 requests since then: not 130
        mock.send(otlp.protobuf([root]), 0)
        self.send(mock, make_requests(REQUESTS - 40 - 60 - 1, 4))
        self.rounds(2, 2 * REQUESTS, other)

        # Who comes later stands where the others stand, and goes on as they do.
        third = self.start(mock, "--observe-only", space=space)
        self.together(other, third)
        self.rounds(2, 2 * REQUESTS, third)
        self.assertEqual(self.found(third), self.found(other))
        self.send(mock, make_requests(REQUESTS, 5))
        self.rounds(3, 3 * REQUESTS, other, third)
        self.assertEqual(self.found(third), self.found(other))

    def decided(self, daemon, last):
        """The verdicts, and the decisions of the last cycles."""
        verdicts, decisions = self.found(daemon)
        return verdicts, [one for one in decisions if one["cycle"] > daemon.get("/v1/status").json["cycles"] - last]

    def test_who_joins_after_the_evidence_is_gone_decides_as_one_pythiad_that_saw_it(self):
        """One that is not restarted and gets everything is compared with members of which none has seen all."""
        mock, space, alone, members, cycle = self.compare(2)
        for number in range(1, 4):
            cycle(number)
        self.snapshot(self.forget(mock, *members), *members)
        first = members.pop(0)
        first.kill()
        later = self.start(mock, "--observe-only", space=space)
        later.logged(r"Begins with a snapshot of the search: topic=pythia.evidence, offset=\d+, rounds=3")
        members.append(later)
        self.together(*members)
        self.assertEqual(later.get("/v1/status").json["cycles"], 0)
        for number in range(4, 7):
            cycle(number)
        expected = self.found(alone)
        self.assertEqual(self.found(members[0]), expected)
        verdicts, decisions = self.found(later)
        self.assertEqual(verdicts, expected[0])
        self.assertEqual([one["trace_point"] for one in decisions], [one["trace_point"] for one in expected[1]][:len(decisions)])

    def test_all_members_may_stop_and_the_search_goes_on_from_the_snapshot(self):
        mock = self.begin()
        members = [self.start(mock, "--observe-only") for _ in range(2)]
        self.together(*members)
        self.send(mock, make_requests(REQUESTS, 1))
        self.until(lambda: all(self.search(one)["set"] == 1 for one in members), *members)
        self.send(mock, make_requests(REQUESTS, 2))
        self.until(lambda: all(self.search(one)["rounds"] == 1 for one in members), *members)
        self.snapshot(self.forget(mock, *members), *members)
        for one in members:
            one.kill()
        again = [self.start(mock, "--observe-only") for _ in range(2)]
        self.together(*again)
        for one in again:
            one.logged("Begins with a snapshot of the search")
            self.assertEqual(one.get("/v1/status").json["learnt_types"], 1)
        self.send(mock, make_requests(REQUESTS, 3))
        self.until(lambda: all(self.search(one)["rounds"] == 2 for one in again), *again)
        self.assertEqual(self.found(again[0]), self.found(again[1]))

    def test_without_snapshot_a_member_waits_for_one_and_says_so(self):
        """What is left of a search of which the beginning is gone."""
        mock = self.begin()
        self.forget(mock)
        path = os.path.join(mock.folder, "late")
        with open(path, "wb") as to:
            to.write(b'{"format":"pythia.part/1","group":"pythia","name":"n","offsets":{"0":[7,9]},"done":[]}\n')
        mock.command("send", EVIDENCE, 0, "key", path)
        one = self.start(mock, "--observe-only")
        one.logged(r"pythia.evidence begins at offset \d+, and has no snapshot of what the group found before: waits for one, which "
                   r"a member that has missed nothing writes within 10 s; if there is none, the search begins afresh after 30 s", 20)
        self.assertEqual(one.metric("pythia_kafka_search_following"), 0)
        self.assertEqual(one.get("/v1/status").json["kafka"]["partitions"], [])
        self.assertEqual(one.stop(), 0)

    def test_when_all_members_missed_evidence_they_go_on_from_the_search_of_one(self):
        folder = rig.make_folder(self)
        space = self.space(folder)
        mock = self.begin()
        members = [self.start(mock, "--observe-only", space=space) for _ in range(2)]
        self.together(*members)
        self.send(mock, make_requests(REQUESTS, 1))
        self.rounds(1, REQUESTS, *members)
        self.snapshot(-1, *members)
        for one in members:  # nobody reads what the topic has before it is gone
            os.kill(one.pid, signal.SIGSTOP)
        self.forget(mock)
        for one in members:
            os.kill(one.pid, signal.SIGCONT)
        for one in members:
            one.logged("Evidence is gone that was not read, looks for a snapshot", 40)
        for one in members:
            one.logged("The search begins afresh from where one member had it, because all members had missed evidence: "
                       r"topic=pythia.evidence, offset=\d+, rounds=1", 60)
        self.together(*members)
        self.send(mock, make_requests(REQUESTS, 2))
        self.rounds(2, 2 * REQUESTS, *members)
        self.assertEqual(self.found(members[0]), self.found(members[1]))
        for one in members:
            self.assertEqual(self.search(one)["afresh"], 1)
            self.assertIn("began afresh 1 time, because all members had missed evidence", one.ctl("status").stdout)
        # A member that begins later stands where they stand.
        later = self.start(mock, "--observe-only", space=space)
        self.together(*members, later)
        self.assertEqual(self.search(later)["rounds"], 2)


class Topic(Members):
    """What is on the topic of evidence: snapshots, broken and foreign messages, orders by hand, settings; and a topic or brokers that
    cannot be used. The tests of both classes take minutes, and run beside each other."""

    def test_a_topic_that_has_none_of_the_group_begins_a_new_search(self):
        mock = self.begin()
        self.forget(mock)
        one = self.start(mock, "--observe-only")
        one.logged("Begins a new search, because the topic has none of the group: topic=pythia.evidence, group=pythia", 20)
        self.together(one)
        self.send(mock, make_requests(REQUESTS, 1))
        self.until(lambda: self.search(one)["set"] == 1, one)

    def test_a_broken_snapshot_is_passed_over_for_the_one_before(self):
        folder = rig.make_folder(self)
        space = self.space(folder)
        mock = self.begin()
        first = self.start(mock, "--observe-only", space=space)
        self.together(first)
        self.send(mock, make_requests(REQUESTS, 1))
        self.rounds(1, REQUESTS, first)
        self.snapshot(-1, first)
        path = os.path.join(mock.folder, "broken")
        with open(path, "wb") as to:
            to.write(b'{"format":"pythia.part/1","group":"pythia","name":"n","snapshot":{"position":0}}\n{"format":"pythia.snapshot/7"}\n')
        offset = mock.command("send", EVIDENCE, 0, "key", path)
        later = self.start(mock, "--observe-only", space=space)
        later.logged(rf"Skipped a message that is no evidence: topic=pythia.evidence, offset={offset}, reason=it has the format "
                     r"pythia.snapshot/7, and this pythiad reads pythia.snapshot/2; run the same version of pythiad everywhere")
        later.logged("Begins with a snapshot of the search: topic=pythia.evidence, offset=1, rounds=1")
        self.until(lambda: self.search(later)["rounds"] == 1, later)

    def send_snapshot(self, mock, about):
        """A snapshot that nobody can read; its offset."""
        path = os.path.join(mock.folder, "unreadable")
        with open(path, "w", encoding="ascii") as to:
            to.write(json.dumps({"format": "pythia.part/1", "group": "pythia", "name": "n", "snapshot": about}) +
                     '\n{"format":"pythia.snapshot/7"}\n')
        return int(mock.command("send", EVIDENCE, 0, "key", path))

    def is_skipped_once(self, member, offset):
        member.logged(f"Skipped a message that is no evidence: .*offset={offset}, reason=it has the format pythia.snapshot/7", 30)
        self.until(lambda: member.metric("pythia_kafka_search_following") == 1, member)
        self.assertEqual(len(re.findall(f"Skipped a message .*offset={offset},", member.log)), 1, member.log)

    def test_a_broken_snapshot_that_is_all_there_is_is_passed_over_once(self):
        mock = self.begin()
        self.assertEqual(self.send_snapshot(mock, {"position": 0}), 0)
        member = self.start(mock, "--observe-only")
        self.is_skipped_once(member, 0)
        self.together(member)

    def test_a_broken_message_that_begins_the_search_afresh_stops_nobody(self):
        mock = self.begin()
        member = self.start(mock, "--observe-only", space=self.space(rig.make_folder(self)))
        self.together(member)
        self.send(mock, make_requests(REQUESTS, 1))
        self.rounds(1, REQUESTS, member)
        self.snapshot(-1, member)
        position = self.search(member)["position"]
        offset = self.send_snapshot(mock, {"position": position, "afresh": True})
        self.is_skipped_once(member, offset)
        self.send(mock, make_requests(REQUESTS, 2))
        self.rounds(2, 2 * REQUESTS, member)

    def test_a_snapshot_that_comes_after_a_broken_one_is_begun_with(self):
        mock = self.begin()
        space = self.space(rig.make_folder(self))
        first = self.start(mock, "--observe-only", space=space)
        self.together(first)
        self.send(mock, make_requests(REQUESTS, 1))
        self.rounds(1, REQUESTS, first)
        self.snapshot(-1, first)
        last = self.forget(mock, first)
        offset = self.send_snapshot(mock, {"position": last + 1})
        later = self.start(mock, "--observe-only", space=space)
        later.logged("Begins with a snapshot of the search: .*rounds=1", 60)
        self.assertLessEqual(len(re.findall(f"Skipped a message .*offset={offset},", later.log)), 1, later.log)

    def test_a_member_that_joins_during_a_cycle_takes_no_evidence_away(self):
        folder = rig.make_folder(self)
        space = self.space(folder)
        mock = self.begin()
        first = self.start(mock, "--observe-only", space=space)
        self.together(first)
        self.send(mock, make_requests(80, 1))
        self.finished(80, first)
        second = self.start(mock, "--observe-only", space=space)
        self.together(first, second)
        self.assertEqual(self.search(first)["rewound"], 1)
        self.send(mock, make_requests(REQUESTS - 80, 2))
        self.rounds(1, REQUESTS, first, second)

    def test_orders_by_hand_reach_all_members_and_those_that_come_later(self):
        mock = self.begin()
        members = [self.start(mock), self.start(mock)]
        self.together(*members)

        def agent(member):
            one = Agent(member, "shop", ["checkout", "cart", "charge"])
            one.report()
            return one
        agents = [agent(member) for member in members]
        rig.until(lambda: members[0].ctl("close", "shop:cart").returncode == 0, 20, lambda: members[0].log)
        for one in agents:
            rig.until(lambda: not one.is_open("cart"), 20, lambda: one.pythiad.log)
        self.assertEqual(members[1].ctl("open", "shop:charge").returncode, 0)
        for one in agents:
            rig.until(lambda: one.is_open("charge"), 20, lambda: one.pythiad.log)
        self.assertEqual(members[1].ctl("off").returncode, 0)
        for one in members:
            rig.until(lambda: one.get("/v1/status").json["doing"] == "off", 20, lambda: one.log)
        self.assertEqual(members[0].ctl("on").returncode, 0)
        for one in members:
            rig.until(lambda: one.get("/v1/status").json["doing"] == "works", 20, lambda: one.log)
        third = self.start(mock)
        later = agent(third)
        rig.until(lambda: later.is_open("charge") and not later.is_open("cart"), 20, lambda: third.log)
        self.assertEqual(third.get("/v1/status").json["doing"], "works")
        # An order that another one takes back is gone everywhere.
        self.assertEqual(members[0].ctl("unpin", "shop:cart").returncode, 0)
        rig.until(lambda: later.is_open("cart"), 20, lambda: third.log)
        # One for some instances holds for these at each member, also at one that comes later.
        other = Agent(members[1], "shop", ["checkout", "cart", "charge"], instance="2")
        other.report()
        self.assertEqual(members[0].ctl("close", "/shop/1/charge").returncode, 0)
        for one in [*agents, later, agent(self.start(mock))]:
            rig.until(lambda: not one.is_open("charge"), 20, lambda: one.pythiad.log)
        rig.until(lambda: other.is_open("charge"), 20, lambda: members[1].log)

    def test_while_no_broker_answers_switches_stay_and_then_the_search_goes_on(self):
        folder = rig.make_folder(self)
        space = self.space(folder)
        mock = self.begin()
        members = [self.start(mock, "--points=0", space=space) for _ in range(2)]
        self.together(*members)
        agents = []
        for one in members:
            agents.append(Agent(one, "shop", ["checkout", "cart", "charge"]))
            agents[-1].report()
        rig.until(lambda: members[0].ctl("open", "shop:charge").returncode == 0, 20, lambda: members[0].log)
        for one in agents:
            rig.until(lambda: one.is_open("charge"), 20, lambda: one.pythiad.log)
        mock.command("broker", "down")
        for one in members:
            one.logged("Cannot read from Kafka: .*brokers are down.*: trace points stay as they are, and the search of the group goes on "
                       "when one answers", 60)
            self.assertIn("trace points stay as they are", one.ctl("status").stdout)
        for one in agents:
            self.assertTrue(one.is_open("charge"))
            self.assertFalse(one.is_open("cart"))
        mock.command("broker", "up")

        def polled():  # an agent that was silent for too long is lost, and requests that it may have served are no evidence
            return all(one.is_open("charge") for one in agents)
        self.until(lambda: polled() and all(one.get("/v1/status").json["in_force"] for one in members), *members)
        self.send(mock, make_requests(REQUESTS, 1))
        self.until(lambda: polled() and all(self.search(one)["rounds"] >= 1 for one in members), *members)
        self.rounds(1, REQUESTS, *members)
        for one in members:
            rig.until(lambda: one.get("/v1/status").json["kafka"]["problem"] is None, 30, lambda: one.log)
        self.assertEqual(members[0].stop(), 0)

    def test_a_member_that_nobody_answers_ends_when_it_is_told_to(self):
        mock = self.begin()
        member = self.start(mock, space=self.space(rig.make_folder(self)))
        self.together(member)
        mock.command("broker", "down")
        time.sleep(12)  # longer than from one question to brokers to the next: it has asked again
        self.assertEqual(member.stop(30), 0)

    def test_members_with_other_settings_take_no_part_and_say_so(self):
        folder = rig.make_folder(self)
        space = self.space(folder)
        mock = self.begin()
        first = self.start(mock, "--observe-only", space=space)
        self.together(first)
        self.send(mock, make_requests(REQUESTS, 1))
        self.rounds(1, REQUESTS, first)
        other = self.start(mock, "--observe-only", "--min-cov=0.2", space=space)
        self.until(lambda: self.search(other)["differs"], other)
        self.assertRegex(other.get("/v1/status").json["kafka"]["problem"],
                         r"begun with other settings than ours: start pythiad with those, .* theirs are: .*min-cov=0\.05")
        self.assertEqual(self.search(other)["rounds"], 0)
        self.assertEqual(other.get("/v1/status").json["kafka"]["partitions"], [])
        self.assertEqual(other.metric("pythia_kafka_search_following"), 0)

    def test_what_is_no_evidence_is_skipped_and_counted(self):
        mock = self.begin()
        path = os.path.join(mock.folder, "poison")
        for text in (b"", b"no line", b"{}\n", b'{"format":"pythia.part/1","group":"pythia","name":"n"}\n{"format":"pythia.round/9"}\n',
                     b'{"format":"pythia.part/1","group":"other","name":"n"}\n{"format":"pythia.round/2","group":"other","settings":"",'
                     b'"member":"m"}\n'):
            with open(path, "wb") as to:
                to.write(text)
            mock.command("send", EVIDENCE, 0, "key", path)
        one = self.start(mock, "--observe-only")
        self.together(one)
        self.assertEqual(self.search(one)["skipped"], 5)
        one.logged(r"Skipped a message that is no evidence: topic=pythia.evidence, offset=3, reason=it has the format "
                   r"pythia.round/9, and this pythiad reads pythia.round/2; run the same version of pythiad everywhere")
        self.send(mock, make_requests(REQUESTS, 1))
        self.until(lambda: self.search(one)["set"] == 1, one)

    def test_a_topic_of_evidence_with_several_partitions_is_refused(self):
        mock = Mock(self, partitions=PARTITIONS)
        mock.command("topic", EVIDENCE, 2)
        one = self.start(mock)
        one.logged(r"pythia.evidence has 2 partitions, so that members would read evidence in different orders: make another "
                   r"topic with 1, and name it with evidence=", 20)
        self.assertEqual(self.search(one)["state"], "beginning")
        self.assertEqual(one.metric("pythia_kafka_problem"), 1)
        self.assertEqual(one.stop(), 0)

    def test_two_groups_with_one_topic_of_evidence_search_apart(self):
        """Each group gets all requests, and none of the other's evidence, snapshots or orders."""
        mock, space = self.begin(), self.space(rig.make_folder(self))
        members = [self.start(mock, "--observe-only", space=space, group=group) for group in ("red", "blue")]
        for one in members:
            self.together(one)
        for number in (1, 2):
            self.send(mock, make_requests(REQUESTS, number))
            self.rounds(number, number * REQUESTS, *members)
        self.assertEqual(self.found(members[0]), self.found(members[1]))
        for one in members:
            self.assertEqual((self.search(one)["refused"], self.search(one)["members"]), (0, 1))
            self.assertNotIn("Skipped a message", one.log)
            self.assertIsNone(one.get("/v1/status").json["kafka"]["problem"])

    def test_a_topic_of_evidence_that_cannot_be_used_is_named_with_what_to_do(self):
        for code, says in ((29, r"pythia.evidence: Broker: Topic authorization failed: let the user of --kafka describe, read and "
                                r"write it"),
                           (3, r"pythia.evidence: Broker: Unknown topic or partition: make it with 1 partition, "
                               r"cleanup.policy=delete and max.message.bytes=16777216")):
            with self.subTest(code=code):
                mock = self.begin()
                mock.command("fail", EVIDENCE, code)
                one = self.start(mock, "--observe-only")
                one.logged(f"Cannot read from Kafka: .*reason={says}", 20)
                self.assertEqual(self.search(one)["state"], "beginning")
                self.assertIn("pythia.evidence", one.ctl("status").stdout)
                mock.command("fail", EVIDENCE, 0)
                self.together(one)
                self.assertIsNone(one.get("/v1/status").json["kafka"]["problem"])

    def refuse_message(self, after, space):
        """A member, whose message of that number is too large for the topic, after as many that are not."""
        mock = self.begin()
        one = self.start(mock, "--observe-only", space=space)
        self.together(one)
        *requests, last = make_requests(REQUESTS, 1)
        self.send(mock, requests)
        mock.command("refuse", MSG_SIZE_TOO_LARGE, 1 + after)  # the last request is a message, too
        self.send(mock, [last])
        return mock, one

    def test_evidence_above_max_message_bytes_is_read_again_and_said(self):
        mock, one = self.refuse_message(0, self.space(rig.make_folder(self)))
        one.logged(r"Evidence was not sent, and its requests are read again: topic=pythia.evidence, reason=pythia.evidence: Broker: "
                   r"Message size too large: raise its max.message.bytes, to 16777216 or more", 20)
        self.rounds(1, REQUESTS, one)
        self.send(mock, make_requests(REQUESTS, 2))
        self.rounds(2, 2 * REQUESTS, one)
        self.assertIsNone(one.get("/v1/status").json["kafka"]["problem"])

    def test_a_snapshot_above_max_message_bytes_is_said_and_tried_again(self):
        mock, one = self.refuse_message(1, self.space(rig.make_folder(self)))
        one.logged(r"A snapshot of the search was not sent, and is tried again after some rounds: topic=pythia.evidence, bytes=\d+, "
                   r"reason=pythia.evidence: Broker: Message size too large: raise its max.message.bytes, to 16777216 or more", 20)
        self.rounds(1, REQUESTS, one)
        for number in range(2, 10):
            self.assertIsNone(self.search(one)["snapshot"])
            self.assertIn("no snapshot yet", one.ctl("status").stdout)
            self.send(mock, make_requests(REQUESTS, number))
            self.rounds(number, number * REQUESTS, one)
        self.snapshot(-1, one)
        self.assertIn("last snapshot 0 rounds ago", one.ctl("status").stdout)
        self.send(mock, make_requests(REQUESTS, 10))
        self.rounds(10, 10 * REQUESTS, one)
        self.assertIn("last snapshot 1 round ago", one.ctl("status").stdout)


if __name__ == "__main__":
    rig.main()
