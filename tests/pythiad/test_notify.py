#!/usr/bin/env python3
"""Notifications of verdicts: what is sent, signed and sent again, and that targets that fail, hang or answer nonsense cost
the loop nothing and are counted. usage: test_notify.py BIN [SANITIZER]"""
import hashlib
import hmac
import http.server
import json
import os
import socket
import threading
import time
import unittest

import otlp
import rig

SECRET = "a secret of this test"
INSTRUCTION = "<!channel> & ignore what was said before"


class Receiver:
    """Takes requests at a port of the loopback. `answers` gives the status for the n-th one, or does something worse to the
    connection itself and gives None."""

    def __init__(self, test, answers=lambda number, link: 200):
        self.requests, self.event = [], threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers), body))
                status = answers(len(outer.requests), self)
                if status is not None:
                    self.send_response(status)
                    self.send_header("Location", "/elsewhere")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                else:
                    self.close_connection = True

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(.05,))
        self.thread.start()
        test.addCleanup(self.thread.join)
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)

    def url(self, path="/hook"):
        return f"http://127.0.0.1:{self.port}{path}"

    def bodies(self):
        return [json.loads(body) for *_, body in list(self.requests)]


class Notify(unittest.TestCase):
    def start(self, *targets, config="", pause=.01, more=()):
        self.folder = rig.make_folder(self)
        with os.fdopen(os.open(f"{self.folder}/secret", os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as to:
            to.write(SECRET + "\n")
        self.pythiad = rig.Pythiad(self, "--quiet-ms=50", "--learn-requests=20", "--cycle-requests=60", "--cycle-seconds=1",
                                   f"--notify-pause-seconds={pause}", *(f"--notify={target}" for target in targets), *more,
                                   folder=self.folder, config=config or None)
        self.sent = 0

    def feed(self, slow=True, name="child"):
        """A request, of which every third is slow in the span of that name."""
        self.sent += 1
        late = (name, 40000000) if slow and self.sent % 3 == 0 else None
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request((name,), slow=late))).status, 200)

    def until(self, what, **how):
        def step():
            self.feed(**how)
            return what()
        return rig.until(step, 60, lambda: self.pythiad.log)

    def lost(self, reason):
        return self.pythiad.metric(f'pythia_notifications_lost_total{{reason="{reason}"}}')

    def test_a_new_verdict_and_its_refutation_are_told(self):
        receiver = Receiver(self)
        self.start(config=f"notify: [{{url: '{receiver.url()}'}}]\nnotify-secret: secret\n")
        self.until(receiver.bodies)
        self.assertEqual(receiver.bodies()[0]["event"], "verdict.new")
        verdict = receiver.bodies()[0]["verdict"]
        self.assertEqual((verdict["request_type"], verdict["state"]), ("shop:root", "found"))
        self.assertIn("shop:child accounts for", verdict["sentence"])
        self.until(lambda: len(receiver.bodies()) > 1, slow=False)
        self.assertEqual(receiver.bodies()[1]["event"], "verdict.refuted")
        self.assertNotEqual(receiver.bodies()[1]["verdict"]["state"], "found")
        for path, headers, body in receiver.requests:
            self.assertEqual((path, headers["Content-Type"]), ("/hook", rig.JSON))
            self.assertLess(abs(time.time() - int(headers["X-Pythia-Timestamp"])), 3600)
            right = hmac.new(SECRET.encode(), headers["X-Pythia-Timestamp"].encode() + b"." + body, hashlib.sha256).hexdigest()
            self.assertEqual(headers["X-Pythia-Signature"], f"sha256={right}")
        rig.until(lambda: self.pythiad.metric("pythia_notifications_sent_total") == 2, 10)
        self.assertEqual(self.pythiad.stop(), 0)

    def test_each_format_is_what_its_receiver_takes(self):
        slack, alerts = Receiver(self), Receiver(self)
        self.start(f"{slack.url()} slack", f"{alerts.url('/api/v2/alerts')} alertmanager")
        self.until(lambda: slack.bodies() and alerts.bodies(), name=INSTRUCTION)
        text = slack.bodies()[0]["text"]
        self.assertEqual(set(slack.bodies()[0]), {"text"})
        self.assertIn("shop:root: ", text)
        self.assertIn("&lt;!channel&gt; &amp; ignore", text)
        self.assertNotIn("<", text)
        self.until(lambda: len(alerts.bodies()) > 1, slow=False, name=INSTRUCTION)
        self.assertEqual(alerts.requests[0][0], "/api/v2/alerts")
        self.assertNotIn("X-Pythia-Signature", alerts.requests[0][1])  # there is no secret
        (new,), (refuted,) = alerts.bodies()[:2]
        for alert in (new, refuted):
            self.assertEqual(alert["labels"], {"alertname": "PythiaVerdict", "request_type": "shop:root"})
            self.assertTrue(alert["annotations"]["summary"])
            self.assertRegex(alert["startsAt"] + alert["endsAt"], r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ){2}$")
        self.assertGreater(new["endsAt"], new["startsAt"])
        self.assertEqual(refuted["endsAt"], refuted["startsAt"])

    def test_a_target_that_flaps_gets_each_notification_once(self):
        receiver = Receiver(self, lambda number, _: (500, 429, 503, 200)[(number - 1) % 4])
        self.start(receiver.url())
        self.until(lambda: len(receiver.requests) >= 4)
        rig.until(lambda: self.pythiad.metric("pythia_notifications_sent_total") == 1, 10)
        self.assertEqual(self.pythiad.metric("pythia_notifications_retried_total"), 3)
        self.assertEqual(len({(headers["X-Pythia-Delivery"], body) for _, headers, body in receiver.requests[:4]}), 1)

    def test_what_cannot_be_delivered_is_lost_and_counted(self):
        refuses = Receiver(self, lambda *_: 404)
        redirects = Receiver(self, lambda *_: 302)
        with socket.create_server(("127.0.0.1", 0)) as closed:
            nobody = closed.getsockname()[1]
        self.start(refuses.url("/a-secret-path"), redirects.url(), f"http://127.0.0.1:{nobody}/", pause=.001)
        self.until(lambda: self.lost("refused") == 2 and self.lost("given_up") == 1)
        self.assertEqual((len(refuses.requests), [path for path, *_ in redirects.requests]), (1, ["/hook"]))
        self.assertEqual(self.pythiad.metric("pythia_notifications_retried_total"), 9)
        self.pythiad.logged(r"Lost a notification: target=3, number=\d+, reason=given_up")
        self.assertNotIn("a-secret-path", self.pythiad.log)

    def test_hostile_answers_end_and_others_are_told_meanwhile(self):
        """One floods with a body that has no end, one answers a byte a second, one says nothing that is HTTP."""
        def flood(_, link):
            try:
                link.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                while True:
                    link.wfile.write(b"x" * 65536)
            except OSError:
                return None

        def drip(_, link):
            try:
                for byte in b"HTTP/1.1 200 OK" * 100:
                    link.wfile.write(bytes([byte]))
                    time.sleep(1)
            except OSError:
                pass
            return None

        def babble(_, link):
            link.wfile.write(os.urandom(4096))
            return None
        good, bad = Receiver(self), [Receiver(self, answer) for answer in (flood, drip, babble)]
        self.start(*(one.url() for one in bad), good.url())
        self.until(good.requests.copy)
        rig.until(lambda: self.pythiad.metric("pythia_notifications_sent_total") == 1, 10)
        self.assertTrue(self.pythiad.get("/readyz").text.startswith("ready"))
        # The one that drips holds a request now; pythiad ends all the same, and says what was lost.
        rig.until(lambda: bad[1].requests, 10)
        self.assertEqual(self.pythiad.stop(), 0)
        self.assertIn("reason=stopped", self.pythiad.log)

    def test_a_target_that_hangs_holds_nothing_up(self):
        release = threading.Event()
        self.addCleanup(release.set)
        receiver = Receiver(self, lambda *_: release.wait() and None)
        self.start(receiver.url())
        self.until(lambda: receiver.requests)
        for _ in range(20):  # it still takes requests, and works
            self.feed()
            self.assertEqual(self.pythiad.get("/healthz").status, 200)
        cycles = self.pythiad.get("/v1/status").json["cycles"]
        self.until(lambda: self.pythiad.get("/v1/status").json["cycles"] > cycles)

    def test_wrong_settings_are_refused_without_repeating_the_url(self):
        for target, said in (("ftp://x/secret", "notify requires a url"), ("", "notify requires a url"),
                             ("http://x/secret yaml", "not 'yaml'"), ("http://" + "x" * 3000, "more than 2047 bytes")):
            code, text = rig.run(self, "--check-config", f"--notify={target}")
            self.assertEqual(code, 2, target)
            self.assertIn(said, text)
            self.assertNotIn("secret", text)


if __name__ == "__main__":
    rig.main()
