#!/usr/bin/env python3
"""Floods of frames, headers and connections: none stops the event loop, and what breaks a limit is ended. Each prints how
long /healthz took meanwhile and what it cost. usage: test_wire_floods.py BIN [SANITIZER]"""
import mmap
import os
import resource
import ssl
import subprocess
import sys
import time
import unittest

import grpc
import otlp
import rig
from otlp import Span

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + grpc.Connection.pack(grpc.SETTINGS, 0, 0, b"")
CONNECTIONS = 60
HEALTH_S = .1  # for /healthz, 99 of 100 times, on a machine that does nothing else


class Flood:
    """A flooder, which sends `hello` and then `piece` again and again over so many connections at once."""

    def __init__(self, folder, port, hello, piece, connections):
        for name, content in (("hello", hello), ("piece", piece), ("sent", bytes(8))):
            with open(f"{folder}/{name}", "wb") as to:
                to.write(content)
        with open(f"{folder}/sent", "rb") as file:
            self.count = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
        self.process = subprocess.Popen([rig.program("flooder"), str(port), str(connections),
                                         *(f"{folder}/{name}" for name in ("hello", "piece", "sent"))])

    @property
    def sent(self):
        """Bytes."""
        return int.from_bytes(self.count[:], sys.byteorder)

    def end(self):
        """Its CPU seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.process.kill()
        self.process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Floods(unittest.TestCase):
    tls = None

    def setUp(self):
        self.pythiad = rig.Pythiad(self)

    def tearDown(self):
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def check(self):
        """Senders are served again."""
        with grpc.Connection(self.pythiad.grpc) as link:
            self.assertEqual(link.call(otlp.protobuf([Span()])).status, grpc.OK)

    def flood(self, name, piece, hello=PREFACE, port=None, connections=CONNECTIONS, total=10 << 20):
        """Flood a port with so many bytes at least, and ask for /healthz meanwhile, 100 times at least."""
        total, times = total if not rig.SANITIZER else total // 10, []
        before = self.pythiad.cpu_seconds()
        flood = Flood(rig.make_folder(self), port or self.pythiad.grpc, hello, piece, connections)
        self.addCleanup(flood.process.kill)
        rig.until(lambda: flood.sent, 60)
        while len(times) < 100 or flood.sent < total:
            begun = time.monotonic()
            self.assertEqual(self.pythiad.get("/healthz", tls=self.tls).status, 200)
            times.append(time.monotonic() - begun)
            self.assertIsNone(flood.process.poll())
            time.sleep(.005)
        own = flood.end()
        times.sort()
        p50, p99 = (times[len(times) * of // 100] for of in (50, 99))
        print(f"{name}: {flood.sent / 1e6:.0f} MB, {self.pythiad.cpu_seconds() - before:.2f} CPU s (of the flood {own:.2f}), "
              f"{len(times)} times /healthz, p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms, most {times[-1] * 1e3:.1f} ms", flush=True)
        rig.within(self, p99, HEALTH_S, f"{name}: /healthz, p99")
        self.check()


def pack(*frame):
    return grpc.Connection.pack(*frame)


def streams(block, first=1, count=3000, flags=grpc.END_HEADERS | grpc.END_STREAM, more=None):
    """The same headers on so many streams, with frames after each."""
    return b"".join(pack(grpc.HEADERS, flags, first + 2 * i, block) + (more(first + 2 * i) if more else b"") for i in range(count))


# A header of 4000 bytes, put into the table: from then on one byte refers to it.
LONG = b"\x40\x01x" + b"\x7f" + bytes((4000 - 127 & 127 | 128, 4000 - 127 >> 7)) + b"y" * 4000
CALL = grpc.pack_headers([(":method", "POST"), (":scheme", "http"), (":path", grpc.EXPORT), (":authority", "x"),
                          ("content-type", "application/grpc"), ("te", "trailers")])
BEGUN = PREFACE + pack(grpc.HEADERS, grpc.END_HEADERS, 1, CALL)  # a stream that is open
LEARNT = PREFACE + pack(grpc.HEADERS, grpc.END_HEADERS | grpc.END_STREAM, 1, CALL + LONG)
PRIORITY = 2


class Http2(Floods):
    def test_references_to_a_long_header(self):
        self.flood("references to a long header", streams(CALL + b"\xbe" * 16000, first=3, count=200), LEARNT, total=120 << 20)
        metrics = self.pythiad.metrics()
        self.assertGreaterEqual(metrics["pythia_grpc_connections_ended_total"], CONNECTIONS)

    def test_header_lists_below_the_limit(self):
        self.flood("lists of headers just below the limit", streams(CALL + b"\xbe" * 3, first=3), LEARNT)
        self.assertEqual(self.pythiad.metric("pythia_grpc_header_lists_refused_total"), 0)

    def test_changes_of_the_table(self):
        self.flood("changes of the table's size", streams(b"\x20\x3f\xe1\x1f" * 4000, count=200))

    def test_continuations(self):
        self.flood("continuations without an end", pack(grpc.HEADERS, 0, 1, CALL) + pack(grpc.CONTINUATION, 0, 1, b"") * 10000)

    def test_streams_that_are_reset(self):
        self.flood("streams that are reset at once", streams(CALL, flags=grpc.END_HEADERS,
                                                             more=lambda stream: pack(grpc.RST_STREAM, 0, stream, b"\0\0\0\x08")))

    def test_small_frames(self):
        for name, frame in (("pings", pack(grpc.PING, 0, 0, b"12345678")), ("settings", pack(grpc.SETTINGS, 0, 0, b"")),
                            ("priorities", pack(PRIORITY, 0, 1, b"\0\0\0\0\x10")), ("unknown frames", pack(99, 0, 0, b"")),
                            ("updates of a window", pack(grpc.WINDOW_UPDATE, 0, 0, b"\0\0\0\1")),
                            ("empty data", pack(grpc.DATA, 0, 1, b"")), ("data of a byte", pack(grpc.DATA, 0, 1, b"x"))):
            self.flood(name, frame * 10000, BEGUN)
        # Those of four kinds, at least: nghttp2 itself ends connections that do not read its answers to pings and settings.
        self.assertGreater(self.pythiad.metrics()["pythia_grpc_connections_ended_total"], 4 * CONNECTIONS)

    def test_connections(self):
        self.flood("connections", b"", total=0)
        self.flood("connections to HTTP", b"", b"GET", self.pythiad.http, total=0)


class Http1(Floods):
    HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

    def test_requests(self):
        self.flood("requests for nothing", b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000, b"", self.pythiad.http)
        self.flood("exports of nothing", (self.HEAD + b"Content-Length: 2\r\n\r\n{}") * 1000, b"", self.pythiad.http)
        self.flood("lines that are no requests", b"\r\n" * 10000, b"", self.pythiad.http)

    def test_chunks_of_a_byte(self):
        self.flood("chunks of a byte", b"1\r\n \r\n" * 10000, self.HEAD + b"Transfer-Encoding: chunked\r\n\r\n", self.pythiad.http)

    def test_many_headers(self):
        self.flood("many headers", (self.HEAD + b"a:\r\n" * 5000 + b"\r\n") * 10, b"", self.pythiad.http)


class Strangers(Floods):
    """Floods of those who have no token, and of those who have no certificate."""
    BODY = pack(grpc.DATA, 0, 1, grpc.framed(bytes(1 << 20))[:16384])

    def setUp(self):
        self.folder = rig.make_folder(self)
        with open(f"{self.folder}/token", "w", encoding="ascii") as to:
            to.write("secret")
        os.chmod(f"{self.folder}/token", 0o600)

    def start(self, *options):
        self.pythiad = rig.Pythiad(self, *options, f"--ingest-token={self.folder}/token", folder=self.folder)

    def check(self):
        tls = self.tls and rig.tls_context(self.folder, "client", "h2")
        with grpc.Connection(self.pythiad.grpc, tls) as link:
            self.assertEqual(link.call(otlp.protobuf([Span()]), more=[("authorization", "Bearer secret")]).status, grpc.OK)

    def test_bodies_without_a_token(self):
        self.start()
        self.flood("bodies without a token", self.BODY * 100, BEGUN, total=100 << 20)
        self.flood("calls without a token", streams(CALL, first=3), BEGUN)
        head = Http1.HEAD + b"Content-Length: 4000000\r\n\r\n"
        self.flood("bodies without a token over HTTP", head + bytes(4000000), b"", self.pythiad.http, total=100 << 20)
        metrics = self.pythiad.metrics()
        self.assertEqual((metrics["pythia_body_bytes_held"], metrics["pythia_bodies_total"]), (0, 3))  # those of check()

    def test_handshakes(self):
        rig.make_certificates(self.folder)
        self.start(f"--tls-key={self.folder}/server.key", f"--tls-certificate={self.folder}/server.pem", f"--tls-trust={self.folder}/ca.pem")
        self.tls = rig.tls_context(self.folder, "client")
        for name, port, protocol in (("gRPC", self.pythiad.grpc, "h2"), ("HTTP", self.pythiad.http, "http/1.1")):
            begun = ssl.MemoryBIO()
            with self.assertRaises(ssl.SSLWantReadError):
                rig.tls_context(self.folder, alpn=protocol).wrap_bio(ssl.MemoryBIO(), begun, server_hostname="localhost").do_handshake()
            self.flood(f"handshakes of {name}", b"", begun.read(), port, total=0)


if __name__ == "__main__":
    rig.main()
