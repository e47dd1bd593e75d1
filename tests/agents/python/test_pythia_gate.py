#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What only the agent in Python has to get right; the rest is in the suite of all agents. Run by run_gate.

Programs are started with the agent's folder in PYTHONPATH, as users start them, against the suite's server."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..', '..')
AGENT = os.path.join(ROOT, 'adapters', 'controls', 'http', 'python')
sys.path[:0] = [AGENT, os.path.join(HERE, '..')]
from fake_pythiad import FakePythiad  # noqa: E402
from pythia_gate import ids, lists  # noqa: E402

PATIENCE_S = 120

# A program's beginning: spans that end are kept by name in `ended`, and in_force() waits for the list.
PRELUDE = '''
import sys, time
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider, sampling
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
def make_tracer(**given):
    provider = TracerProvider(**given)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer('web')
def ended():
    spans = exporter.get_finished_spans()
    names = {span.context.span_id: span.name for span in spans}
    exporter.clear()
    return sorted(span.name + ('<' + names.get(span.parent.span_id, 'orphan') if span.parent else '') for span in spans)
def in_force():
    import pythia_gate.spans
    end = time.monotonic() + 60
    while not all(agent.etag for agent in pythia_gate.spans._agents.values()):
        assert time.monotonic() < end
        time.sleep(.01)
'''


class Programs(unittest.TestCase):
    def setUp(self):
        self.server = FakePythiad()
        self.server.start()
        self.addCleanup(self.server.stop)

    def run_program(self, text, command=(), prelude=PRELUDE, **environment):
        """(exit status, lines of output, lines of errors)"""
        env = {**os.environ, 'PYTHONPATH': AGENT, 'PYTHIA_URL': self.server.url, 'PYTHIA_OFF_FILE': '', 'OTEL_SERVICE_NAME': 'shop',
               'OTEL_TRACES_EXPORTER': 'none', 'OTEL_METRICS_EXPORTER': 'none', 'OTEL_LOGS_EXPORTER': 'none', **environment}
        done = subprocess.run([*command, sys.executable, '-c', prelude + text], env=env, text=True, timeout=PATIENCE_S,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    def expect(self, text, lines, **given):
        self.assertEqual(self.run_program(text, **given), (0, lines, []))

    def test_functions_are_decorated_as_by_the_sdk(self):
        self.server.want(open=['shop:web:c', 'shop:web:e'])
        self.expect('''
import asyncio
tracer = make_tracer()
in_force()
@tracer.start_as_current_span('c')
def leaf(value):
    """Of c."""
    return value
@tracer.start_as_current_span('b')
def inner(value):
    return leaf(value)
@tracer.start_as_current_span('d')
async def slow(value):
    with tracer.start_as_current_span('e', end_on_exit=False) as span:
        await asyncio.sleep(0)
    assert span.is_recording()
    span.end()
    return value
with tracer.start_as_current_span('a'):
    print(inner(7), leaf.__doc__, inner.__name__)
print(*ended())
with tracer.start_as_current_span('a'):
    print(asyncio.run(slow(8)))
print(*ended())
''', ['7 Of c. inner', 'a c<a', '8', 'a e<a'])

    def test_positional_arguments_mean_what_they_mean_to_the_sdk(self):
        self.server.want(open=['shop:web:b'])
        self.expect('''
tracer = make_tracer()
in_force()
for name in 'a', 'b', 'c':
    try:
        with tracer.start_as_current_span(name, None, trace.SpanKind.CLIENT, {'k': 1}, (), 17, False, False, True) as span:
            raise KeyError(name)
    except KeyError as why:
        print(why)
    tracer.start_span(name, None, trace.SpanKind.CLIENT, {'k': 1}, (), 17).end(18)
print([(one.name, one.kind.name, dict(one.attributes), one.start_time, len(one.events)) for one in exporter.get_finished_spans()][-1])
for wrong in (), (7,), ([],):
    try:
        tracer.start_span(*wrong)
        print('taken')
    except TypeError:
        print('refused')
''', ["'a'", "'b'", "'c'", "('c', 'CLIENT', {'k': 1}, 17, 0)", 'refused', 'taken', 'taken'])

    def test_a_sampler_of_the_program_is_asked_for_closed_points(self):
        self.server.want(open=['shop:web:b'], closed=['shop:web:health', 'shop:web:work'])
        self.expect('''
class ByName(sampling.Sampler):
    def should_sample(self, parent_context, trace_id, name, kind=None, attributes=None, links=None, trace_state=None):
        drop = name == 'health' or (attributes or {}).get('dull')
        return sampling.SamplingResult(sampling.Decision.DROP if drop else sampling.Decision.RECORD_AND_SAMPLE)
    def get_description(self):
        return 'by name'
for sampler in sampling.ParentBased(ByName()), sampling.ParentBased(sampling.ALWAYS_ON):
    tracer = make_tracer(sampler=sampler)
    in_force()
    for name, attributes in ('health', None), ('work', None), ('work', {'dull': True}):
        with tracer.start_as_current_span(name, attributes=attributes):
            with tracer.start_as_current_span('b') as span:
                print(span.is_recording(), end=' ')
    print()
''', ['False True False ', 'True True True '])

    def test_gevent_may_be_patched_in_before_or_after(self):
        self.server.want(open=['shop:web:b'])
        patch = 'from gevent import monkey; monkey.patch_all()\n'
        body = '''
tracer = make_tracer()
import pythia_gate.spans
agent = pythia_gate.spans._agents['shop']
end = time.monotonic() + 60
while not agent.etag:  # a program that gives no greenlet a turn: the agent has a thread of the system
    assert time.monotonic() < end
import gevent, threading
def work():
    with tracer.start_as_current_span('a'):
        gevent.sleep(0)
        with tracer.start_as_current_span('c'):
            gevent.sleep(0)
            with tracer.start_as_current_span('b'):
                gevent.sleep(0)
gevent.joinall([gevent.spawn(work) for _ in range(20)])
print(ended() == ['a'] * 20 + ['b<a'] * 20)
'''
        for prelude in (patch + PRELUDE, PRELUDE + patch, PRELUDE + 'make_tracer()\n' + patch):
            self.assertEqual(self.run_program(body, prelude=prelude), (0, ['True'], []))

    def test_tasks_of_asyncio_have_their_own_parents(self):
        self.server.want(open=['shop:web:b'])
        self.expect('''
import asyncio
tracer = make_tracer()
in_force()
async def work():
    with tracer.start_as_current_span('a'):
        with tracer.start_as_current_span('c'):
            await asyncio.sleep(0)
            await asyncio.gather(*(leaf() for _ in range(3)))
async def leaf():
    with tracer.start_as_current_span('b'):
        await asyncio.sleep(0)
async def main():
    await asyncio.gather(*(work() for _ in range(20)))
asyncio.run(main())
print(ended() == ['a'] * 20 + ['b<a'] * 60)
''', ['True'])

    def test_an_sdk_of_unknown_shape_runs_unharmed(self):
        shapes = ('del sdk.Tracer', 'sdk.Tracer.start_span = lambda self, text: None', 'del sdk.Span.update_name')
        for shape in shapes:
            status, out, errors = self.run_program(f'''
import opentelemetry.sdk.trace as sdk
{shape}
import os
del os.environ['PYTHIA_GATE']
import pythia_gate
pythia_gate.install()
pythia_gate.install()
print('it runs')
''', prelude='', PYTHIA_GATE='0')
            self.assertEqual((status, out, len(errors)), (0, ['it runs'], 1), errors)
            self.assertRegex(errors[0], '^pythia-gate: spans cannot be switched: this SDK of OpenTelemetry has an unknown shape: ')

    def test_settings_that_are_wrong_leave_the_program_alone(self):
        for setting, value in (('PYTHIA_URL', 'https://127.0.0.1'), ('PYTHIA_URL', 'http://127.0.0.1:x'), ('PYTHIA_TOKEN_FILE', '/none')):
            status, out, errors = self.run_program("make_tracer().start_span('a').end()\nprint(*ended())", **{setting: value})
            self.assertEqual((status, out, len(errors)), (0, ['a'], 1), errors)
            self.assertRegex(errors[0], '^pythia-gate: spans cannot be switched: ')

    def test_a_program_without_opentelemetry_runs_as_it_would(self):
        self.expect("import sys; print('pythia_gate' in sys.modules, 'opentelemetry' in sys.modules)", ['True False'], prelude='')
        self.assertEqual(self.server.gets, 0)

    def test_one_line_attaches_a_program_before_or_after_its_sdk(self):
        self.server.want(open=['shop:web:b'])
        line = f'import sys; sys.path.insert(0, {AGENT!r})\nimport pythia_gate; pythia_gate.install()\n'
        body = '''
in_force()
with tracer.start_as_current_span('a'), tracer.start_as_current_span('c'), tracer.start_as_current_span('b'):
    pass
print(*ended())
'''
        for prelude in (line + PRELUDE + 'tracer = make_tracer()', PRELUDE + 'tracer = make_tracer()\n' + line):
            if prelude.endswith(line):
                body = "tracer.start_span('a').end(); ended()" + body  # a tracer that was there before is seen with its first span
            self.assertEqual(self.run_program(body, prelude=prelude, PYTHONPATH=''), (0, ['a b<a'], []))

    def test_opentelemetry_instrument_loads_it(self):
        instrument = os.path.join(os.path.dirname(sys.executable), 'opentelemetry-instrument')
        self.server.want(open=['shop:web:b'])
        status, out, _ = self.run_program('''
from opentelemetry import trace
tracer = trace.get_tracer('web')
import pythia_gate.spans, time
while not pythia_gate.spans._agents or not all(one.etag for one in pythia_gate.spans._agents.values()): time.sleep(.01)
with tracer.start_as_current_span('a'), tracer.start_as_current_span('c') as c, tracer.start_as_current_span('b') as b:
    print(c.is_recording(), b.is_recording())
''', command=[instrument], prelude='')
        self.assertEqual((status, out), (0, ['False True']))

    def test_the_sitecustomize_that_it_hides_runs_too(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'sitecustomize.py'), 'w', encoding='ascii') as file:
                file.write("print('of somebody else')\n")
            self.expect("print('program')", ['of somebody else', 'program'], prelude='', PYTHONPATH=f'{AGENT}:{folder}')

    def test_children_of_a_program_are_instances(self):
        self.server.want(open=['shop:web:b'])
        self.expect('''
import os
tracer = make_tracer()
tracer.start_span('a').end()
in_force()
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        in_force()
        ended()
        with tracer.start_as_current_span('a'), tracer.start_as_current_span('c'), tracer.start_as_current_span('b'):
            pass
        os._exit(ended() != ['a', 'b<a'])
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
''', ['[0, 0, 0]'])
        self.assertEqual(len(self.server.instances), 4)


class Lists(unittest.TestCase):
    def test_ids_are_those_that_pythiad_gives(self):
        with open(os.path.join(ROOT, 'tests', 'adapters', 'data', 'trace_point_ids.jsonl'), encoding='utf-8') as file:
            vectors = [json.loads(line) for line in file]
        self.assertEqual(len(vectors), 37)
        for one in vectors:
            self.assertEqual(ids.point_id(one['service'], one['scope'], one['name']), one['id'])
        self.assertEqual(ids.point_id('', '', ''), '(unnamed)')
        self.assertEqual(ids.point_id('s', '', 'a\ud800b'), 's:a\ufffdb')
        self.assertEqual(ids.point_id('s', '', 17), 's:17')

    def test_a_list_says_what_is_open(self):
        table, lease_s, poll_s, report = lists.parse_list(
            b' {"lease_ms": 1000,"poll_ms":1,"default":"skeleton","open" : ["a" , "\\u0062\\""],"open_for":{"c":["t"],"d":[]},\n'
            b'"closed":["e"],"report":true, "x": {"y": [1, null]}} ')
        self.assertEqual((lease_s, poll_s, report), (1, .01, True))
        self.assertEqual([table.is_open(id_, False) for id_ in ('a', 'b"', 'c', 'e', 'f')], [True, True, True, False, False])
        self.assertEqual([table.is_open(id_, True) for id_ in ('a', 'e', 'f')], [True, False, True])
        self.assertEqual((table.open_for, table.type_key), ({'c': {'t'}, 'd': set()}, None))
        self.assertEqual(lists.parse_list(b'{"type_key":""}')[0].type_key, '')
        self.assertFalse(lists.parse_list(b'{"default":"none"}')[0].is_open('f', True))
        self.assertEqual(lists.parse_list(b'{"lease_ms":"x","poll_ms":1e999}')[1:3], (30, 60))
        self.assertEqual(lists.parse_list(b'{"lease_ms":true,"poll_ms":NaN}')[1:3], (30, .25))

    def test_what_is_no_list_is_refused(self):
        for text in ('', '7', 'null', '[', '{"open":7}', '{"open":[7]}', '{"closed":{}}', '{"open_for":[]}', '{"open_for":{"a":"t"}}',
                     '{"open_for":null}', '{"open":["a"]', '{"open":["a",]}', '{"a":1,}', '{} {}', '{"a" 1}',
                     '{"x":' + '[' * 100000, '{"x":"' + 'y' * 100000 + '"}'):
            with self.assertRaises((ValueError, RecursionError), msg=text[:40]):
                lists.parse_list(text.encode(), lambda seconds: None)

    def test_a_long_list_is_read_with_pauses(self):
        pauses = []
        body = json.dumps({'open': [f'shop:web:point {i}' for i in range(100000)]}).encode()
        self.assertEqual(len(lists.parse_list(body, pauses.append)[0].open), 100000)
        self.assertGreater(len(pauses), 5)


if __name__ == '__main__':
    unittest.main(verbosity=2)
