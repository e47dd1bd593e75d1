#!/usr/bin/env python3
"""Values that nobody may see (security 6): what becomes of them, and that they are kept nowhere. usage: test_redaction.py
BIN [SANITIZER]"""
import gzip
import json
import os
import re
import subprocess
import time
import unittest

import grpc
import otlp
import rig
from otlp import Span

HASH = re.compile(r"hash:[0-9a-f]{16}")
SECRETS = {  # by key: what must be found nowhere
    "user.password": "hunter2-of-ada", "api-key": "k-7781-abc", "http.request.header.authorization": "Bearer zz91",
    "db.statement": "SELECT * FROM cards WHERE number = 4111111111111111", "url.full": "https://shop/pay?card=5500",
    "user.email": "ada@example.org", "Session_Token": "tok-55-aa", "enduser.id": "ada-lovelace"}


def requests(count, secrets=True, tenants=("blue", "green")):
    """Requests of which those of the second tenant are slow in "pay"; secrets in a span, an event and a list."""
    for i in range(count):
        tenant = tenants[i % 2]
        spans = otlp.request(("pay", "ship"), slow=("pay", 4000000) if tenant == tenants[1] else None,
                             attributes={"tenant": tenant})
        if secrets:
            spans[0].attributes = SECRETS | {"tenant": tenant, "db.statement": f"{SECRETS['db.statement']} -- {i % 2}"}
            spans[0].events = [("login", {"password": "event-pass-word", "attempt": "1"})]
        yield spans


def resource_with(key, value, spans):
    """As otlp.protobuf, with one more attribute of the resource."""
    inner = b"".join(otlp.message(2, span.protobuf()) for span in spans)
    resource = b"".join(otlp.message(1, otlp.key_value(*pair)) for pair in (("service.name", "shop"), (key, value)))
    return otlp.message(1, otlp.message(1, resource) + otlp.message(2, inner))


def every_byte(folder):
    """{path: content} of all files below it."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path] = file.read()
    return found


class Redaction(unittest.TestCase):
    def setUp(self):
        self.folder = rig.make_folder(self)

    def start(self, *options, state=True, **more):
        kept = [f"--state={self.folder}/state.db", f"--space={self.folder}/space.json"] if state else []
        return rig.Pythiad(self, *kept, "--quiet-ms=100", "--cycle-requests=40", "--cycle-seconds=2", "--learn-requests=10",
                           "--verbose", *options, folder=self.folder, **more)

    def run_until_reported(self, pythiad, make=requests, find=b""):
        """The report of the first cycle that has one with those bytes."""
        def reported():
            for spans in make(40):
                self.assertEqual(pythiad.send(otlp.protobuf(spans)).status, 200)
            time.sleep(.3)
            answer = pythiad.get("/v1/report")
            return pythiad.metric("pythia_cycles_total") and find in answer.body and answer
        return rig.until(reported, 30, lambda: pythiad.log)

    def assert_nowhere(self, secrets, places):
        for what, content in places.items():
            for secret in secrets:
                self.assertNotIn(secret.encode(), content, f"{secret} is in {what}")

    def everywhere(self, pythiad):
        """All that pythiad says or keeps, by place."""
        places = {path: pythiad.get(path).body for path in
                  ("/report", "/metrics", "/v1/status", "/v1/report", "/v1/groups", "/v1/points", "/v1/decisions", "/v1/cycles",
                   "/v1/contexts")}
        for group in pythiad.get("/v1/groups").json:
            places[f"requests of {group['id']}"] = pythiad.get(f"/v1/requests?group={group['id']}").body
        for words in (("status",), ("groups",), ("report",), ("decisions",), ("points",)):
            done = pythiad.ctl(*words)
            places["ctl " + words[0]] = (done.stdout + done.stderr).encode()
        return places

    def test_a_secret_is_found_nowhere(self):
        pythiad = self.start(f"--record={self.folder}/record")
        report = self.run_until_reported(pythiad, find=b"hash:")
        span = next(requests(1))[0]
        pythiad.send(otlp.as_json([span]), rig.JSON)
        pythiad.send(gzip.compress(otlp.protobuf([span])), Content_Encoding="gzip")
        pythiad.send(resource_with("password.of.resource", "resource-pass-word", [Span()]))
        pythiad.send(resource_with("user.email", "bob@example.org", [Span()]))
        tags = span.zipkin() | {"tags": SECRETS | {"n.secret": "7", "t": {"password": "nested-pass-word"}}}
        self.assertEqual(rig.ask(pythiad.zipkin, "POST", "/api/v2/spans", otlp.zipkin([tags]), rig.JSON).status, 202)
        with grpc.Connection(pythiad.grpc) as link:
            self.assertEqual(link.call(otlp.protobuf([span])).status, grpc.OK)
        places = self.everywhere(pythiad)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        places |= every_byte(self.folder) | {"log": pythiad.log.encode()}
        secrets = [*SECRETS.values(), "event-pass-word", "resource-pass-word", "bob@example.org", "nested-pass-word",
                   "4111111111111111"]
        self.assertIn(f"{self.folder}/record", places)
        self.assert_nowhere(secrets, places)
        # What explains is still there, and what is hashed still explains.
        self.assertRegex(report.text, r'"tenant')
        self.assertIn(b"tenant", places[f"{self.folder}/record"])
        self.assertRegex(places[f"{self.folder}/record"].decode(), r'\["db.statement","text","hash:[0-9a-f]{16}"\]')
        self.assertNotIn(b"password", b"".join(re.findall(rb'"attributes":.*', places[f"{self.folder}/record"])))
        self.assertGreater(json.loads(places["/v1/report"])["input"]["hashed_values"], 0)
        self.assertGreater(json.loads(places["/v1/report"])["input"]["dropped"]["redacted"], 0)

    def test_what_is_recorded_gives_the_same_report(self):
        pythiad = self.start(f"--record={self.folder}/record", "--cycle-requests=100000", "--cycle-seconds=6",
                             "--learn-requests=60", state=False)
        rig.until(lambda: pythiad.metric("pythia_desired_in_force") == 1, 10)  # else the first request is kept apart
        for spans in requests(60):
            self.assertEqual(pythiad.send(otlp.protobuf(spans)).status, 200)
        live = rig.until(lambda: pythiad.metric("pythia_cycles_total") and pythiad.get("/v1/report"), 30).json
        pythiad.stop()
        done = subprocess.run([rig.program("pythia"), "replay", "--quiet", "--format=json", f"{self.folder}/record"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        replayed = json.loads(done.stdout)
        self.assertEqual(replayed["input"]["traces"], 60)
        for report in (live, replayed):
            report["keys"] = [(group["id"], group["count"], group["mean_ns"],
                               [(e["key"], e["effect"]) for e in group["explanations"]]) for group in report["groups"]]
        self.assertTrue(live["keys"])
        self.assertEqual(live["keys"], replayed["keys"])

    def test_whoever_knows_a_value_can_find_it_by_its_hash(self):
        pythiad = self.start()
        report = self.run_until_reported(pythiad, find=b"hash:").text
        done = pythiad.ctl("hash", f"{SECRETS['db.statement']} -- 1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^hash:[0-9a-f]{16}\n$")
        self.assertIn(done.stdout.strip(), report)
        self.assertNotIn(pythiad.ctl("hash", "another value").stdout.strip(), report)
        for wrong in ((), ("a", "b")):
            done = pythiad.ctl("hash", *wrong)
            self.assertEqual((done.returncode, "requires one value" in done.stderr), (2, True), done.stderr)
        self.assertEqual(pythiad.post("/v1/hash", {"value": 7}).status, 400)
        pythiad.stop()
        pythiad = self.start("--redact=off", state=False)
        done = pythiad.ctl("hash", "a")
        self.assertEqual((done.returncode, "no rule of redact hashes anything" in done.stderr), (1, True), done.stderr)

    def test_off_keeps_all(self):
        pythiad = self.start("--redact=off", f"--record={self.folder}/record")
        body = otlp.protobuf(next(requests(1)))
        pythiad.send(body)
        metrics = pythiad.metrics()
        pythiad.stop()
        with open(f"{self.folder}/record", "rb") as file:
            self.assertIn(body, file.read())
        self.assertEqual(metrics["pythia_values_hashed_total"], 0)
        self.assertEqual(metrics['pythia_spans_dropped_total{reason="redacted"}'], 0)
        self.assertFalse(os.path.exists(f"{self.folder}/state.db.secret"))

    def hashes(self, *options, attributes, **more):
        """{key: value} of a span as it was recorded."""
        path = f"{self.folder}/record-{time.monotonic_ns()}"
        pythiad = self.start(f"--record={path}", *options, **more)
        self.assertEqual(pythiad.send(otlp.protobuf([Span(attributes=attributes)])).status, 200)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        with open(path, encoding="utf-8") as file:
            line = next(json.loads(line) for line in file if line.startswith('{"trace"'))
        return {key: value for key, _, value in line.get("attributes", [])}

    def test_hashes_are_equal_over_restarts_and_keyed(self):
        values = {"db.statement": "SELECT 1", "a.db.query.text": "SELECT 1", "user.id": 17, "user.name": "17", "enduser.x": True}
        first = self.hashes(attributes=values)
        for value in first.values():
            self.assertRegex(value, f"^{HASH.pattern}$")
        self.assertEqual(first["db.statement"], first["a.db.query.text"])
        self.assertEqual(first["user.id"], first["user.name"])  # however the source writes it
        self.assertEqual(len(set(first.values())), 3)
        secret = f"{self.folder}/state.db.secret"
        self.assertEqual(os.stat(secret).st_mode & 0o777, 0o600)
        self.assertEqual(self.hashes(attributes=values), first)
        with open(secret, encoding="ascii") as file:
            self.assertRegex(file.read(), "^[0-9a-f]{32}\n$")
        other = self.hashes(f"--redact-secret={self.folder}/another", attributes=values)
        self.assertEqual(len(set(other.values()) & set(first.values())), 0)
        self.assertEqual(os.stat(f"{self.folder}/another").st_mode & 0o777, 0o600)
        self.assertEqual(len(set(self.hashes(attributes=values, state=False).values()) & set(first.values())), 0)
        # What is a hash already stays one.
        again = self.hashes(attributes={"db.statement": first["db.statement"], "user.id": "hash:0123456789abcdef"})
        self.assertEqual(again["db.statement"], first["db.statement"])
        self.assertNotEqual(again["user.id"], "hash:0123456789abcdef")

    def test_rules_in_order(self):
        config = ('redact:\n  - "db.statement: keep"\n  - tenant: hash\n  - "*colour*: drop"\n  - "A.b?: drop"\n')
        values = {"db.statement": "SELECT 1", "tenant": "blue", "the.colour": "red", "a.B1": "x", "a.b12": "y",
                  "password": "p", "size": 5}
        kept = self.hashes(config=config, attributes=values)
        self.assertRegex(kept.pop("tenant"), f"^{HASH.pattern}$")
        self.assertEqual(kept, {"db.statement": "SELECT 1", "a.b12": "y", "size": 5})
        kept = self.hashes("--redact=*: drop", "--redact=off", attributes=values)
        self.assertEqual(kept, {})
        kept = self.hashes(env={"PYTHIAD_REDACT": "size:drop,off"}, attributes=values)
        self.assertEqual(kept, {key: value for key, value in values.items() if key != "size"})

    def test_wrong_rules(self):
        for rule in ("", "db.statement", "db.statement: hide", ": drop", "db.statement: Keep"):
            code, said = rig.run(self, "--check-config", f"--redact={rule}")
            self.assertEqual((code, "is not a rule: expected KEY-PATTERN" in said), (2, True), said)
        path = os.path.join(self.folder, "x.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("redact:\n  - a: {b: c}\n")
        code, said = rig.run(self, "--check-config", f"--config={path}")
        self.assertEqual((code, "2: column 8: redact requires a list of texts" in said), (2, True), said)

    def test_a_secret_that_is_none(self):
        path = os.path.join(self.folder, "secret")
        for content in ("", "abc", "0" * 31 + "\n", "0" * 33, "g" * 32):
            with open(path, "w", encoding="ascii") as file:
                file.write(content)
            code, said = rig.run(self, f"--redact-secret={path}", "--otlp-grpc=off", "--otlp-http=off", "--zipkin=off",
                                 "--control=off")
            self.assertEqual((code, "is not a secret for hashes: expected 32 hexadecimal digits" in said), (2, True), said)
        code, said = rig.run(self, "--redact-secret=/no/such/folder/secret", "--otlp-grpc=off", "--otlp-http=off",
                             "--zipkin=off", "--control=off")
        self.assertEqual((code, "cannot be created: No such file" in said), (1, True), said)

    def test_names_without_number_are_not_a_way_around(self):
        """Where the vocabulary is full, a key is "(other)": what it stands for may be anything."""
        pythiad = self.start(f"--record={self.folder}/record", "--attributes-max=65536")
        for part in range(30):
            pythiad.send(otlp.protobuf([Span(attributes={f"k{part}-{i}-password": "pass-word" for i in range(5000)})]))
        long = "a" * 300 + ".password"
        pythiad.send(otlp.protobuf([Span(attributes={long: "long-pass-word", "b" * 300: "open"})]))
        pythiad.stop()
        content = every_byte(self.folder)
        self.assert_nowhere(["pass-word"], content)

    def test_feeds(self):
        """A file that grows: what is recorded of it has no secrets."""
        path = os.path.join(self.folder, "events.json")
        with open(path, "wb") as file:
            for i, spans in enumerate(requests(20)):
                file.write(otlp.as_json(spans) + b"\n")
        pythiad = self.start(f"--follow={path}", f"--record={self.folder}/record", state=False)
        rig.until(lambda: pythiad.metric("pythia_spans_total") == 60, 10)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)
        with open(f"{self.folder}/record.1", "rb") as file:
            content = file.read()
        self.assert_nowhere(SECRETS.values(), {"record.1": content, "log": pythiad.log.encode()})
        self.assertEqual(content.count(b'\n{"trace":'), 60)
        self.assertIn(b'["tenant","text","blue"]', content)


if __name__ == "__main__":
    rig.main()
