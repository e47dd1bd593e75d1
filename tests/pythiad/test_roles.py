#!/usr/bin/env python3
"""Who may do what: every route of every listener with every credential. The routes are those of the manual, whose table
the program itself checks against its routes; who may use them is written here by hand."""
import os
import re
import subprocess
import unittest

import grpc
import otlp
import rig

NOWHERE = ("--otlp-grpc=off", "--otlp-http=off", "--zipkin=off", "--control=off")
OWN = {"read": "look", "ingest": "send", "agent": "ask", "control": "rule"}
# Which tokens serve for a role, if all four are set; and if only those are that there were always.
ALL = {"public": {None, "wrong", *OWN}, "read": {"read", "control"}, "ingest": {"ingest"}, "agent": {"agent"},
       "control": {"control"}}
TWO = {"public": {None, "wrong", *OWN}, "read": {"control"}, "ingest": {"ingest"}, "agent": {"ingest"}, "control": {"control"}}
# As many routes of a role as there have to be: none is lost without anybody's knowing.
COUNTS = {"public": 5, "read": 15, "ingest": 7, "agent": 2, "control": 7}


def write(path, text):
    """A file that its owner alone can read."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as to:
        to.write(text)


def table():
    """The routes that the manual lists: (listener, method, path, role)."""
    text = subprocess.run([rig.program("pythiad"), "--scdoc"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\|  ([\w-]+)\n:- (GET|POST) (\S+)\n:- (\w+)$", text, re.M)


class Roles(unittest.TestCase):
    def setUp(self):
        self.folder = rig.make_folder(self)
        for role, token in OWN.items():
            write(f"{self.folder}/{role}", token + "\n")
        self.routes = table()

    def file(self, role):
        return f"--{role}-token={self.folder}/{role}"

    def is_refused(self, pythiad, route, token=None, tls=None):
        """Is it, for want of a credential? Bodies are of a type that no route takes: nothing changes."""
        listener, method, path, _ = route
        if listener == "otlp-grpc":
            more = [("authorization", f"Bearer {token}")] if token else []
            with grpc.Connection(pythiad.grpc, tls and rig.tls_context(self.folder, tls[0], "h2")) as link:
                return link.call(otlp.protobuf([]), path=path, more=more).status == grpc.UNAUTHENTICATED
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = rig.ask(pythiad.ports[listener], method, path, b"{}" if method == "POST" else None, "text/plain",
                         tls=tls and rig.tls_context(self.folder, tls[0]), **headers)
        self.assertIn(answer.status, {"GET": (200, 400, 404), "POST": (415,)}[method] + (401, 403), route)
        return answer.status in (401, 403)

    def walk(self, pythiad, may):
        for route in self.routes:
            for credential in (None, "wrong", *OWN):
                self.assertEqual(self.is_refused(pythiad, route, OWN.get(credential, credential)),
                                 credential not in may[route[3]], (route, credential))

    def test_the_table_has_all_routes(self):
        found = [role for *_, role in self.routes]
        self.assertEqual({role: found.count(role) for role in COUNTS}, COUNTS)
        self.assertEqual(len(found), sum(COUNTS.values()))
        for path in ("/v1/off", "/v1/on", "/v1/open", "/v1/close", "/v1/unpin", "/v1/level"):
            self.assertIn(("control", "POST", path, "control"), self.routes)

    def test_every_route_with_every_token(self):
        pythiad = rig.Pythiad(self, *map(self.file, OWN), folder=self.folder)
        self.walk(pythiad, ALL)
        self.assertEqual(pythiad.get("/v1/status", Authorization="Bearer look").json["doing"], "works")
        self.assertEqual(pythiad.post("/v1/off", Authorization="Bearer look").status, 401)
        self.assertEqual(pythiad.post("/v1/off", Authorization="Bearer rule").status, 200)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_every_route_with_the_tokens_of_senders_and_of_control(self):
        pythiad = rig.Pythiad(self, self.file("ingest"), self.file("control"), folder=self.folder)
        self.walk(pythiad, TWO)

    def test_every_route_without_tokens(self):
        pythiad = rig.Pythiad(self)
        self.walk(pythiad, {role: {None, "wrong", *OWN} for role in COUNTS})

    def test_a_route_is_at_its_listener_alone(self):
        pythiad = rig.Pythiad(self)
        listeners = [name for name in pythiad.ports if name != "otlp-grpc"]
        for _, method, path, _ in self.routes:
            homes = {listener for listener, *route in self.routes if route[:2] == [method, path]}
            for listener in listeners:
                answer = rig.ask(pythiad.ports[listener], method, path, b"{}" if method == "POST" else None, "text/plain")
                if listener not in homes:
                    self.assertIn(answer.status, (404, 405), (listener, method, path))

    def test_every_route_with_every_certificate(self):
        rig.make_certificates(self.folder)
        pythiad = rig.Pythiad(self, f"--tls-key={self.folder}/server.key", f"--tls-certificate={self.folder}/server.pem",
                              f"--tls-trust={self.folder}/ca.pem", folder=self.folder)
        for route in self.routes:
            for client in (None, "stranger", "client"):
                try:
                    refused = self.is_refused(pythiad, route, tls=(client,))
                except (OSError, AssertionError) as why:  # the handshake fails, or the connection ends
                    self.assertNotIsInstance(why, self.failureException if client == "client" else int, route)
                    refused = True
                self.assertEqual(refused, client != "client", (route, client))

    def test_pages_of_other_sites(self):
        pythiad = rig.Pythiad(self)
        for listener, method, path, role in self.routes:
            if role not in ("read", "control"):
                continue
            for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
                answer = rig.ask(pythiad.ports[listener], method, path, b"{}" if method == "POST" else None, "text/plain", **headers)
                self.assertEqual(answer.status, 403, (path, headers))


class Start(unittest.TestCase):
    """The control interface is not for whoever reaches it."""

    def setUp(self):
        self.folder = rig.make_folder(self)
        rig.make_certificates(self.folder)
        write(f"{self.folder}/token", "rule\n")
        self.tls = (f"--tls-key={self.folder}/server.key", f"--tls-certificate={self.folder}/server.pem")

    def test_control_beyond_this_machine_needs_a_credential(self):
        for name in ("control", "control-socket"):
            for address in ("0.0.0.0:0", "*:0", "[::]:0", "192.0.2.1:4319"):
                for more in ((), (f"--ingest-token={self.folder}/token",)):
                    code, said = rig.run(self, "--check-config", f"--{name}={address}", *self.tls, *more)
                    self.assertEqual(code, 2, (address, said))
                    self.assertIn(f"anyone who can reach {address} could control pythiad; set control-token or tls-trust", said)
                for more in (f"--control-token={self.folder}/token", f"--tls-trust={self.folder}/ca.pem", "--insecure"):
                    self.assertEqual(rig.run(self, "--check-config", f"--{name}={address}", *self.tls, more)[0], 0, (address, more))
        self.assertEqual(rig.run(self, "--control=0.0.0.0:0", *NOWHERE[:3], *self.tls)[0], 2)
        for address in ("127.0.0.1:0", "[::1]:0", "unix:/run/x", "off"):
            self.assertEqual(rig.run(self, "--check-config", f"--control={address}", *self.tls)[0], 0, address)

    def test_whoever_says_insecure_is_warned(self):
        pythiad = rig.Pythiad(self, "--insecure", addresses={"control": "0.0.0.0:0"})
        pythiad.logged("Anyone who can reach the control interface can use it: address=0.0.0.0:0")
        pythiad = rig.Pythiad(self, "--insecure", f"--control-token={self.folder}/token", addresses={"control": "0.0.0.0:0"})
        self.assertEqual(pythiad.get("/v1/status").status, 401)
        self.assertNotIn("Anyone who can reach", pythiad.log)

    def test_a_token_to_read_needs_one_to_control(self):
        code, said = rig.run(self, "--check-config", f"--read-token={self.folder}/token")
        self.assertEqual((code, "read-token requires control-token" in said), (2, True), said)


if __name__ == "__main__":
    rig.main()
