#!/usr/bin/env python3
"""A member of a consumer group, with the mock brokers of librdkafka: there is no Java in here. tests/live/kafka has a real one."""
import os
import signal
import subprocess
import time
import unittest

import otlp
import rig

TOPIC = "otlp_spans"
TOPIC_AUTHORIZATION_FAILED = 29


class Mock:
    """A cluster of one broker; its commands are those of kafka_peer.c."""

    def __init__(self, test, partitions=4):
        self.folder = rig.make_folder(test)
        self.process = subprocess.Popen([rig.program("kafka_peer")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=rig.die_with_parent)
        test.addCleanup(self.end)
        self.address = self.process.stdout.readline().strip()
        if partitions:
            self.command("topic", TOPIC, partitions)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def command(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise AssertionError(f"kafka_peer has ended at {words}")
        return answer

    def send(self, body, partition=0, key="key"):
        """The offset of a message."""
        path = os.path.join(self.folder, "message")
        with open(path, "wb") as to:
            to.write(body)
        return int(self.command("send", TOPIC, partition, key, path))

    def committed(self, partitions=1, group="pythia"):
        return [int(offset) for offset in self.command("committed", group, TOPIC, partitions).split()]

    def url(self, *settings, group="pythia"):
        return f"kafka://{self.address}/{TOPIC}?" + "&".join([f"group={group}", "auto.offset.reset=earliest", *settings])


FINISHED = 'pythia_requests_finished_total{by="any"}'


class Kafka(unittest.TestCase):
    def start(self, mock, *options, settings=(), wait=True, **more):
        """A member that has its partitions."""
        daemon = rig.Pythiad(self, "--quiet-ms=200", "--rootless-ms=60000", f"--kafka={mock.url(*settings)}", *options, **more)
        if wait:
            rig.until(lambda: self.partitions(daemon), 30, lambda: f"it reads nothing:\n{daemon.log}")
        return daemon

    def status(self, daemon):
        return daemon.get("/v1/status").json["kafka"]

    def partitions(self, daemon):
        return {one["partition"]: one for one in self.status(daemon)["partitions"]}

    def until_metric(self, daemon, name, value):
        rig.until(lambda: daemon.metric(name) == value, 30,
                  lambda: f"{name} is {daemon.metric(name)}, not {value}:\n{daemon.log}")

    def until_committed(self, mock, offsets):
        rig.until(lambda: mock.committed(len(offsets)) == offsets, 30,
                  lambda: f"committed {mock.committed(len(offsets))}, not {offsets}")

    def test_both_encodings_in_all_packings_become_requests(self):
        mock = Mock(self)
        daemon = self.start(mock)
        for at, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
            mock.command("codec", codec)
            mock.send(otlp.protobuf(otlp.request()), at % 4)
            mock.send(otlp.as_json(otlp.request()), at % 4)
        self.until_metric(daemon, FINISHED, 10)
        self.assertEqual(daemon.metric("pythia_kafka_messages_total"), 10)
        self.assertEqual(daemon.metric("pythia_records_broken_total"), 0)
        self.until_committed(mock, [4, 2, 2, 2])
        self.assertEqual([(number, one["position"], one["lag"]) for number, one in sorted(self.partitions(daemon).items())],
                         [(0, 4, 0), (1, 2, 0), (2, 2, 0), (3, 2, 0)])
        self.assertEqual(daemon.stop(), 0)

    def test_poison_is_skipped_and_counted_by_its_place(self):
        """In one go, so that good and bad messages share a body."""
        mock = Mock(self, partitions=1)
        good = [otlp.protobuf(otlp.request()) for _ in range(4)]
        mock.send(good[0])
        mock.send(b"\x00\x01 no OTLP")                          # 1
        mock.send(good[1])
        mock.send(good[2][:-7])                                  # 3: cut off
        mock.send(b"\x0a" + otlp.varint(100 << 20) + b"short")   # 4: declares 100 MB
        mock.send(good[3])
        mock.send(b"{not JSON")                                  # 6
        mock.send(b"")                                           # 7
        mock.send(b"\x0a" + otlp.varint(70000) + bytes(70000))   # 8: above body-max
        mock.send(otlp.as_json(otlp.request()))
        daemon = self.start(mock, "--body-max=64K", "--rootless-ms=500")
        self.until_metric(daemon, "pythia_kafka_messages_total", 10)
        self.until_metric(daemon, FINISHED, 4)
        self.until_metric(daemon, f'pythia_kafka_messages_broken_total{{topic="{TOPIC}",partition="0"}}', 6)
        for offset in (1, 3, 4, 6, 7, 8):
            daemon.logged(f"Skipped what cannot be read of a message: topic={TOPIC}, partition=0, offset={offset}, reason=.")
        self.assertEqual(self.partitions(daemon)[0]["last_broken"],
                         {"offset": 8, "reason": "it has 70004 bytes, and body-max is 65536"})
        self.until_committed(mock, [10])

    def test_offsets_are_committed_up_to_the_oldest_unfinished_request(self):
        mock = Mock(self, partitions=2)
        daemon = self.start(mock)
        child, root = otlp.request()
        mock.send(otlp.protobuf(otlp.request()), 0)
        self.until_committed(mock, [1, -1])
        mock.send(otlp.protobuf([child]), 0)  # its root is missing: it stays open
        self.until_metric(daemon, "pythia_open_requests", 1)
        mock.send(otlp.protobuf(otlp.request()), 0)
        mock.send(otlp.protobuf(otlp.request()), 1)
        self.until_metric(daemon, FINISHED, 3)
        self.until_committed(mock, [1, 0])
        mock.send(otlp.protobuf([root]), 0)
        self.until_metric(daemon, FINISHED, 4)
        self.until_committed(mock, [4, 1])

    def test_what_a_killed_member_had_not_finished_is_read_again_whole(self):
        mock = Mock(self, partitions=2)
        first = self.start(mock)
        child, root = otlp.request()
        mock.send(otlp.protobuf(otlp.request()), 0)
        self.until_committed(mock, [1, -1])
        mock.send(otlp.protobuf([child]), 0)
        self.until_metric(first, "pythia_open_requests", 1)
        first.kill()
        second = self.start(mock)
        self.until_metric(second, "pythia_open_requests", 1)
        mock.send(otlp.protobuf([root]), 0)
        self.until_metric(second, FINISHED, 1)  # not 2: the finished one was committed
        self.assertEqual(second.metric("pythia_spans_total"), 2)
        self.assertEqual(second.metric('pythia_spans_repaired_total{kind="orphan"}'), 0)

    def test_a_member_that_joins_takes_over_unfinished_requests(self):
        """The requests of partitions that move are counted by their new owner alone."""
        mock = Mock(self, partitions=2)
        first = self.start(mock)
        requests = [otlp.request() for _ in range(2)]
        for partition, (child, _) in enumerate(requests):
            mock.send(otlp.protobuf([child]), partition)
        self.until_metric(first, "pythia_open_requests", 2)
        second = self.start(mock)
        rig.until(lambda: len(self.partitions(first)) == 1 and len(self.partitions(second)) == 1, 60,
                  lambda: f"{self.status(first)}\n{self.status(second)}")
        self.until_metric(first, "pythia_open_requests", 1)
        self.assertGreater(first.metric("pythia_kafka_traces_forgotten_total"), 0)
        self.until_metric(second, "pythia_open_requests", 1)
        for partition, (_, root) in enumerate(requests):
            mock.send(otlp.protobuf([root]), partition)
        for daemon in (first, second):
            self.until_metric(daemon, FINISHED, 1)
            self.assertEqual(daemon.metric('pythia_spans_repaired_total{kind="orphan"}'), 0)
        self.assertEqual(self.partitions(first).keys() | self.partitions(second).keys(), {0, 1})
        self.until_committed(mock, [2, 2])

    def test_a_stopped_member_leaves_its_unfinished_requests_to_the_next(self):
        mock = Mock(self, partitions=1)
        first = self.start(mock)
        child, root = otlp.request()
        mock.send(otlp.protobuf([child]))
        self.until_metric(first, "pythia_open_requests", 1)
        self.assertEqual(first.stop(30), 0)
        self.assertIn("requests=0,", first.logged("Received: bodies="))
        second = self.start(mock)
        mock.send(otlp.protobuf([root]))
        self.until_metric(second, FINISHED, 1)
        self.assertEqual(second.metric("pythia_spans_total"), 2)

    def test_a_member_that_stops_while_others_join_ends_well(self):
        """One member hangs, another leaves: the third joins again, and gets no answer before the first one's session has ended,
        which takes longer than it has to stop."""
        settings = ["session.timeout.ms=60000", "heartbeat.interval.ms=50", "debug=cgrp"]

        def begin():
            mock = Mock(self, partitions=6)
            members = [self.start(mock, "--verbose", settings=settings, wait=False) for _ in range(3)]

            def settled():
                return [len(self.partitions(one)) for one in members] == [2, 2, 2]

            def refused():
                return any("synchronization failed" in one.log for one in members)
            rig.until(lambda: settled() or refused(), 60, lambda: "\n".join(one.log for one in members))
            if settled():
                return members
            for one in members:
                one.kill()
            mock.end()
            return None
        # The mock refuses a member whose SyncGroup comes after that of the leader, and then waits for sessions to end.
        members = None
        while not members:
            members = begin()
        hangs, leaves, stops = members
        hangs.process.send_signal(signal.SIGSTOP)
        self.assertEqual(leaves.stop(30), 0)
        time.sleep(.5)  # it joins again meanwhile; if not, it leaves as any other
        self.assertEqual(stops.stop(30), 0)
        hangs.kill()

    def test_traces_in_two_partitions_are_found(self):
        mock = Mock(self, partitions=2)
        daemon = self.start(mock)
        child, root = otlp.request()
        mock.send(otlp.protobuf([child]), 0)
        mock.send(otlp.protobuf(otlp.request()), 1)
        self.until_metric(daemon, FINISHED, 1)
        self.assertEqual(daemon.metric("pythia_kafka_traces_split_total"), 0)
        mock.send(otlp.protobuf([root]), 1)
        self.until_metric(daemon, "pythia_kafka_traces_split_total", 1)
        line = daemon.logged("Spans of one trace come from two partitions")
        self.assertIn("partition_traces_by_id: true", line)
        self.assertEqual(self.status(daemon)["split_traces"], 1)

    def test_messages_without_a_key_are_found(self):
        mock = Mock(self, partitions=2)
        daemon = self.start(mock)
        mock.send(otlp.protobuf(otlp.request()), 1, key="-")
        self.until_metric(daemon, "pythia_kafka_messages_unkeyed_total", 1)
        self.assertIn("partition_traces_by_id: true", daemon.logged("Messages have no key"))

    def test_one_partition_needs_no_key(self):
        mock = Mock(self, partitions=1)
        daemon = self.start(mock)
        mock.send(otlp.protobuf(otlp.request()), 0, key="-")
        self.until_metric(daemon, FINISHED, 1)
        self.assertNotIn("Messages have no key", daemon.log)

    def test_pressure_pauses_and_loses_nothing(self):
        mock = Mock(self, partitions=2)
        spans = 0
        for at in range(80):
            request = otlp.request([f"step-{i}" for i in range(200)])
            spans += len(request)
            body = otlp.protobuf(request)
            mock.send(body, at % 2)
        # Of the two messages that come first, only one has room.
        most = len(body) * 3 // 2
        daemon = self.start(mock, "--memory=256K", "--memory-hard=64M", f"--body-max={most}", f"--waiting-max={most}")
        self.until_metric(daemon, FINISHED, 80)
        self.assertEqual(daemon.metric("pythia_spans_total"), spans)
        self.assertGreater(daemon.metric("pythia_kafka_pauses_total"), 0)
        self.assertEqual(daemon.metric("pythia_bodies_refused_total"), 0)
        self.assertEqual(daemon.metric('pythia_spans_dropped_total{reason="late"}'), 0)
        self.assertEqual(daemon.metric('pythia_spans_repaired_total{kind="orphan"}'), 0)
        self.until_committed(mock, [40, 40])

    def test_a_broker_that_is_gone_is_said_and_waited_for(self):
        mock = Mock(self, partitions=1)
        daemon = self.start(mock)
        mock.send(otlp.protobuf(otlp.request()))
        self.until_metric(daemon, FINISHED, 1)
        mock.command("broker", "down")
        daemon.logged("Cannot read from Kafka: .*brokers are down", 60)
        self.assertIn("down", self.status(daemon)["problem"])
        self.assertEqual(daemon.metric("pythia_kafka_problem"), 1)
        mock.command("broker", "up")
        mock.send(otlp.protobuf(otlp.request()))
        self.until_metric(daemon, FINISHED, 2)
        self.assertIsNone(self.status(daemon)["problem"])

    def test_a_member_without_a_broker_ends_when_it_is_told_to(self):
        mock = Mock(self, partitions=1)
        daemon = self.start(mock)
        mock.command("broker", "down")
        daemon.logged("Cannot read from Kafka", 60)
        self.assertEqual(daemon.stop(30), 0)

    def test_a_topic_that_may_not_be_read_is_said_with_what_to_do(self):
        mock = Mock(self, partitions=1)
        mock.command("fail", TOPIC, TOPIC_AUTHORIZATION_FAILED)
        daemon = self.start(mock, wait=False)
        daemon.logged("Cannot read from Kafka: .*let the user of --kafka read and describe the topic", 60)

    def test_wrong_settings_end_it_with_the_reason(self):
        for url, reason in (("kafka://127.0.0.1:1", "it has to be kafka://HOST:PORT/TOPIC"),
                            ("kafka://127.0.0.1:1/t?group.id=x", "group.id cannot be set: group=NAME says it"),
                            ("kafka://127.0.0.1:1/t?no.such=1", 'No such configuration property: "no.such"'),
                            ("kafka://127.0.0.1:1/t?session.timeout.ms=x", "session.timeout.ms")):
            code, said = rig.run(self, "--otlp-grpc=off", "--otlp-http=off", "--zipkin=off", "--control=off", f"--kafka={url}")
            self.assertNotEqual(code, 0)
            self.assertIn(reason, said)

    def test_ctl_shows_members_partitions_and_lag(self):
        mock = Mock(self, partitions=2)
        daemon = self.start(mock)
        mock.send(otlp.protobuf(otlp.request()), 1)
        mock.send(b"no OTLP", 1)
        self.until_metric(daemon, FINISHED, 1)
        self.until_committed(mock, [-1, 2])
        rig.until(lambda: self.partitions(daemon)[1]["committed"] == 2, 30)
        shown = daemon.ctl("status").stdout
        self.assertRegex(shown, rf"kafka: topic {TOPIC}, group pythia")
        self.assertRegex(shown, r"partition 1: position 2, committed 2, lag 0, 1 broken, the last at offset 1")


if __name__ == "__main__":
    rig.main()
