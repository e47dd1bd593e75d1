#!/usr/bin/env python3
"""GET /openapi.json describes the control interface as it is: its routes are those of the table that the manual prints, and
what pythiad answers fits the schemas, which allow no member that they do not name. Needs jsonschema (python3-jsonschema).
usage: test_openapi.py BIN [SANITIZER]"""
import unittest

import otlp
import rig
from test_events import Listener
from test_roles import table
from test_watch_only import Agent

try:
    import jsonschema
except ImportError:
    jsonschema = None
try:
    import openapi_spec_validator
except ImportError:
    openapi_spec_validator = None


@unittest.skipIf(jsonschema is None, "there is no jsonschema: apt-get install python3-jsonschema")
class OpenApi(unittest.TestCase):
    def setUp(self):
        self.pythiad = rig.Pythiad(self, "--quiet-ms=50", "--learn-requests=20", "--cycle-requests=60", "--cycle-seconds=1")
        self.document = self.pythiad.get("/openapi.json").json
        self.validated = set()  # schemas that an answer was held to

    def operations(self):
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield path, method.upper(), operation

    def resolve(self, part):
        while "$ref" in part:
            name = part["$ref"].split("/")
            part = self.document["components"][name[2]][name[3]]
        return part

    def validate(self, answer, operation):
        """An answer is one of those that the document has: status, type, and the value itself. Returns the value."""
        self.assertIn(str(answer.status), operation["responses"], answer.text)
        content = self.resolve(operation["responses"][str(answer.status)])["content"]
        kind = answer.headers["Content-Type"].split(";")[0]
        self.assertIn(kind, content)
        schema = content[kind]["schema"]
        value = answer.json if kind == rig.JSON else answer.text
        jsonschema.Draft202012Validator({**schema, "components": self.document["components"]}).validate(value)
        if value:
            self.validated.add(schema.get("items", schema).get("$ref"))
            self.validated.update(f"oneOf {type(value).__name__}" for _ in schema.get("oneOf", []))
        return value

    def ask(self, path, method, operation, query=""):
        body = operation.get("requestBody", {}).get("content", {}).get(rig.JSON, {})
        if "text/event-stream" in self.resolve(operation["responses"]["200"])["content"]:
            return self.listen(operation)
        for parameter in operation.get("parameters", []):
            if parameter.get("required") and not query:
                path = path.replace("{" + parameter["name"] + "}", parameter["example"])
                query = f"?{parameter['name']}={parameter['example']}" if parameter["in"] == "query" else ""
        if method == "GET":
            return self.validate(self.pythiad.get(path + query), operation)
        jsonschema.Draft202012Validator({**body["schema"], "components": self.document["components"]}).validate(body["example"])
        return self.validate(self.pythiad.post(path, body["example"]), operation)

    def listen(self, operation):
        """The first event of a stream, which has no end."""
        listener = Listener(self, self.pythiad)
        self.assertIn("Content-Type: text/event-stream\r\n", listener.head())
        schema = operation["responses"]["200"]["content"]["text/event-stream"]["schema"]
        jsonschema.Draft202012Validator({**schema, "components": self.document["components"]}).validate(listener.event())

    def known(self, parameter):
        """A value of a parameter that there is something for."""
        if parameter == "group":
            return rig.until(lambda: self.feed() and self.pythiad.get("/v1/groups").json, 60)[0]["id"]
        return {"count": 7, "width": 80, "request_type": "shop:root", "file": "page.js"}[parameter]

    def feed(self):
        slow = ("child", 40000000) if self.sent % 3 == 0 else None
        self.sent += 1
        self.assertEqual(self.pythiad.send(otlp.protobuf(otlp.request(("child",), slow=slow))).status, 200)
        return all(self.pythiad.get(f"/v1/{what}").json for what in ("verdicts", "decisions", "groups"))

    def test_routes_and_roles_are_those_of_the_table(self):
        described = {("control", method, path.split("{")[0], operation["x-role"]) for path, method, operation in self.operations()}
        self.assertEqual(described, {route for route in table() if route[0] == "control"})
        for path, _, operation in self.operations():
            self.assertEqual(operation["security"], [] if operation["x-role"] == "public" else [{"token": []}], path)
            self.assertEqual("401" in operation["responses"], operation["x-role"] != "public", path)
        self.assertEqual(self.document["info"]["version"], self.pythiad.get("/v1/status").json["version"])

    @unittest.skipIf(openapi_spec_validator is None, "there is no openapi-spec-validator: pip install openapi-spec-validator")
    def test_the_document_is_openapi(self):
        openapi_spec_validator.validate(self.document)

    def test_every_answer_fits_its_schema(self):
        self.sent = 0
        for path, method, operation in self.operations():  # nothing has come yet
            self.ask(path, method, operation)
        self.assertEqual(self.pythiad.post("/v1/on").status, 200)
        agent = Agent(self.pythiad, "shop", ("root", "child"))
        self.assertEqual(agent.report().status, 200)
        rig.until(self.feed, 60, lambda: self.pythiad.log)
        for path, method, operation in self.operations():
            self.ask(path, method, operation)
            for parameter in operation.get("parameters", []):
                for value in parameter["schema"].get("enum") or [self.known(parameter["name"])]:
                    self.ask(path, method, operation, f"?{parameter['name']}={value}")
        # Each schema of an answer was held to one that says something, and each has a case of its own below.
        answers = {f"#/components/schemas/{name}" for name in ("Status", "Report", "Group", "Verdict", "Decision", "Point",
                                                              "Obeyed", "Plan", "Doing", "Cycle", "Requests")}
        answers |= {"oneOf list", "oneOf dict"}  # the contexts of all types, and of one
        self.assertEqual(answers - self.validated, set())

    def test_every_refusal_fits_its_schema(self):
        operations = {path: operation for path, _, operation in self.operations()}
        for path, body, status in (("/v1/open", {}, 400), ("/v1/open", {"trace_points": ["a:nobody"]}, 404),
                                   ("/v1/close", {"trace_points": []}, 400), ("/v1/plan", {}, 400), ("/v1/hash", {}, 400)):
            answer = self.pythiad.post(path, body)
            self.assertEqual(answer.status, status, (path, answer.text))
            self.assertTrue(self.validate(answer, operations[path])["error"])
        for path, status in (("/v1/decisions?count=0", 400), ("/v1/report?format=pdf", 400), ("/v1/variables", 404),
                             ("/v1/requests", 400), ("/v1/requests?group=x", 404), ("/v1/contexts?request_type=x", 404)):
            answer = self.pythiad.get(path)
            self.assertEqual(answer.status, status)
            self.validate(answer, operations[path.split("?", maxsplit=1)[0]])
        for path, method, operation in self.operations():
            if method == "POST":
                answer = rig.ask(self.pythiad.control, "POST", path, b"{}", "text/plain")
                self.assertEqual(answer.status, 415)
                self.validate(answer, operation)
            if operation["x-role"] != "public":
                self.validate(rig.ask(self.pythiad.control, method, path, b"", rig.JSON, Origin="http://evil.example"), operation)


if __name__ == "__main__":
    rig.main()
