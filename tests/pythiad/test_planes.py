#!/usr/bin/env python3
"""Control planes that are lost and come back, and targets that do not obey. usage: test_planes.py BIN [SANITIZER]"""
import json
import os
import re
import signal
import threading
import time
import unittest

import otlp
import rig
from agent import Agent


class Case(unittest.TestCase):
    options = ("--learn=default",)

    def setUp(self):
        self.pythiad = rig.Pythiad(self, *self.options)

    def tearDown(self):
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def meet(self, *agents):
        for agent in agents:
            self.assertEqual(agent.report().status, 200)
        known = sum(len(agent.points) for agent in agents)
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == known, 5)

    def open(self, *ids):
        self.assertEqual(self.pythiad.post("/v1/open", {"trace_points": list(ids)}).status, 200)

    def point(self, trace_point):
        return next(p for p in self.pythiad.get("/v1/points").json if p["trace_point"] == trace_point)


class LostAndBack(Case):
    """Fault 13: it is seen within 5 s that a target is gone, and what shall be open is there within 5 s after its return,
    each point switched once."""

    def test_an_agent_that_ends_and_comes_back(self):
        agent = Agent(self.pythiad, "shop", ("a", "b", "c"))
        self.meet(agent)
        self.open("shop:a")
        rig.until(lambda: agent.is_open("a"), 5)
        rig.until(lambda: agent.poll() is not None and self.pythiad.metric("pythia_desired_in_force") == 1, 5)
        gone, switches = time.monotonic(), self.pythiad.metric("pythia_switches_total")
        rig.until(lambda: self.pythiad.metric("pythia_targets_lost") == 1, 5)
        rig.within(self, time.monotonic() - gone, 5, "until an agent that ended is lost")
        self.assertEqual(self.point("shop:a")["result"], "lost")
        self.assertIn("plane http: 3 points, in force, 1 targets lost\n", self.pythiad.ctl("status").stdout)
        self.open("shop:b")
        time.sleep(1)
        # It is started again, and has forgotten everything.
        back, agent = time.monotonic(), Agent(self.pythiad, "shop", ("a", "b", "c"))
        self.assertEqual(agent.report().status, 200)
        lists = []

        def settled():
            got = agent.poll()
            if got and (not lists or got["open"] != lists[-1]):
                lists.append(got["open"])
            return (self.pythiad.metric("pythia_desired_in_force") == 1 and self.pythiad.metric("pythia_targets_lost") == 0 and
                    lists and sorted(lists[-1]) == ["shop:a", "shop:b"])
        rig.until(settled, 5, lambda: str(lists))
        rig.within(self, time.monotonic() - back, 5, "from an agent's return to its list in force")
        self.assertEqual(len(lists), 1, lists)
        self.assertEqual(self.pythiad.metric("pythia_switches_total"), switches + 1)
        self.assertEqual(self.pythiad.metric("pythia_points_quarantined"), 0)

    def test_a_point_is_switched_at_most_once_a_round(self):
        agent = Agent(self.pythiad, "shop", ("a",))
        self.meet(agent)
        begun, seen, asked = time.monotonic(), [False], 0

        def look():
            is_open = agent.is_open("a")
            if is_open != seen[-1]:
                seen.append(is_open)
        while time.monotonic() - begun < 4:
            asked += 1
            self.assertEqual(self.pythiad.post("/v1/open" if asked % 2 else "/v1/close", {"trace_points": ["shop:a"]}).status, 200)
            look()
        self.assertGreater(asked, 20)
        self.assertLessEqual(len(seen) - 1, (time.monotonic() - begun) / 1 + 1)  # a round is of a second
        # The last switch may have been thrown after the last look.
        rig.until(lambda: look() or self.pythiad.metric("pythia_switches_total") == len(seen) - 1, 5)


class Disobedience(Case):
    """Fault 14: a point that does not obey is given back its default, left alone, and shown."""
    options = ("--quiet-ms=50", "--cycle-requests=60", "--learn-requests=20", "--cycle-seconds=1")

    def test_a_target_that_never_says_that_it_obeyed(self):
        good, bad = Agent(self.pythiad, "shop", ("a",)), Agent(self.pythiad, "stock", ("<b>",))
        self.meet(good, bad)

        def poll():
            """The bad one asks, and forgets what it was told."""
            got = bad.poll_without_obeying()
            return good.is_open("a"), got and "stock:<b>" in got["open"]
        self.open("shop:a", "stock:<b>")
        rig.until(lambda: poll() == (True, True), 5)
        begun = time.monotonic()
        rig.until(lambda: poll() and self.pythiad.metric("pythia_points_quarantined") == 1, 10)
        rig.within(self, time.monotonic() - begun, 7, "until a point is quarantined")  # 5 s to obey, and a poll
        rig.until(lambda: poll() == (True, False), 5)  # rolled back; the other one is as it was
        rig.until(lambda: poll() and self.pythiad.metric("pythia_desired_in_force") == 1, 5)
        self.assertEqual([self.point(id)["quarantined"] for id in ("shop:a", "stock:<b>")], [False, True])
        self.assertRegex(self.pythiad.ctl("status").stdout, r"quarantined +1\n")
        self.assertRegex(self.pythiad.ctl("points").stdout, r"stock:<b>  \(.*quarantined")
        self.pythiad.logged("A trace point does not respond to orders and is quarantined: trace-point=stock:<b>, plane=http")

        # Asked for again, it still waits for the end of its quarantine.
        self.open("stock:<b>")
        time.sleep(.5)
        self.assertEqual(poll(), (True, False))


class Processes(threading.Thread):
    """Those of one service, each with an agent that asks twenty times a second, and says what it has in force."""

    def __init__(self, pythiad, service, names):
        super().__init__(daemon=True)
        self.pythiad, self.service, self.lock, self.ends = pythiad, service, threading.Lock(), threading.Event()
        self.points, self.etags = [{"id": f"{service}:{name}"} for name in names], {}
        self.join_in("1")
        self.start()

    def stop(self):
        self.ends.set()
        self.join()

    def report(self, instance):
        body = {"service": self.service, "instance": instance, "applied": self.etags[instance].strip('"'), "points": self.points}
        if rig.ask(self.pythiad.http, "POST", "/v1/trace-points", json.dumps(body), rig.JSON).status != 200:
            raise AssertionError("the report was refused")

    def join_in(self, instance, seconds=0):
        """A process begins, or has forgotten what it had, and asks after so long: it is looked at twice a second."""
        with self.lock:
            self.etags[instance] = ""
            self.report(instance)
            time.sleep(seconds)

    def meet(self, name):
        """The first one comes by a point for the first time."""
        with self.lock:
            self.points.append({"id": f"{self.service}:{name}"})
            self.report("1")

    def run(self):
        where = f"/v1/trace-points?service={self.service}&instance="
        while not self.ends.wait(.05):
            with self.lock:
                for instance, etag in self.etags.items():
                    answer = rig.ask(self.pythiad.http, "GET", where + instance, **({"If_None_Match": etag} if etag else {}))
                    if answer.status == 200:
                        self.etags[instance] = answer.headers["ETag"]


class Evidence(Case):
    """What was gathered of a cycle stays as long as nobody has lost what was in force."""
    options = ("--quiet-ms=50", "--cycle-requests=60", "--learn-requests=20", "--cycle-seconds=600")

    def setUp(self):
        super().setUp()
        self.processes = Processes(self.pythiad, "shop", ("root", "a", "b"))
        for _ in range(100):
            self.feed(5)
            status = self.status()
            if not status["learning"] and status["in_force"] and status["cycles"] == 1:
                break
        self.assertEqual(status["learnt_types"], 1, self.pythiad.log)
        time.sleep(.2)  # what was under way

    def tearDown(self):
        self.processes.stop()
        super().tearDown()

    def status(self):
        return self.pythiad.get("/v1/status").json

    def feed(self, count):
        for _ in range(count):
            self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(("a", "b")))).status, 200)
            time.sleep(.05)

    def gather(self, count):
        """Requests of which no cycle is full; how many have been kept apart by then."""
        before = self.status()["requests"]
        self.feed(count)
        rig.until(lambda: self.status()["requests"] == before + count, 5)
        return self.status()["requests_apart"]

    def test_a_closed_point_that_is_met_puts_no_request_apart(self):
        apart = self.gather(25)
        for number in range(12):  # each time it is asked again since when the set has been in force
            version = self.status()["desired_version"]
            self.processes.meet(f"later {number}")
            rig.until(lambda: self.status()["desired_version"] == version + 1 and self.status()["in_force"], 5)
        self.assertEqual(self.status()["requests_apart"], apart)

    def test_what_a_process_forgets_puts_requests_apart(self):
        apart = self.gather(25)
        self.processes.join_in("1", .6)
        rig.until(lambda: self.status()["requests_apart"] >= apart + 25, 5)

    def test_processes_that_join_do_not_keep_a_cycle_from_its_end(self):
        cycles, begun = self.status()["cycles"], time.monotonic()
        for number in range(300):
            if self.status()["cycles"] == cycles + 2:
                break
            self.processes.join_in(f"new-{number}", .6)
            self.feed(15)  # more slowly than a cycle needs
        self.assertEqual(self.status()["cycles"], cycles + 2, self.pythiad.log)
        self.assertGreater(number, 6)
        self.assertEqual(self.status()["quarantined"], 0)
        self.assertLess(self.status()["requests_apart"], 60)
        print(f"two cycles in {time.monotonic() - begun:.1f} s, in which {number} processes joined", flush=True)


class Instances(unittest.TestCase):
    """A pin may hold at some instances only."""
    options = ()

    def setUp(self):
        self.folder = rig.make_folder(self)
        self.start()

    def start(self):
        self.pythiad = rig.Pythiad(self, "--learn=default", f"--state={self.folder}/state.db", *self.options, folder=self.folder)
        self.agents = {}
        for instance in ("db-1:11:a", "db-1:12:b", "db-2:13:c"):
            self.join(instance)
        rig.until(lambda: self.pythiad.metric("pythia_points_known") == 2, 5)

    def join(self, instance, service="store"):
        self.agents[instance] = Agent(self.pythiad, service, ("db:read", "write"), instance=instance)
        self.assertEqual(self.agents[instance].report().status, 200)

    def opened(self):
        """The instances that have each point open."""
        where = {"store:db:read": set(), "store:write": set()}
        for instance, agent in self.agents.items():
            for point in (agent.poll() or {"open": []})["open"]:
                where[point].add(instance.split(":")[1])
        return ["".join(sorted(numbers)) for numbers in where.values()]

    def becomes(self, read, write):
        rig.until(lambda: self.opened() == [read, write], 5, lambda: f"{self.opened()}\n{self.pythiad.log}")

    def shown(self, trace_point):
        return next(p for p in self.pythiad.get("/v1/points").json if p["trace_point"] == trace_point)

    def refused(self, status, why, *words):
        done = self.pythiad.ctl(*words)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"pythiad refuses ({status}): {why}", done.stderr)

    def order(self, *words):
        done = self.pythiad.ctl(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split(",")[0]

    def test_a_pin_holds_where_it_was_asked_for(self):
        self.assertEqual(self.order("open", "db-1/store/*/read"), "1 trace point")
        self.becomes("1112", "")
        self.join("db-1:14:d")  # later
        self.join("db-3:15:e")
        self.becomes("111214", "")
        rig.until(lambda: self.pythiad.metric("pythia_desired_in_force") == 1, 5)
        rig.until(lambda: (self.shown("store:db:read")["open_instances"], self.shown("store:db:read")["instances"]) == (3, 5), 5)
        read, write = self.shown("store:db:read"), self.shown("store:write")
        self.assertEqual((read["wanted"], read["pin"], read["places"]), (True, "open", ["db-1/*"]))
        self.assertEqual((write["wanted"], write["pin"], write["places"], write["open_instances"]), (False, None, None, 0))
        self.assertRegex(self.pythiad.ctl("points").stdout, r"open .*  store:db:read  \(applied, at 3 of 5 instances, ")
        # All that is named in one order holds; a later order takes its place.
        self.assertEqual(self.order("open", "db-2/store/13/db:*", "/store/11"), "2 trace points")
        self.becomes("1113", "11")
        self.assertEqual(self.order("open", "*/store/*/write"), "1 trace point")  # everywhere, on every plane
        self.becomes("1113", "1112131415")
        self.assertIsNone(self.shown("store:write")["places"])
        self.assertEqual(self.order("close", "db-[12]/store//write"), "1 trace point")
        self.becomes("1113", "")  # elsewhere the search decides, which wants it closed
        self.assertEqual(self.order("unpin", "store:*"), "2 trace points")
        self.becomes("", "")

    def test_a_pin_survives_a_restart(self):
        self.order("open", "db-1/store")
        self.order("level", "off", "db-1/store/12/write")
        self.becomes("1112", "")
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)
        self.start()
        self.becomes("1112", "")
        self.order("level", "all", "/store/13/write")
        self.becomes("1112", "13")

    def test_what_some_instances_cannot_have(self):
        self.refused(404, "unknown trace points: db-1/shop", "open", "db-1/shop")
        self.refused(400, "a pin is removed at all instances; leave out HOST and PROCESS", "unpin", "db-1/store")
        self.refused(400, "a pin is removed at all instances", "level", "function", "/store/11")
        answer = self.pythiad.post("/v1/open", {"trace_points": ["db-1/store"], "types": ["*"]})
        self.assertEqual(answer.status, 404)  # no type is known
        self.order("level", "function", "*/store/*/read")
        self.becomes("", "")


class InstancesOfSettings(Instances):
    """--always and --never hold at some instances, and for what turns up later, without a restart."""
    options = ("--always=db-1/store/*/read", "--always=*/store/*/write", "--never=db-*/store/12", "--always=///late*")

    def test_a_setting_holds_where_it_says_so_also_later(self):
        self.becomes("11", "1113")
        self.join("db-1:14:d")
        self.join("db-3:15:e")
        self.join("web-1:12:f")  # not on db-*
        self.becomes("1114", "1112131415")
        rig.until(lambda: self.pythiad.metric("pythia_desired_in_force") == 1, 5)
        rig.until(lambda: self.shown("store:db:read")["open_instances"] == 2, 5)
        read, write = self.shown("store:db:read"), self.shown("store:write")
        self.assertEqual((read["pin"], read["places"], read["closed_places"]), (None, ["db-1/*"], ["db-*/12"]))
        self.assertEqual((write["wanted"], write["places"], write["closed_places"]), (True, None, ["db-*/12"]))
        self.assertRegex(self.pythiad.ctl("points").stdout, r"open .*  store:write  \(applied, at 5 of 6 instances, ")
        # A service and a trace point that nobody had before.
        late = Agent(self.pythiad, "shop", ("later", "late/one", "soon"), instance="web-1:20:a")
        self.assertEqual(late.report().status, 200)
        rig.until(lambda: (late.poll() or {"open": []})["open"] == ["shop:late/one", "shop:later"], 5)
        self.becomes("1114", "1112131415")

    def test_pins_by_hand_hold_together_with_it(self):
        self.becomes("11", "1113")
        self.order("open", "db-2/store/13/read")
        self.becomes("1113", "1113")
        self.order("close", "/store/11/write")  # over --always
        self.becomes("1113", "13")
        answer = self.pythiad.post("/v1/open", {"trace_points": ["db-*/store/12/read"]})  # not over --never
        self.assertEqual((answer.status, answer.json["trace_points"], answer.json["obeyed"]), (200, 1, 0))
        self.becomes("11", "13")  # in place of the former order
        self.order("close", "store:db:read")
        self.becomes("", "13")
        self.order("unpin", "store:*")
        self.becomes("11", "1113")

    def test_it_survives_a_restart(self):
        self.order("open", "db-2/store/13/read")
        self.becomes("1113", "1113")
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)
        self.start()
        self.becomes("1113", "1113")

    def test_how_a_text_is_read(self):
        self.pythiad.logged(r"a pattern of ids has a colon after the service, .*: setting=always, text=\*/store/\*/write$")
        self.assertNotIn("text=db-1", self.pythiad.log)

    test_a_pin_holds_where_it_was_asked_for = test_a_pin_survives_a_restart = test_what_some_instances_cannot_have = None


class OtherSettings(Instances):
    """A setting that is read again; ids and services with a slash."""

    def start(self):
        self.pythiad = rig.Pythiad(self, "--learn=default", config="always: ['db-1/store/11/read']\n", folder=self.folder)
        self.agents = {}
        for instance in ("db-1:11:a", "db-1:12:b", "db-2:13:c"):
            self.join(instance)

    def test_settings_are_read_again(self):
        self.becomes("11", "")
        with open(os.path.join(self.folder, "pythiad.yaml"), "w", encoding="utf-8") as to:
            to.write("always: ['/store/1[23]', 'team/db:*/x', '*/y', '*:*/z']\nnever: ['db-2/store/*/write']\n")
        self.pythiad.signal(signal.SIGHUP)
        self.becomes("1213", "12")
        team = Agent(self.pythiad, "team/db", ("GET /x", "GET /y", "GET /z"), instance="db-1:30:a")
        self.assertEqual(team.report().status, 200)
        rig.until(lambda: (team.poll() or {"open": []})["open"] == ["team/db:GET /x", "team/db:GET /z"], 5)

    test_a_pin_holds_where_it_was_asked_for = test_a_pin_survives_a_restart = test_what_some_instances_cannot_have = None


class OneOfSeveral(unittest.TestCase):
    """Points that cost too much at all instances of a service are opened at one of them."""
    HOSTS = 4
    STEPS = 5

    slow_hosts = range(HOSTS)

    def start(self, *options):
        self.pythiad = rig.Pythiad(self, "--quiet-ms=50", "--cycle-requests=60", "--learn-requests=20", "--cycle-seconds=1",
                                   "--points=3", *options)
        self.agents = {host: Agent(self.pythiad, "store", ("handle", *self.steps()), instance=f"db-{host}:{40 + host}:x")
                       for host in range(self.HOSTS)}
        self.number = 0

    def steps(self):
        return [f"step{i}" for i in range(self.STEPS)]

    def feed(self, count):
        """Requests that go to all instances in turn; the time of step3 differs. What is closed gives no spans."""
        for host, agent in self.agents.items():
            got = agent.poll()
            is_open = {} if got is None else {point.split(":")[1] for point in {*got["open"], *got["open_for"]}}
            for _ in range(count):
                self.number += 1
                self.send_one(host, is_open)

    def send_one(self, host, is_open):
        slow = self.number * 7 % 10 * 3000000 if host in self.slow_hosts else 0
        start, trace = time.time_ns() - 60000000, os.urandom(16)
        root = otlp.Span("GET /", trace=trace, start=start, length=12000000 + slow, kind=2)
        handle = otlp.Span("handle", trace=trace, parent=root.id, start=start + 1000000, length=10000000 + slow, kind=2)
        spans, at = [handle], start + 2000000
        for name in self.steps():
            length = 1000000 + (slow if name == "step3" else 0)
            if name in is_open or self.learning:
                spans.append(otlp.Span(name, trace=trace, parent=handle.id, start=at, length=length))
            at += length + 200000
        resource = {"host.name": f"db-{host}", "process.pid": 40 + host}
        self.assertEqual(self.pythiad.send(otlp.protobuf(spans, "store", resource=resource)).status, 200)
        self.assertEqual(self.pythiad.send(otlp.protobuf([root], "web")).status, 200)

    learning = True

    def where(self):
        """The hosts that have a step open."""
        lists = {host: agent.poll() or {"open": [], "open_for": {}} for host, agent in self.agents.items()}
        return [host for host, got in lists.items() if any("step" in point for point in {*got["open"], *got["open_for"]})]

    def points(self):
        return {p["trace_point"]: p for p in self.pythiad.get("/v1/points").json if p["switchable"]}

    def decided(self):
        for agent in self.agents.values():
            agent.poll()
        self.feed(5)
        self.learning = self.pythiad.get("/v1/status").json["learning"]
        return [d for d in self.pythiad.get("/v1/decisions").json if d["open"]]

    def test_the_instance_that_varies_is_opened_alone(self):
        self.slow_hosts = {2}
        self.start()
        for agent in self.agents.values():
            self.assertEqual(agent.report().status, 200)
        opened = rig.until(self.decided, 60, lambda: self.pythiad.log)
        for decision in opened:
            self.assertTrue(decision["reason"].startswith("at 1 of 4 instances: "), opened)
        self.assertTrue(any(re.search(r"; host db-2 accounts for \d+ % of the variance within hosts$", decision["reason"])
                            for decision in opened), opened)
        self.feed(1)
        rig.until(lambda: self.where() == [2], 10, lambda: str(self.points()))
        rig.until(lambda: self.feed(5) or any(
            "step3" in json.dumps(verdict) for verdict in self.pythiad.get("/v1/verdicts").json), 90,
            lambda: self.pythiad.get("/v1/report?format=text").text)
        self.assertEqual(self.where(), [2])
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)

    def test_one_instance_is_opened_and_another_when_it_is_gone(self):
        # A hit costs 1000 ns, of which a request may not have more than 300: it has a quarter of it, on average.
        self.start("--price-ns=1000", "--added-ns=300")
        for agent in self.agents.values():
            self.assertEqual(agent.report().status, 200)
        opened = rig.until(self.decided, 60, lambda: self.pythiad.log)
        self.assertTrue(all(d["reason"].startswith("at 1 of 4 instances, because at all it would add 1000 ns to a request: ")
                            for d in opened), opened)
        self.assertIn("opens  store:step", self.pythiad.ctl("decisions").stdout)
        self.feed(1)
        first = rig.until(lambda: len(self.where()) == 1 and self.where(), 10, lambda: str(self.points()))[0]
        rig.until(lambda: any(p["open_instances"] == 1 and p["instances"] == 4 for p in self.points().values()), 5,
                  lambda: str(self.points()))
        self.assertRegex(self.pythiad.ctl("points").stdout, r"store:step\d  \(.*, at 1 of 4 instances, ")
        # Requests of the others are no evidence, and the cause is found with those of the one.
        rig.until(lambda: self.feed(5) or any(
            "step3" in json.dumps(verdict) for verdict in self.pythiad.get("/v1/verdicts").json), 90,
            lambda: self.pythiad.get("/v1/report?format=text").text)
        self.assertGreater(self.pythiad.metric("pythia_requests_elsewhere_total"), 0)
        self.assertEqual(self.where(), [first])
        del self.agents[first]
        second = rig.until(lambda: self.feed(1) or (len(self.where()) == 1 and self.where()), 20, lambda: self.pythiad.log)[0]
        self.assertNotEqual(second, first)
        self.pythiad.logged("An instance with open trace points is gone, and another one takes its place: service=store")
        self.assertEqual(self.pythiad.stop(), 0, self.pythiad.log)


if __name__ == "__main__":
    rig.main()
