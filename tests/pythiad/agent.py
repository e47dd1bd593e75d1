"""A process with trace points that are switched, for several tests."""
import json

import rig


class Agent:
    """A process with trace points that are switched, as one that polls."""

    def __init__(self, pythiad, service, names, instance="1", **headers):
        self.pythiad, self.service, self.points, self.etag = pythiad, service, [f"{service}:{n}" for n in names], ""
        self.instance, self.headers, self.list = instance, headers, None

    def report(self):
        body = {"service": self.service, "instance": self.instance, "applied": self.etag.strip('"'),
                "points": [{"id": point, "hits": 1, "open_by_default": False} for point in self.points]}
        return rig.ask(self.pythiad.http, "POST", "/v1/trace-points", json.dumps(body), rig.JSON, **self.headers)

    def poll(self):
        """The list, which is in force from now on. Not to say which one was until now would mean that none is any more, and requests
        that are under way would be no evidence."""
        known = {"If_None_Match": self.etag} if self.etag else {}
        answer = rig.ask(self.pythiad.http, "GET", f"/v1/trace-points?service={self.service}&instance={self.instance}", **known,
                         **self.headers)
        if answer.status not in (200, 304):
            return None
        if answer.status == 200:
            self.etag, self.list = answer.headers["ETag"], answer.json
        self.report()
        return self.list

    def poll_without_obeying(self):
        """Ask, and say nothing of having done it."""
        answer = rig.ask(self.pythiad.http, "GET", f"/v1/trace-points?service={self.service}&instance={self.instance}", **self.headers)
        self.report()
        return answer.json if answer.status == 200 else None

    def is_open(self, name):
        got = self.poll()
        return got is not None and f"{self.service}:{name}" in {*got["open"], *got["open_for"]}
