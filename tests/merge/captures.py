"""Captures that are hard to gather in parts: each is a list of lines of OTLP/JSON, one whole trace a line."""
import json
import random

BEGIN = 1763700000 * 10**9


def attribute(key, value):
    kind = "stringValue" if isinstance(value, str) else "intValue" if isinstance(value, int) else "doubleValue"
    return {"key": key, "value": {kind: str(value) if kind == "intValue" else value}}


class Trace:
    """One request of a service: spans in the order in which they are made, ids that follow from the seed."""

    def __init__(self, draw, number, service="shop", state=None):
        self.draw, self.spans, self.service, self.state = draw, [], service, state
        self.id = "%032x" % draw.getrandbits(128)
        self.at = BEGIN + number * 10**9

    def span(self, name, start, end, parent=None, **attributes):
        span = {"traceId": self.id, "spanId": "%016x" % (len(self.spans) + 1), "name": name, "kind": 2,
                "startTimeUnixNano": str(self.at + start), "endTimeUnixNano": str(self.at + end),
                "attributes": [attribute(k.replace("__", "."), v) for k, v in attributes.items()]}
        if parent:
            span["parentSpanId"] = parent
        if self.state:
            span["traceState"] = self.state
        self.spans.append(span)
        return span["spanId"]

    def line(self):
        resource = {"attributes": [attribute("service.name", self.service),
                                   attribute("host.name", "host-%d" % (int(self.id[-1], 16) % 3))]}
        return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": self.spans}]}]})


def calls(trace, draw, points, depth=2, **attributes):
    """A root that calls some points one after the other, which differ by a key and by noise."""
    slow = draw.random() < .3
    lengths = [draw.randrange(10**6, 2 * 10**6) + (20 * 10**6 if slow and i == 0 else 0) for i in range(len(points))]
    root = trace.span("handle", 0, sum(lengths) + 10**5, slow=int(slow), **attributes)
    at = 0
    for point, length in zip(points, lengths):
        child = trace.span(point, at, at + length, root, size=draw.randrange(100), cache="hit" if slow else "miss")
        for level in range(depth - 1):
            child = trace.span("%s.%d" % (point, level), at + 1000 * (level + 1), at + length - 1000 * (level + 1), child)
        at += length


def plain(draw):
    """Two types, one of which has two paths; texts, whole numbers and broken numbers as values."""
    for i in range(240):
        trace = Trace(draw, i, service="shop" if i % 3 else "depot")
        calls(trace, draw, ["queue", "store", "send"] if i % 2 else ["queue", "send"],
              http__route="/orders" if i % 3 else "/stock", ratio=draw.random(), user="user-%d" % draw.randrange(5))
        yield trace.line()


def paths(draw):
    """Paths whose variables no part knows: 70 tenants in all; and a route of the same name as a path."""
    for i in range(420):
        trace = Trace(draw, i)
        how = i % 4
        if how < 2:
            url = "/tenants/t%d/%s" % (i // 4 % 70, "orders" if how else "bills/%d" % i)
        elif how == 2:
            url = "/tenants/t1/orders"
        else:
            url = "/static/%s" % ("a", "b", "c")[i % 3]
        root = trace.span("GET", 0, draw.randrange(10**6, 9 * 10**6),
                          **({"http__route": url, "http__request__method": "GET"} if how == 2 else {"url__path": url}))
        trace.span("store", 1000, draw.randrange(2000, 10**6), root, tenant="t%d" % (i // 4 % 70))
        yield trace.line()


def weights(draw):
    """A stream that is a sample: requests that stand for 1, 2, 10 or 1000 of them."""
    for i in range(500):
        state = draw.choice([None, "ot=th:8", "ot=th:e666", "ot=th:ffbe76c8b4395"])
        trace = Trace(draw, i, state=state)
        calls(trace, draw, ["queue", "store"], http__route="/orders")
        yield trace.line()


def many_types(draw):
    """So many types that each keeps fewer rows than it has requests, which one part does not know."""
    for i in range(3000):
        trace = Trace(draw, i, service="service-%d" % (i % 40))
        calls(trace, draw, ["work"], depth=1, http__route="/do")
        yield trace.line()


def many_structures(draw):
    """More structures than a level may have, of a type; no part has as many. And a type with a path of which
    some are called otherwise later."""
    for i in range(2600):
        trace = Trace(draw, i)
        if i % 2:
            names = ["step-%c" % draw.choice("abcdefgh") for k in range(6)]
            calls(trace, draw, names, depth=1, http__route="/search")
        else:
            root = trace.span("GET", 0, draw.randrange(10**6, 9 * 10**6), url__path="/user/u%d/x" % (i // 2 % 90))
            for k in range(3):
                trace.span("part-%d" % draw.randrange(3), k * 1000, k * 1000 + draw.randrange(900), root)
        yield trace.line()


def many_shapes(draw):
    """Requests with a path, nearly each of which does something else: most shapes leave the cache."""
    for i in range(9500):
        trace = Trace(draw, i)
        root = trace.span("GET", 0, draw.randrange(10**6, 9 * 10**6), url__path="/user/u%d" % (i % 90))
        for k in range(6):
            trace.span("part-%d" % draw.randrange(8), k * 1000, k * 1000 + draw.randrange(1, 900), root)
        yield trace.line()


SHAPES = [plain, paths, weights, many_types, many_structures, many_shapes]


def lines(shape):
    return list(shape(random.Random(shape.__name__)))
