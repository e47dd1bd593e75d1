#!/usr/bin/env python3
"""Send traces as if they happened now: stream.py [--url URL] [--open FILE] [--seconds S] FILE

FILE is OTLP/JSON, a batch a line, as `pythia generate` writes it. All times are moved so that the first is now, and each
batch is sent when its last span ends. With --agent SERVICE trace points obey: the control interface is asked what shall be
open, as an agent does, and closed spans are left out, with their children hung on the nearest open span above.
"""
import argparse
import http.client
import json
import random
import sys
import threading
import time
import urllib.parse

parser = argparse.ArgumentParser()
parser.add_argument("--url", default="http://127.0.0.1:4318")
parser.add_argument("--agent", action="append", default=[], help="a service whose points obey")
parser.add_argument("--seconds", type=float, default=0, help="at most; 0: all of the file, once")
parser.add_argument("--rounds", type=int, default=1, help="times the file is sent; 0: until it is stopped")
parser.add_argument("--shuffle", type=float, default=0, help="seconds by which batches are late, at random")
parser.add_argument("--duplicate", type=float, default=0, help="share of the batches that are sent twice")
parser.add_argument("--orphans", action="store_true", help="print how many spans had no parent in what was sent")
parser.add_argument("file")
args = parser.parse_args()
where = urllib.parse.urlsplit(args.url)


class Agent(threading.Thread):
    """What a process of a service does: asks what shall be open, and reports what it has met."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.etag, self.list = service, "", None
        self.met, self.told, self.defaults, self.hits = set(), set(), {}, {}
        self.lock = threading.Lock()

    def is_open(self, point, default):
        with self.lock:
            self.met.add(point)
            self.defaults[point] = default
            self.hits[point] = self.hits.get(point, 0) + 1
            if self.list is None:
                return default
            if point in self.list["open"] or point in self.list["open_for"]:  # it does not tell types apart
                return True
            return default and self.list["default"] == "skeleton" and point not in self.list["closed"]

    def report(self, link):
        with self.lock:
            points = [{"id": p, "hits": self.hits.pop(p, 0), "open_by_default": self.defaults[p]} for p in sorted(self.met)]
            self.met = set()
        body = {"service": self.service, "instance": "stream", "applied": self.etag.strip('"'), "points": points}
        link.request("POST", "/v1/trace-points", json.dumps(body), {"Content-Type": "application/json"})
        link.getresponse().read()

    def run(self):
        link = http.client.HTTPConnection(where.hostname, where.port, timeout=5)
        path = "/v1/trace-points?instance=stream&service=" + urllib.parse.quote(self.service)
        while True:
            try:
                link.request("GET", path, headers={"If-None-Match": self.etag} if self.etag else {})
                answer = link.getresponse()
                body = answer.read()
                changed = answer.status == 200
                if changed:
                    with self.lock:
                        self.list, self.etag = json.loads(body), answer.headers["ETag"]
                if changed or self.met:
                    self.report(link)
            except (OSError, http.client.HTTPException):
                link.close()
            time.sleep(.05)


agents = {name: Agent(name) for name in args.agent}
for agent in agents.values():
    agent.start()
requests = []
with open(args.file, encoding="utf-8") as lines:
    for line in lines:
        batch = json.loads(line)
        spans = [s for r in batch["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]
        requests.append((min(int(s["startTimeUnixNano"]) for s in spans),
                         max(int(s["endTimeUnixNano"]) for s in spans), batch))
first = min(r[0] for r in requests)
length = max(r[1] for r in requests) - first
orphans = sent = 0


def show(batch, offset):
    """The batch with its times moved, and without what is closed."""
    shown, parents = {"resourceSpans": []}, {}
    for resource in batch["resourceSpans"]:
        service = next((a["value"]["stringValue"] for a in resource["resource"]["attributes"]
                        if a["key"] == "service.name"), "")
        agent, scopes = agents.get(service), []
        for scope in resource["scopeSpans"]:
            spans, name = [], scope.get("scope", {}).get("name", "")
            for span in scope["spans"]:
                entry = span.get("kind") in (2, 5) or not span.get("parentSpanId")
                point = ":".join(part for part in (service, name, span["name"]) if part)
                if agent and not agent.is_open(point, entry):
                    parents[span["spanId"]] = span.get("parentSpanId", "")
                    continue
                moved = dict(span, startTimeUnixNano=str(int(span["startTimeUnixNano"]) + offset),
                             endTimeUnixNano=str(int(span["endTimeUnixNano"]) + offset))
                spans.append(moved)
            scopes.append(dict(scope, spans=spans))
        shown["resourceSpans"].append(dict(resource, scopeSpans=scopes))
    for resource in shown["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                while span.get("parentSpanId") in parents:
                    span["parentSpanId"] = parents[span["parentSpanId"]]
    return shown


def new_id(batch, number):
    """Another round has other traces."""
    for resource in batch["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            scope["spans"] = [dict(s, traceId=f"{number:08x}" + s["traceId"][8:]) for s in scope["spans"]]


def main():
    global sent
    chance = random.Random(1)
    link = http.client.HTTPConnection(where.hostname, where.port, timeout=30)
    begun, number = time.time(), 0
    while args.rounds == 0 or number < args.rounds:
        offset = int(time.time() * 1e9) - first
        events = []
        for _, end, batch in requests:
            late = chance.random() * args.shuffle
            events.append((end + late * 1e9, batch))
            if chance.random() < args.duplicate:
                events.append((end + (late + .01) * 1e9, batch))
        for when, batch in sorted(events, key=lambda e: e[0]):
            wait = (when + offset) / 1e9 - time.time()
            if wait > 0:
                time.sleep(wait)
            if args.seconds and time.time() - begun > args.seconds:
                return
            body = show(batch, offset)
            if number > 0:
                new_id(body, number)
            while True:
                link.request("POST", "/v1/traces", json.dumps(body), {"Content-Type": "application/json"})
                answer = link.getresponse()
                answer.read()
                if answer.status not in (429, 503):
                    break
                time.sleep(float(answer.headers.get("Retry-After", 1)))
            if answer.status != 200:
                sys.exit(f"stream.py: the answer is {answer.status}")
            sent += 1
        number += 1


try:
    main()
except KeyboardInterrupt:
    pass
print(f"{sent} batches sent", file=sys.stderr)
