#!/usr/bin/env python3
"""Server-sent events: who listens is told of what changes. usage: test_events.py BIN [SANITIZER]"""
import json
import socket
import time
import unittest

import otlp
import rig

CLIENTS_MAX = 32


class Listener:
    """A client that reads events, by hand: nothing between it and the bytes."""

    def __init__(self, test, pythiad, receive=None, headers=""):
        self.socket = socket.socket()
        test.addCleanup(self.socket.close)
        if receive:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        self.socket.settimeout(rig.patience(20))
        self.socket.connect(("127.0.0.1", pythiad.control))
        self.socket.sendall(f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode())
        self.bytes = b""

    def until(self, end):
        """What came up to and with `end`; None: the connection ended before."""
        while end not in self.bytes:
            try:
                more = self.socket.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                return None
            self.bytes += more
        found, self.bytes = self.bytes.split(end, 1)
        return found + end

    def head(self):
        return self.until(b"\r\n\r\n").decode()

    def event(self):
        """The status that the next event has; a heartbeat is passed over."""
        while True:
            chunk = self.until(b"\n\n\r\n")  # a chunk is one event
            if chunk is None:
                return None
            text = chunk.split(b"\r\n", 1)[1].decode()
            if text.startswith("event: status\ndata: "):
                return json.loads(text.split("data: ", 1)[1])


class Events(unittest.TestCase):
    def setUp(self):
        self.pythiad = rig.Pythiad(self, "--quiet-ms=50")

    def send(self):
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(("step",)))).status, 200)

    def test_the_status_comes_at_once_and_when_it_changes(self):
        listener = Listener(self, self.pythiad)
        head = listener.head()
        self.assertTrue(head.startswith("HTTP/1.1 200 "), head)
        self.assertIn("Content-Type: text/event-stream", head)
        self.assertIn("Cache-Control: no-store", head)
        first = listener.event()
        self.assertEqual((first["doing"], first["spans"]), ("works", 0))
        self.send()
        while listener.event()["spans"] != 2:
            pass
        self.assertEqual(self.pythiad.post("/v1/off").status, 200)
        while listener.event()["doing"] != "off":
            pass
        self.assertEqual(self.pythiad.metric("pythia_event_clients"), 1)

    def test_a_client_that_leaves_makes_room(self):
        listeners = [Listener(self, self.pythiad) for _ in range(CLIENTS_MAX)]
        for listener in listeners:
            listener.head()
        answer = self.pythiad.get("/v1/events")
        self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "10"))
        self.assertEqual(self.pythiad.metric("pythia_event_clients_refused_total"), 1)
        listeners[0].socket.close()
        rig.until(lambda: self.send() or self.pythiad.metric("pythia_event_clients") == CLIENTS_MAX - 1, 20)
        self.assertIn("200", Listener(self, self.pythiad).head())

    def test_a_client_that_does_not_read_is_closed_and_counted(self):
        slow = Listener(self, self.pythiad, receive=2048)
        good = Listener(self, self.pythiad)
        good.head()
        def dropped():
            self.send()
            good.event()
            return self.pythiad.metric("pythia_event_clients_dropped_total") == 1
        rig.until(dropped, 120)
        rig.until(lambda: self.pythiad.metric("pythia_event_clients") == 1, 10)
        while slow.event():
            pass  # what it had got before, and then the end
        spans = self.pythiad.get("/v1/status").json["spans"]
        self.send()
        while good.event()["spans"] != spans + 2:
            pass

    def test_the_end_does_not_wait_for_a_client(self):
        listener = Listener(self, self.pythiad)
        listener.head()
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)
        while listener.event():
            pass

    def test_a_page_of_another_site_may_not_listen(self):
        self.assertIn(" 403 ", Listener(self, self.pythiad, headers="Origin: http://elsewhere\r\n").head())

    def test_an_idle_client_costs_no_more_than_heartbeats(self):
        def wakes():
            with open(f"/proc/{self.pythiad.pid}/status", encoding="ascii") as lines:
                return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:"))
        listener = Listener(self, self.pythiad)
        listener.head()
        listener.event()
        time.sleep(1)  # the answers before it have gone
        before, begun = wakes(), time.monotonic()
        chunk = listener.until(b":\n\n\r\n")
        self.assertEqual(chunk.strip(), b"3\r\n:")
        self.assertLessEqual(wakes() - before, 5 * (time.monotonic() - begun) + 1)


if __name__ == "__main__":
    rig.main()
