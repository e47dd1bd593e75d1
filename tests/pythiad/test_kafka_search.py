#!/usr/bin/env python3
"""Members of a consumer group that make one search together, by a topic of evidence, with the mock brokers of librdkafka."""
import json
import os
import random
import subprocess
import unittest

import otlp
import rig
from test_kafka import Mock, TOPIC

EVIDENCE = "pythia.evidence"
PARTITIONS = 4
REQUESTS = 120


def make_requests(count, seed, root="checkout"):
    """Requests of one type, most of whose variance is in the child "charge", in the order of sending."""
    chance = random.Random(seed)
    return [otlp.request(("cart", "charge", "mail"), service_root=root, slow=("charge", int(chance.expovariate(1) * 20e6)))
            for _ in range(count)]


class KafkaSearch(unittest.TestCase):
    def begin(self):
        mock = Mock(self, partitions=PARTITIONS)
        mock.command("topic", EVIDENCE, 1)
        return mock

    def start(self, mock, *options, space=None, requests=REQUESTS, **more):
        return rig.Pythiad(self, "--quiet-ms=200", "--rootless-ms=60000", f"--cycle-requests={requests}", "--cycle-seconds=60",
                           "--learn-requests=20", *([f"--space={space}"] if space else []),
                           f"--kafka={mock.url(f'evidence={EVIDENCE}')}", *options, **more)

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

    def send(self, mock, requests):
        for at, spans in enumerate(requests):
            mock.send(otlp.protobuf(spans), at % PARTITIONS)

    def test_two_members_decide_as_one(self):
        mock = self.begin()
        members = [self.start(mock), self.start(mock)]
        self.together(*members)
        self.send(mock, make_requests(REQUESTS, 1))
        self.until(lambda: all(self.search(one)["set"] == 1 for one in members), *members)
        self.send(mock, make_requests(REQUESTS, 2))
        self.until(lambda: all(self.search(one)["rounds"] > 0 for one in members), *members)
        for one in members:
            print(self.search(one), one.log[-2000:])
            print(one.get("/v1/verdicts").text[:3000])


if __name__ == "__main__":
    rig.main()
