#!/usr/bin/env python3
"""The page of pythiad in a real Chromium. usage: test_page.py BIN [SANITIZER]; PYTHIA_SCREENSHOTS: a folder for pictures of each
view (else they are made, and thrown away); each view is checked with axe-core (browser.py)"""
import json
import os
import socket
import unittest
import urllib.parse

import browser
import otlp
import rig
from agent import Agent
from test_kafka import Mock

HOSTILE = "<img src=x onerror=console.log(1)><script>console.log(2)</script>"
FAST_MS, SLOW_MS = 5, 40
CYCLES = ("--quiet-ms=50", "--cycle-requests=60", "--learn-requests=20", "--cycle-seconds=600", "--trace-url=http://traces/{trace_id}?x=1")


class Shop:
    """Requests of a type: every third one has 9 items, and is slow in "lock_row"; nothing else goes with that."""

    def __init__(self, pythiad, root="checkout", service="shop", slow_ms=SLOW_MS):
        self.pythiad, self.root, self.service, self.slow_ms = pythiad, root, service, slow_ms
        self.slow, self.fast = set(), set()  # trace ids

    def send(self, count):
        for i in range(count):
            self.send_one(i)

    def send_one(self, i):
        slow = i % 3 == 0
        spans = otlp.request(("authorise", "lock_row"), length=FAST_MS * 1000000, service_root=self.root,
                             slow=("lock_row", self.slow_ms * 1000000 + i * 10000) if slow else ("lock_row", i * 10000),
                             attributes={"items": 9 if slow else i % 4, "tier": ("free", "gold")[i % 2]})
        (self.slow if slow else self.fast).add(spans[0].trace.hex())
        answer = self.pythiad.send(otlp.protobuf(spans, service=self.service))
        if answer.status != 200:
            raise AssertionError(answer.text)


@unittest.skipUnless(browser.find(), "chromium is not installed")
class PageCase(unittest.TestCase):
    options = ("--quiet-ms=50",)

    def setUp(self):
        self.pythiad = rig.Pythiad(self, *self.options)
        self.browser = browser.Browser(self)
        self.run_script, self.shows, self.click = self.browser.run, self.browser.shows, self.browser.click

    def tearDown(self):
        self.assertEqual([message for message in self.browser.messages if "Failed to load resource" not in message
                          and "net::ERR" not in message], [])

    def start_agent(self, names):
        """A program whose points are known as switchable before its first span arrives."""
        agent = Agent(self.pythiad, "shop", names)
        agent.report()
        rig.until(lambda: sum(one["switchable"] for one in self.pythiad.get("/v1/points").json) == len(names), 30)
        return agent

    def open(self, address=""):
        self.browser.open(f"http://127.0.0.1:{self.pythiad.control}/{address}")

    def found(self, *shops, name="checkout"):
        """Send requests until the verdicts have a cause for a type, and its key; that verdict."""
        def look():
            for i in range(60):  # of all types at once: a cycle ends with 60 of one
                for shop in shops:
                    shop.send_one(i)
            verdicts = {one["request_type"]: one for one in self.pythiad.get("/v1/verdicts").json}
            verdict = verdicts.get(f"shop:{name}")
            return verdict and verdict["state"] == "found" and verdict["explanation"] and verdict["group"] and verdict
        return rig.until(look, 60, lambda: self.pythiad.log)

    def count(self, selector):
        return self.run_script(f"document.querySelectorAll({json.dumps(selector)}).length")

    def hash(self):
        return urllib.parse.unquote_plus(self.run_script("location.hash"))


class Live(PageCase):
    """Events change the page in place."""

    def setUp(self):
        super().setUp()
        self.agent = self.start_agent(["a", "b", HOSTILE])
        self.open("#/points")
        self.shows("3 of 3 trace points are open", "shop")

    def test_an_event_shows_what_is_new_and_keeps_focus_scroll_and_elements(self):
        run = self.run_script
        run("document.documentElement.style.minHeight = '5000px'; scrollTo(0, 123);"
            "window.row = [...document.querySelectorAll('.tree li')].find(row => row.innerText.includes('b open'));"
            "row.querySelector('button').focus({preventScroll: true})")
        Agent(self.pythiad, "another", ["x"]).report()  # stands before it
        self.shows("4 of 4 trace points are open", "another")
        self.assertTrue(run("row.isConnected && row.contains(document.activeElement)"))
        self.assertEqual(run("document.activeElement.ariaLabel"), "Close shop:b")
        self.assertEqual(run("scrollY"), 123)

    def test_it_asks_for_nothing_while_nothing_happens(self):
        def asked():
            return self.pythiad.metric('pythia_answers_total{listener="control",class="2xx"}')
        rig.until(lambda: self.pythiad.metric("pythia_event_clients") == 1, 10)

        def is_quiet():
            self.agent.poll()  # that an agent is lost would be an event
            before = asked()
            self.run_script("new Promise(done => setTimeout(done, 3000))")
            return asked() - before == 1  # the metrics are an answer, too
        rig.until(is_quiet, 30)  # events of the start may still come
        self.assertTrue(is_quiet())

    def test_it_asks_now_and_then_where_events_are_refused(self):
        while self.pythiad.metric("pythia_event_clients_refused_total") == 0:
            link = socket.create_connection(("127.0.0.1", self.pythiad.control))
            self.addCleanup(link.close)
            link.sendall(b"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            link.recv(1)
        before = self.pythiad.metric("pythia_event_clients_refused_total")
        self.run_script("location.reload()")
        self.shows("3 of 3 trace points are open")
        rig.until(lambda: self.pythiad.metric("pythia_event_clients_refused_total") > before, 30)
        Agent(self.pythiad, "another", ["x"]).report()
        self.shows("4 of 4 trace points are open")

    def test_hostile_names_stay_text(self):
        Agent(self.pythiad, "another", [HOSTILE]).report()
        self.shows("another", HOSTILE)
        self.assertEqual(self.count("body script, img"), 0)

    def test_the_policy_refuses_a_script_and_markup(self):
        self.run_script("document.body.append(Object.assign(document.createElement('p'), {id: 'mark'}))")
        for script in ("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))",
                       "document.getElementById('mark').innerHTML = '<b>x</b>'"):
            with self.assertRaises(AssertionError):  # a trusted type is asked for
                self.run_script(script)
        self.assertIsNone(self.run_script("window.ran"))
        self.assertEqual(self.count("#mark b"), 0)
        self.browser.messages.clear()

    def test_it_says_so_when_pythiad_is_gone(self):
        self.shows("Live")
        self.pythiad.stop()
        self.shows("pythiad does not answer")


class Findings(PageCase):
    """Two request types with causes, of which checkout varies most. 9 items make a request slow, and nothing else."""
    options = CYCLES

    def setUp(self):
        super().setUp()
        self.checkout = Shop(self.pythiad)
        self.cart = Shop(self.pythiad, "cart", slow_ms=20)
        self.found(self.checkout, self.cart)
        self.found(self.checkout, self.cart, name="cart")
        self.open()
        self.shows("2 of 2 request types have a known cause")

    def test_a_card_names_no_place_where_none_stands_out(self):
        self.open("#/findings")
        verdict = {"spread": True, "found": [{}], "where": "No single place stands out."}
        self.run_script(f"void import('/page/pieces.js').then(pieces => document.body.append(pieces.causes({json.dumps(verdict)})))")
        self.shows("No single place stands out.")

    def test_causes_are_cards_and_the_worst_is_first(self):
        self.assertEqual(self.run_script("[...document.querySelectorAll('.card h2')].map(title => title.textContent)"),
                         ["checkout", "cart"])
        self.shows("lock_row accounts for", "of the latency variance", "When items >= ", ": mean ")
        self.assertEqual(self.count(".card:first-child .histogram"), 1)
        self.assertEqual(self.run_script("[...document.querySelectorAll('.card:first-child .icicle text')].map(t => t.firstChild.data)"),
                         ["checkout", "authorise", "lock_row"])
        self.assertTrue(self.run_script("document.querySelector('.card .icicle .s6').closest('a').querySelector('title').textContent")
                        .startswith("lock_row "))

    def test_the_slow_mode_leads_to_its_requests_with_links_to_their_traces(self):
        self.click(".card h2 a")
        self.shows("What the selected requests have in common")
        self.click(".modes li:last-child a")
        self.browser.wait("location.hash.includes('from=')")
        self.shows("Slow", "requests of")
        traces = self.browser.wait("(() => {const links = [...document.querySelectorAll('.requests a')].map(link => link.href);"
                                   "return links.length > 10 && links;})()")
        for trace in traces:
            self.assertTrue(trace.startswith("http://traces/") and trace.endswith("?x=1"), trace)
            self.assertIn(trace[len("http://traces/"):-len("?x=1")], self.checkout.slow)
        self.click(".modes li:first-child a")
        self.browser.wait("[...document.querySelectorAll('.requests a')].length")
        fast = self.browser.wait("(() => {const links = [...document.querySelectorAll('.requests a')].map(link => link.href);"
                                 f"return !links.includes({json.dumps(traces[0])}) && links;" "})()")
        for trace in fast:
            self.assertIn(trace[len("http://traces/"):-len("?x=1")], self.checkout.fast)

    def test_the_key_that_makes_them_slow_is_what_they_have_in_common(self):
        self.click(".card h2 a")
        self.shows("items explains it 100 % have 9; of the others 0 %")
        self.assertEqual(self.run_script("[...document.querySelectorAll('figure.key code')].map(key => key.textContent)"), ["items"])
        self.shows("1 other key is about the same in both.")

    def test_a_bar_selects_its_requests_and_has_a_url(self):
        self.click(".card h2 a")
        self.shows("What the selected requests have in common")
        self.click(".histogram a:last-of-type")
        self.browser.wait("location.hash.includes('from=')")
        address = self.run_script("location.hash")
        low, high = (int(value) for value in (urllib.parse.parse_qs(address.split("?")[1])[name][0] for name in ("from", "to")))
        def listed():
            return self.run_script("[...document.querySelectorAll('.requests a')].map(link => link.href.slice(14, 46))")
        group = next(one for one in self.pythiad.get("/v1/groups").json if one["request_type"] == "shop:checkout")
        table = self.pythiad.get(f"/v1/requests?group={group['id']}").json
        inside = [one["trace_id"] for one in table["requests"] if low <= one["duration_ns"] < high]
        self.assertGreater(len(inside), 0)
        rig.until(lambda: listed() == inside, 10, lambda: f"{listed()} {inside}")
        self.open(address)  # somebody else opens it
        rig.until(lambda: listed() == inside, 10)
        self.assertIn("selected", self.run_script("document.querySelector('.histogram a:last-of-type rect:last-child').getAttribute('class')"))

    def test_a_value_selects_its_requests(self):
        self.click(".card h2 a")
        self.click("figure.key .distribution a:last-of-type")
        self.shows("requests with items 9", "Select the slow ones")
        self.assertEqual(self.run_script("[...new Set([...document.querySelectorAll('.requests tbody tr')].map(row => row.cells[4].innerText))]"), ["9"])

    def test_the_keyboard_reaches_a_bar_and_goes_from_one_to_the_next(self):
        self.run_script("document.querySelector('.card h2 a').focus()")
        self.browser.press("Tab")
        first = self.run_script("document.activeElement.getAttribute('aria-label')")
        self.assertIn("requests", first)
        self.browser.press("ArrowRight")
        self.assertNotEqual(self.run_script("document.activeElement.getAttribute('aria-label')"), first)
        self.browser.press("Tab")  # the next drawing
        self.assertTrue(self.run_script("!!document.activeElement.closest('.icicle')"))
        self.browser.press("Enter")
        self.browser.wait("location.hash.startsWith('#/points')")


class Empty(PageCase):
    """A pythiad that has got nothing."""

    def test_it_shows_lines_to_copy_with_its_ports_and_turns_to_the_live_view(self):
        self.open()
        self.shows("Waiting for the first span")
        base = f"http://127.0.0.1:{self.pythiad.http}"
        lines = self.run_script("Object.fromEntries([...document.querySelectorAll('.way')].map(way => "
                                "[way.querySelector('h2').textContent, way.querySelector('pre').textContent]))")
        self.assertEqual(list(lines), ["Node.js", "Python", "Java", "Go", "OpenTelemetry Collector", "C and C++"])
        for language in ("Node.js", "Python", "Java", "Go"):
            self.assertIn(f"export OTEL_EXPORTER_OTLP_ENDPOINT={base}\n", lines[language])
            self.assertIn(f"export PYTHIA_URL={base}\n", lines[language])
            self.assertNotIn("TOKEN", lines[language])
        self.assertIn(f"endpoint: 127.0.0.1:{self.pythiad.grpc}\n", lines["OpenTelemetry Collector"])
        for line, where in (("node --require ", "Node.js"), ("opentelemetry-instrument python3 ", "Python"),
                            ("pythia-java -javaagent:", "Java"), ("pythia-go build ", "Go"), ("pythia-tracepoints)", "C and C++")):
            self.assertIn(line, lines[where])
        self.browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self.click("[data-key=python] button")
        self.shows("Copied.")
        self.assertEqual(self.run_script("navigator.clipboard.readText()"), lines["Python"])
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(("step",)))).status, 200)
        self.shows("Learning the trace points")
        self.assertEqual(self.count(".way"), 0)

    def test_lines_name_the_token_where_one_is_needed(self):
        folder = rig.make_folder(self)
        with open(f"{folder}/token", "w", encoding="ascii") as to:
            to.write("send\n")
        os.chmod(f"{folder}/token", 0o600)
        self.pythiad.stop()
        self.pythiad = rig.Pythiad(self, f"--ingest-token={folder}/token")
        self.open()
        self.shows("Authorization=Bearer $(cat TOKEN-FILE)", "PYTHIA_TOKEN_FILE=TOKEN-FILE", 'authorization: "Bearer TOKEN"')


class Points(PageCase):
    """An agent with the points of the shop, and a search space that knows them."""
    options = CYCLES
    NAMES = ("checkout", "authorise", "lock_row")

    def setUp(self):
        super().setUp()
        self.agent = self.start_agent(self.NAMES)
        self.shop = Shop(self.pythiad)
        rig.until(self.is_learnt, 60, lambda: self.pythiad.log)

    def is_learnt(self):
        self.agent.poll()
        self.shop.send(10)
        return any(type["contexts"] == 3 for type in self.pythiad.get("/v1/contexts").json)

    def point(self, name="authorise"):
        self.agent.poll()
        return next(one for one in self.pythiad.get("/v1/points").json if one["trace_point"] == f"shop:{name}")

    def test_the_tree_is_that_of_contexts(self):
        self.open("#/points?type=shop:checkout")
        self.shows("Contexts of", "lock_row")
        self.assertEqual(self.run_script("[...document.querySelectorAll('.tree > li > details > ul > li')].map("
                                         "li => li.querySelector('.name').title)"), ["shop:authorise", "shop:lock_row"])
        self.assertEqual(self.run_script("document.querySelector('.tree > li .name').title"), "shop:checkout")
        self.shows("1.0 calls a request", "hit")

    def test_a_point_is_switched_after_a_confirmation_and_back(self):
        # Set it to something that nothing else would: pinned closed.
        self.open("#/points")
        self.shows("authorise")
        self.assertEqual(self.pythiad.post("/v1/close", {"trace_points": ["shop:authorise"]}).status, 200)
        self.shows("authorise closed pinned")
        button = "[aria-label='Open shop:authorise']"
        self.click(button)
        self.shows("Open authorise?", "It is pinned: it stays open until you unpin it")
        self.browser.press("Escape")
        self.browser.wait("!document.getElementById('dialog').open")
        self.assertFalse(self.point()["wanted"])
        self.assertEqual(self.run_script("document.activeElement.getAttribute('aria-label')"), "Open shop:authorise")
        self.click(button)
        self.shows("Open authorise?")
        self.click("dialog .primary")
        self.shows("authorise is pinned open.", "authorise open")
        rig.until(lambda: (point := self.point())["wanted"] and point["pin"] == "open", 10)
        self.click(".notice button")
        self.shows("authorise is as it was before.", "authorise closed")
        rig.until(lambda: self.point()["pin"] == "closed", 10)
        self.click("[aria-label='Unpin shop:authorise']")
        self.click("dialog .primary")
        self.shows("authorise is no longer pinned.")
        rig.until(lambda: self.point()["pin"] is None, 10)
        self.click(".notice button")
        rig.until(lambda: self.point()["pin"] == "closed", 10)

    def test_states_and_the_search_are_filters_with_a_url(self):
        self.assertEqual(self.pythiad.post("/v1/close", {"trace_points": ["shop:authorise"]}).status, 200)
        self.open("#/points")
        names = "[...document.querySelectorAll('.tree .name')].map(name => name.title)"
        self.click(".choice li:nth-child(4) a")
        self.browser.wait(f"{names}.join() === 'shop:authorise'")
        self.assertEqual(self.hash(), "#/points?show=pinned")
        self.click(".choice li:nth-child(1) a")
        self.run_script("document.getElementById('query').focus()")
        self.browser.type("LOCK")
        self.browser.wait(f"{names}.join() === 'shop:lock_row'")
        self.assertEqual(self.hash(), "#/points?q=LOCK")
        self.open("#/points?q=nothing+is+called+so")
        self.shows("Nothing matches “nothing is called so”.")
        self.click("main .empty a")
        self.browser.wait(f"{names}.length === 3")


class Tokens(PageCase):
    def setUp(self):
        folder = rig.make_folder(self)
        for role in ("read", "control"):
            with os.fdopen(os.open(f"{folder}/{role}", os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as to:
                to.write(f"token-{role}\n")
        self.options = ("--quiet-ms=50", f"--read-token={folder}/read", f"--control-token={folder}/control")
        super().setUp()
        Agent(self.pythiad, "shop", ["a"]).report()
        self.open("#/points")

    def tearDown(self):
        self.browser.messages = [message for message in self.browser.messages if "401" not in message]
        super().tearDown()

    def give(self, token):
        self.browser.wait("document.activeElement.id === 'token'")
        self.browser.type(token)
        self.browser.press("Enter")

    def test_the_page_opens_without_a_token_asks_for_it_and_switches_with_the_other_one(self):
        self.shows("This pythiad requires a token")
        self.assertNotIn("shop", self.browser.text())
        self.click("main button")
        refused = self.pythiad.metric('pythia_answers_total{listener="control",class="4xx"}')
        self.give("wrong")
        rig.until(lambda: self.pythiad.metric('pythia_answers_total{listener="control",class="4xx"}') > refused, 30)
        self.shows("This pythiad requires a token")
        self.click("main button")
        self.give("token-read")
        self.shows("1 trace point", "shop", "Live")
        before = self.pythiad.metric("pythia_event_clients")
        self.assertEqual(before, 1)
        self.click("[data-point='shop:a']")
        self.click("dialog .primary")
        self.shows("Switching trace points needs the control token")
        self.give("token-control")
        self.shows("a is pinned")
        point = rig.ask(self.pythiad.control, "GET", "/v1/points", Authorization="Bearer token-read").json[0]
        self.assertIsNotNone(point["pin"])

    def test_the_token_is_kept_for_the_tab_alone(self):
        self.click("main button")
        self.give("token-control")
        self.shows("shop")
        self.assertEqual(self.run_script("[location.href.includes('token-control'), document.cookie, localStorage.length,"
                                         "document.documentElement.outerHTML.includes('token-control')]"), [False, "", 0, False])
        self.run_script("location.reload()")
        self.shows("1 trace point", "Live")


class Searched(PageCase):
    """The search opens trace points of the shop, and closes those again in which nothing varies."""
    options = CYCLES
    NAMES = ("authorise", "reserve", "lock_row", "charge", "receipt")

    def setUp(self):
        super().setUp()
        self.agent = self.start_agent(("checkout", *self.NAMES))
        self.open_points, self.begun = set(), False
        rig.until(self.is_decided, 90, lambda: self.pythiad.log)
        self.decisions = self.pythiad.get("/v1/decisions").json
        self.closed = next(one for one in self.decisions if not one["open"])
        self.opened = next(one for one in self.decisions if one["open"] and one["trace_point"] == self.closed["trace_point"])
        self.name = self.closed["trace_point"].split(":")[1]

    def is_decided(self):
        """Requests of a program that obeys; everything is open while the search space is learnt."""
        polled = self.agent.poll()
        if polled:
            self.open_points = {*polled["open"], *polled["open_for"]}
        status = self.pythiad.get("/v1/status").json
        learning = status["learning"]
        if not learning and not self.begun:  # nothing is searched while all is open
            self.begun = status["in_force"] and not any(f"shop:{name}" in self.open_points for name in self.NAMES)
            return False
        for i in range(3 if learning else 20):
            spans = otlp.request(self.NAMES, service_root="checkout", attributes={"items": 9 if i % 3 == 0 else 1},
                                 slow=("lock_row", SLOW_MS * 1000000 if i % 3 == 0 else i * 10000))
            spans = [span for span in spans if span.name == "checkout" or learning or f"shop:{span.name}" in self.open_points]
            self.assertEqual(self.pythiad.send(otlp.protobuf(spans)).status, 200)
        opened, closed = ({one["trace_point"] for one in self.pythiad.get("/v1/decisions").json if one["open"] == kind}
                          for kind in (True, False))
        return "shop:lock_row" in opened and opened & closed


class Decisions(Searched):
    def test_the_history_has_reasons_and_filters_with_a_url(self):
        self.open("#/decisions")
        self.shows("opened lock_row for checkout", f"closed {self.name}", *{" ".join(one["reason"].split()) for one in self.decisions})
        rows = "[...document.querySelectorAll('.history .what')].map(row => row.innerText)"
        self.click("[data-key=Kind] li:nth-child(3) a")
        self.browser.wait(f"{rows}.every(row => row.startsWith('closed'))")
        self.assertEqual(self.hash(), "#/decisions?kind=closed")
        self.click("[data-key=Kind] li:nth-child(2) a")
        self.browser.wait(f"{rows}.every(row => row.startsWith('opened'))")
        self.open("#/decisions?q=lock_row+opened+in+cycle")
        self.browser.wait(f"document.querySelector('h1').innerText.includes('decision') && {rows}.every(row => row.includes('lock_row'))")

    def test_the_last_cycle_and_the_last_hour(self):
        self.open("#/decisions?range=hour")
        self.shows(f"{len(self.decisions)} decisions")
        self.click("[data-key='Time range'] li:first-child a")

        def is_last_cycle():
            """A cycle without requests may end meanwhile, and decide nothing."""
            cycle = self.pythiad.get("/v1/status").json["cycle"]
            count = sum(1 for one in self.pythiad.get("/v1/decisions").json if one["cycle"] == cycle)
            return self.run_script("document.querySelector('h1').innerText").startswith(f"{count} decision")
        rig.until(is_last_cycle, 30)
        self.assertEqual(self.hash(), "#/decisions?range=cycle")

    def test_one_decision_says_what_it_expected_and_what_it_got(self):
        opened, closed = self.opened, self.closed
        self.open("#/decisions")
        self.click(f"[data-key*='-open-{opened['trace_point']}-'] a")
        self.shows(f"Opened {self.name}", "Expected", opened["reason"], f"{round(100 * opened['inside'])} %", "Got",
                   "Closed again", closed["reason"], f"{closed['spans']} span")
        effect = next(effect for cycle in self.pythiad.get("/v1/cycles").json for effect in cycle.get("effects", [])
                      if effect["trace_point"] == opened["trace_point"])
        self.shows({"explains": "It explains a part", "does_not_pay": "It was not worth its cost.", "not_passed": "No critical path hits it.",
                    "too_few": "Too few requests"}[effect["verdict"]])
        self.open("#/decision/nothing")
        self.shows("No such decision")


class Fleet(PageCase):
    """A member of a group that shares its search."""

    def setUp(self):
        self.mock = Mock(self, partitions=3)
        self.mock.command("topic", "pythia.evidence", 1)
        url = f"--kafka={self.mock.url('evidence=pythia.evidence')}"
        self.options = ("--quiet-ms=50", url)
        super().setUp()
        self.other = rig.Pythiad(self, *self.options)

        def owned(one):
            return len(one.get("/v1/status").json["kafka"]["partitions"])
        rig.until(lambda: sorted([owned(self.pythiad), owned(self.other)]) == [1, 2], 60, lambda: self.pythiad.log)
        for partition in range(3):
            self.mock.send(b"no OTLP", partition)

    def test_health_shows_members_partitions_and_the_shared_search(self):
        self.open("#/health")
        self.shows("Topic otlp_spans, group pythia", "follows the search of the group", "The members are not known yet",
                   "partition", "Broken messages")
        # The mock does not list members: what a real broker answers is shown by the same module.
        member = {"member": "rdkafka-1", "client": "pythiad", "host": "/192.0.2.7", "partitions": [2, 0]}
        self.run_script("void import('/page/fleet.js').then(fleet => fleet.fleetSection({topic: 't', group: 'g', partitions: [], member: 'rdkafka-1', "
                        f"members: [{json.dumps(member)}]}})).then(section => document.querySelector('main').append(section))")
        self.shows("rdkafka-1 (this one)", "192.0.2.7 0, 2", "This member has no partitions now.")
        self.assertEqual(self.count("[data-key=partitions] tbody tr"), len(self.pythiad.get("/v1/status").json["kafka"]["partitions"]))
        if os.environ.get("PYTHIA_SCREENSHOTS"):
            self.browser.screenshot(os.path.join(os.environ["PYTHIA_SCREENSHOTS"], "fleet.png"))

    def test_it_says_so_when_no_broker_answers(self):
        self.open("#/health")
        self.shows("follows the search of the group")
        self.mock.command("broker", "down")
        self.browser.wait("document.querySelector('[data-key=problem]') !== null", rig.patience(60))
        self.shows("but Kafka cannot be read", "Something needs attention", "trace points stay as they are")
        if os.environ.get("PYTHIA_SCREENSHOTS"):
            self.browser.screenshot(os.path.join(os.environ["PYTHIA_SCREENSHOTS"], "fleet-outage.png"))


class Looks(Searched):
    """Every view at every width, dark and light: a picture, no horizontal scroll bar, and nothing that axe-core finds. In plain builds
    only: other tests have pythiad answer the same, and what is looked at here is what Chromium makes of it."""
    WIDTHS = (320, 1280, 3840)
    maxDiff = None
    VIEWS = {"findings": "#/findings", "type": "#/type/shop%3Acheckout", "points": "#/points?type=shop:checkout",
             "services": "#/points", "decisions": "#/decisions", "decision": None, "health": "#/health",
             "nothing": "#/decisions?q=nothing+is+called+so"}

    def setUp(self):
        if rig.SANITIZER:
            self.skipTest("nothing here is compiled with sanitizers")
        super().setUp()
        rig.until(lambda: self.is_decided() is not None and any(one["state"] == "found" for one in self.pythiad.get("/v1/verdicts").json), 60)
        self.folder = os.environ.get("PYTHIA_SCREENSHOTS") or rig.make_folder(self)
        os.makedirs(self.folder, exist_ok=True)

    def look_at(self, view):
        return self.browser.look_at(f"{self.folder}/page-{view}", self.WIDTHS)

    def test_every_view_is_accessible_and_fits_every_width(self):
        faults = []
        for view, address in self.VIEWS.items():
            self.open("#/decisions" if view == "decision" else address)
            self.browser.wait("!!document.querySelector('main h1')")
            if view == "decision":
                self.click(".history .what a")
                self.shows("Got")
            if view == "type":
                self.shows("What the selected requests have in common")
            faults += self.look_at(view)
        self.assertEqual(faults, [])

    def test_so_are_the_empty_page_the_locked_page_and_dialogs(self):
        self.open("#/points")
        self.click(".point button")
        self.browser.wait("document.getElementById('dialog').open")
        faults = self.look_at("dialog")
        self.pythiad.stop()
        self.pythiad = rig.Pythiad(self)
        self.browser.messages.clear()
        self.open()
        self.shows("Waiting for the first span")
        faults += self.look_at("empty")
        with os.fdopen(os.open(f"{self.folder}/token", os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as to:
            to.write("token\n")
        self.pythiad.stop()
        self.pythiad = rig.Pythiad(self, f"--control-token={self.folder}/token")
        os.unlink(f"{self.folder}/token")
        self.open()
        self.shows("This pythiad requires a token")
        self.assertEqual(faults + self.look_at("locked"), [])
        self.browser.messages = [message for message in self.browser.messages if "401" not in message]

    def test_nothing_moves_where_motion_is_not_wanted(self):
        self.browser.look(1280, motion=False)
        self.open("#/type/shop%3Acheckout")
        self.shows("What the selected requests have in common")
        self.click(".modes a")
        self.assertEqual(self.run_script("[...document.querySelectorAll('*')].filter(e => {const s = getComputedStyle(e);"
                                         "return s.animationName !== 'none' || s.transitionDuration.split(', ').some(d => parseFloat(d) > 0)}).length"), 0)


if __name__ == "__main__":
    rig.main()
