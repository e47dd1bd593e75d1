#!/usr/bin/env python3
"""Who may reach which listener: tokens, sockets, addresses and TLS. usage: test_listeners.py BIN [SANITIZER]"""
import http.client
import os
import signal
import socket
import stat
import unittest

import grpc
import otlp
import rig
from agent import Agent
from otlp import Span

TOKEN = "a secret of the test"


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as to:
        to.write(text)
    return path


class Tokens(unittest.TestCase):
    def test_each_role_has_its_own(self):
        """Security 2."""
        folder = rig.make_folder(self)
        ingest, control = write(folder, "ingest", "sender\n"), write(folder, "control", TOKEN + "\n")
        pythiad = rig.Pythiad(self, f"--ingest-token={ingest}", f"--control-token={control}", folder=folder)
        body = otlp.protobuf([Span()])
        for given in (None, "Bearer", "Bearer ", "Bearer sende", "Bearer senderr", "Bearer SENDER", "Basic sender",
                      f"Bearer {TOKEN}", "sender"):
            headers = {"Authorization": given} if given else {}
            self.assertEqual(pythiad.send(body, **headers).status, 401, given)
            self.assertEqual(rig.ask(pythiad.zipkin, "POST", "/api/v2/spans", b"[]", rig.JSON, **headers).status, 401, given)
            self.assertEqual(Agent(pythiad, "shop", ("a",), **headers).report().status, 401, given)
            with grpc.Connection(pythiad.grpc) as link:
                more = [("authorization", given.strip())] if given else []
                self.assertEqual(link.call(body, more=more).status, grpc.UNAUTHENTICATED, given)
        self.assertEqual(pythiad.metric("pythia_spans_total"), 0)
        self.assertEqual(pythiad.send(body, Authorization="Bearer sender").status, 200)
        self.assertEqual(pythiad.send(body, Authorization="bearer sender").status, 200)
        with grpc.Connection(pythiad.grpc) as link:
            self.assertEqual(link.call(body, more=[("authorization", "Bearer sender")]).status, grpc.OK)
        self.assertEqual(Agent(pythiad, "shop", ("a",), Authorization="Bearer sender").report().status, 200)

        for given in (None, "Bearer sender", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"):
            headers = {"Authorization": given} if given else {}
            for path in ("/v1/status", "/v1/points", "/v1/decisions", "/v1/groups", "/v1/report", "/report", "/v1/events"):
                answer = pythiad.get(path, **headers)
                self.assertEqual((answer.status, answer.headers["WWW-Authenticate"]), (401, "Bearer"), (path, given))
            self.assertEqual(pythiad.post("/v1/off", **headers).status, 401)
        self.assertEqual(pythiad.get("/v1/status", Authorization=f"Bearer {TOKEN}").status, 200)
        self.assertEqual(pythiad.get("/healthz").status, 200)
        self.assertEqual(pythiad.ctl("status").returncode, 1)
        self.assertEqual(pythiad.ctl("--token", control, "status").returncode, 0)
        self.assertEqual(pythiad.stop(), 0)
        self.assertNotIn(TOKEN, pythiad.log)
        self.assertNotIn("sender", pythiad.log.replace("senders", ""))

    def test_a_token_that_is_none(self):
        folder = rig.make_folder(self)
        for path, why in ((write(folder, "empty", ""), "is empty"), (folder + "/nothing", "cannot be read")):
            code, said = rig.run(self, "--otlp-grpc=127.0.0.1:0", "--otlp-http=off", "--zipkin=off", "--control=off",
                                 f"--control-token={path}")
            self.assertNotEqual(code, 0)
            self.assertIn(path, said)
            self.assertIn(why, said)


class Sockets(unittest.TestCase):
    def test_a_unix_socket_is_for_its_owner(self):
        """What is left by one that was killed is taken over; what one that lives has is not; at the end it is removed."""
        folder = rig.make_folder(self)
        for name, option in (("control", "control-socket"), ("records", "records")):
            path = os.path.join(folder, f"{name}.sock")
            pythiad = rig.Pythiad(self, f"--{option}=unix:{path}", folder=folder)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            # A second one does not take it away.
            before = os.stat(path)
            code, said = rig.run(self, "--otlp-grpc=off", "--otlp-http=off", "--zipkin=off", "--control=off",
                                 f"--{option}=unix:{path}")
            self.assertEqual(code, 1)
            self.assertIn(f"cannot listen at unix:{path}: another program listens there; is another pythiad running?", said)
            self.assertEqual(os.stat(path).st_ino, before.st_ino)
            if name == "control":
                done = pythiad.ctl("status", address=f"unix:{path}")
                self.assertEqual(done.returncode, 0, done.stderr)
            pythiad.signal(signal.SIGKILL)
            pythiad.process.wait()
            self.assertTrue(os.path.exists(path))
            again = rig.Pythiad(self, f"--{option}=unix:{path}", folder=folder)
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(path)
            if name == "control":
                self.assertEqual(rig.ask(path, "GET", "/v1/status").status, 200)
            self.assertEqual(again.stop(), 0)
            self.assertFalse(os.path.exists(path))

    def test_a_file_that_is_no_socket_is_left_alone(self):
        path = os.path.join(rig.make_folder(self), "mine")
        with open(path, "w", encoding="utf-8") as to:
            to.write("mine")
        code, said = rig.run(self, "--otlp-grpc=off", "--otlp-http=off", "--zipkin=off", "--control=off", f"--records=unix:{path}")
        self.assertEqual((code, "a file that is not a socket exists there and was left alone" in said), (1, True), said)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")

    def test_a_socket_of_another_is_not_removed_at_the_end(self):
        folder = rig.make_folder(self)
        path = os.path.join(folder, "control.sock")
        pythiad = rig.Pythiad(self, f"--control-socket=unix:{path}", folder=folder)
        os.remove(path)
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(path)
            self.assertEqual(pythiad.stop(), 0)
            self.assertTrue(os.path.exists(path))

    def test_everything_can_be_at_sockets(self):
        folder = rig.make_folder(self)
        names = ("otlp-grpc", "otlp-http", "zipkin", "control")
        where = {name: f"{folder}/{name}.sock" for name in names}
        pythiad = rig.Pythiad(self, addresses={name: f"unix:{path}" for name, path in where.items()}, folder=folder)
        for path in where.values():
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600, path)
        with grpc.Connection(None, path=where["otlp-grpc"]) as link:
            self.assertEqual(link.call(otlp.protobuf([Span()])).status, grpc.OK)
        self.assertEqual(rig.ask(where["otlp-http"], "POST", "/v1/traces", otlp.protobuf([Span()]), rig.PROTOBUF).status, 200)
        self.assertEqual(rig.ask(where["zipkin"], "POST", "/api/v2/spans", otlp.zipkin([Span()]), rig.JSON).status, 202)
        metrics = rig.parse_metrics(rig.ask(where["control"], "GET", "/metrics").text)
        self.assertEqual(metrics["pythia_spans_total"], 3)
        self.assertEqual(pythiad.stop(), 0)
        self.assertEqual([path for path in where.values() if os.path.exists(path)], [])


class Addresses(unittest.TestCase):
    """Security 1: nobody beyond this machine, if nothing else was said."""

    def test_one_beyond_this_machine_is_refused(self):
        for name in ("otlp-grpc", "otlp-http", "zipkin", "control", "control-socket"):
            for address in ("0.0.0.0:0", "*:0", "[::]:0", "192.0.2.1:4317"):
                code, said = rig.run(self, "--check-config", f"--{name}={address}")
                self.assertEqual(code, 2, (name, address))
                self.assertIn(f"{name} at {address} can be reached from other machines", said)
                self.assertIn("insecure: true", said)
        for address in ("127.0.0.1:1", "127.1.2.3:1", "localhost:1", "[::1]:1", "127.0.0.1:65535", "unix:/tmp/x",
                        "off"):
            self.assertEqual(rig.run(self, "--check-config", f"--otlp-http={address}")[0], 0, address)
        self.assertEqual(rig.run(self, "--check-config", "--otlp-http=*:0", "--insecure")[0], 0)
        self.assertEqual(rig.run(self, "--check-config", env={"PYTHIAD_CONTROL": "*:1"})[0], 2)
        for address in ("127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:123456", "127.0.0.1:65536", "127.0.0.1:99999", ":1", "::1:1", "unix:"):
            code, said = rig.run(self, "--check-config", f"--otlp-http={address}")
            self.assertEqual((code, f"{address} is not an address" in said), (2, True), address)

    def test_with_tls_it_is_not(self):
        folder = rig.make_folder(self)
        rig.make_certificates(folder)
        options = ("--check-config", "--otlp-http=*:0", f"--tls-key={folder}/server.key")
        self.assertEqual(rig.run(self, *options, f"--tls-certificate={folder}/server.pem")[0], 0)
        code, said = rig.run(self, *options)
        self.assertEqual((code, "must be given together" in said), (2, True))
        code, said = rig.run(self, "--check-config", f"--tls-trust={folder}/ca.pem")
        self.assertEqual((code, "tls-trust requires" in said), (2, True))


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = None

    def setUp(self):
        self.folder = rig.make_folder(self)
        rig.make_certificates(self.folder)

    def start(self, *options):
        return rig.Pythiad(self, f"--tls-key={self.folder}/server.key", f"--tls-certificate={self.folder}/server.pem",
                           *options)

    def refused(self, what):
        """A handshake that fails, or a connection that ends before there is an answer."""
        try:
            return what()
        except (OSError, http.client.HTTPException):
            return None

    def test_both_stacks(self):
        pythiad = self.start()
        tls = rig.tls_context(self.folder)
        body = otlp.protobuf([Span() for _ in range(5000)])
        answer = rig.ask(pythiad.http, "POST", "/v1/traces", body, rig.PROTOBUF, tls=tls)
        self.assertEqual(answer.status, 200)
        with grpc.Connection(pythiad.grpc, rig.tls_context(self.folder, alpn="h2")) as link:
            self.assertEqual(link.socket.selected_alpn_protocol(), "h2")
            for _ in range(20):
                self.assertEqual(link.call(body).status, grpc.OK)
        self.assertEqual(pythiad.metrics(tls=tls)["pythia_spans_total"], 21 * 5000)
        self.assertIsNone(self.refused(lambda: pythiad.send(body[:100])))  # in the clear
        with self.assertRaises((OSError, AssertionError)):
            with grpc.Connection(pythiad.grpc) as link:
                link.call(b"")
        # Who does not know the authority does not go on.
        with self.assertRaises(OSError):
            rig.ask(pythiad.http, "GET", "/", tls=rig.ssl.create_default_context())
        done = pythiad.ctl("--tls-trust", f"{self.folder}/ca.pem", "status")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_old_versions_are_refused(self):
        pythiad = self.start()
        for version in (rig.ssl.TLSVersion.TLSv1, rig.ssl.TLSVersion.TLSv1_1):
            context = rig.tls_context(self.folder, alpn="h2")
            with rig.warnings_off():
                context.minimum_version = context.maximum_version = version
            context.set_ciphers("ALL:@SECLEVEL=0")
            for port in (pythiad.http, pythiad.grpc):
                with self.assertRaises(OSError):
                    grpc.Connection(port, context)
        for version in (rig.ssl.TLSVersion.TLSv1_2, rig.ssl.TLSVersion.TLSv1_3):
            context = rig.tls_context(self.folder, alpn="h2")
            context.minimum_version = context.maximum_version = version
            with grpc.Connection(pythiad.grpc, context) as link:
                self.assertEqual(link.call(b"").status, grpc.OK)

    def test_certificates_of_clients(self):
        pythiad = self.start(f"--tls-trust={self.folder}/ca.pem")
        body = otlp.protobuf([Span()])
        for client in (None, "stranger"):
            context = rig.tls_context(self.folder, client)
            for port, path in ((pythiad.http, "/v1/traces"), (pythiad.zipkin, "/api/v2/spans"), (pythiad.control, "/v1/off")):
                answer = self.refused(lambda port=port, path=path, context=context:
                                      rig.ask(port, "POST", path, body, rig.PROTOBUF, tls=context))
                self.assertIn(answer and answer.status, (None, 403), (client, path))
            answer = self.refused(lambda context=context: rig.ask(pythiad.control, "GET", "/metrics", tls=context))
            self.assertIn(answer and answer.status, (None, 403), client)

            def call(client=client):
                with grpc.Connection(pythiad.grpc, rig.tls_context(self.folder, client, "h2")) as link:
                    return link.call(body)
            self.assertIsNone(self.refused(call), client)
        context = rig.tls_context(self.folder, "client")
        self.assertEqual(pythiad.metrics(tls=context)["pythia_spans_total"], 0)
        for _ in range(3):
            self.assertEqual(rig.ask(pythiad.http, "POST", "/v1/traces", body, rig.PROTOBUF, tls=context).status, 200)
        with grpc.Connection(pythiad.grpc, rig.tls_context(self.folder, "client", "h2")) as link:
            self.assertEqual(link.call(body).status, grpc.OK)
        self.assertEqual(pythiad.stop(), 0, pythiad.log)

    def test_keys_that_are_none(self):
        for key, certificate in (("ca.key", "server.pem"), ("server.pem", "server.key"), ("server.key", "nothing.pem")):
            code, said = rig.run(self, "--otlp-grpc=127.0.0.1:0", "--otlp-http=127.0.0.1:0", "--zipkin=off", "--control=off",
                                 f"--tls-key={self.folder}/{key}", f"--tls-certificate={self.folder}/{certificate}")
            self.assertIn(code, (1, 2), said)
            self.assertRegex(said, "key and certificate|nothing.pem: cannot be read")


if __name__ == "__main__":
    rig.main()
