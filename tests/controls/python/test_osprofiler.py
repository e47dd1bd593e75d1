#!/usr/bin/python3
"""The preload for OSProfiler, alone, and against a Redis and the control plane. usage: test_osprofiler.py CONTROL_SERVER

Ends with 77, and says why, where Debian's python3-osprofiler or redis-server are not installed."""
import atexit
import collections
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, '..', '..', '..'))
PRELOAD = os.path.join(ROOT, 'adapters', 'controls', 'osprofiler', 'python')
VECTORS = os.path.join(ROOT, 'tests', 'adapters', 'data', 'osprofiler_ids.jsonl')
PYTHON = '/usr/bin/python3'  # Debian's, for which its packages are
CONTROL_SERVER = ''

os.environ['PYTHIA_OSPROFILER'] = '0'
sys.path[:0] = [PRELOAD, os.path.join(ROOT, 'tests', 'pythiad')]
import pythia_osprofiler as preload  # noqa: E402
import rig  # noqa: E402

WSGI, COMPUTE, RPC, DB = ('wsgi:nova:POST:/servers/{id}', 'compute:nova', 'rpc:__main__.Manager.build',
                          'db:nova:SELECT:instances')


class Ids(unittest.TestCase):
    def test_ids_are_those_that_the_adapter_makes(self):
        with open(VECTORS, encoding='utf-8') as lines:
            examples = [json.loads(line) for line in lines]
        self.assertEqual(len(examples), 25)
        for example in examples:
            self.assertEqual(preload.point_id(example['name'], example['info'], example['project']), example['id'])
        self.assertEqual(preload.point_id('x', None, 'nova'), 'x:nova')
        self.assertEqual(preload.point_id('x', [1], 'nova'), 'x:nova')

    def test_a_list_says_what_is_open(self):
        table, lease, poll = preload.parse_table(json.dumps({
            'lease_ms': 1000, 'poll_ms': 1, 'open': ['a'], 'open_for': {'b': ['x + y', 'z'], 'n': []}, 'closed': ['c']}))
        self.assertEqual((lease, poll), (1, .01))

        def is_open(point, is_entry=False, roots=()):
            return table.is_open(point, is_entry, lambda: frozenset(roots))
        self.assertEqual([is_open(point) for point in 'abcd'], [True, False, False, False])
        self.assertEqual([is_open(point, True) for point in 'abcd'], [True, False, False, True])
        # Roots that no type has (of getting a token) do not count; all others must be the type's.
        self.assertTrue(is_open('b', roots=['x']) and is_open('b', roots=['y', 'x', 'token']) and is_open('b', roots=['z']))
        self.assertFalse(is_open('b', roots=['x', 'z']) or is_open('b', roots=['token']) or is_open('n', roots=['x']))
        self.assertFalse(preload.OFF.is_open('a', True, frozenset))
        self.assertEqual(table.roots, {'x', 'y', 'z'})
        self.assertEqual(preload.parse_table('{"types":["x + y","w"]}')[0].roots, {'w', 'x', 'y'})
        self.assertEqual(preload.parse_table('{"default":"none"}')[0].is_open('a', True, frozenset), False)

    def test_a_price_is_a_median_that_one_slow_pass_does_not_move(self):
        point, timed = preload.Point('a'), []
        for cost in (900, 30, 20, 25, 900, 10, 15, 900, 28, 29, 31):
            timed.append(point.price)
            point.add_cost(cost)
        # Of 900 30 20: 30. Of 900 30 20 25: 30. The last nine are 20 25 900 10 15 900 28 29 31: 28.
        self.assertEqual(timed[:5], [None, None, None, 30, 30])
        self.assertEqual(point.price, 28)
        point, passes = preload.Point('b'), []
        for point.hits in range(1, 40):
            if point.is_timed():
                passes.append(point.hits)
                point.add_cost(1)
        self.assertEqual(passes, [1, 2, 3, 17, 33])

    def test_a_pass_that_waits_costs_no_more(self):
        class Profiler:
            def start(self, name, info=None):
                time.sleep(.05)  # for Redis, or for a processor

            stop = start
        preload.patch(types.SimpleNamespace(_Profiler=Profiler), types.SimpleNamespace(get=lambda: None))
        atexit.unregister(preload.AGENT.end)
        point, profiler = preload.Point('a'), Profiler()
        preload.AGENT.decide = lambda *_: (True, point)
        for point.hits in range(1, preload.PRICED + 1):
            profiler.start('a')
            profiler.stop('a')
        self.assertLess(point.price, 50e6)  # of 100 ms that each took

    def test_what_is_no_list_is_refused(self):
        for text in ('', '7', 'null', '[', '{"open":7}', '{"open":[7]}', '{"open_for":[]}', '{"open_for":{"a":7}}',
                     '{"lease_ms":"x"}', '{"lease_ms":null}', '[' * 100000):
            with self.assertRaises((ValueError, TypeError, RecursionError), msg=text[:20]):
                preload.parse_table(text)


class FakeRedis:
    """Answers whatever bytes it is told, or nothing."""

    def __init__(self, answer):
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.url = f'redis://127.0.0.1:{self.listening.getsockname()[1]}/0'
        self.child = os.fork()
        if self.child == 0:
            while True:
                client, _ = self.listening.accept()
                client.recv(4096)
                if answer is not None:
                    client.sendall(answer)
                    client.close()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        self.listening.close()


class Connection(unittest.TestCase):
    def test_what_redis_answers_is_read(self):
        with FakeRedis(b'+OK\r\n$-1\r\n$3\r\na\r\n\r\n:7\r\n*2\r\n$1\r\nx\r\n*0\r\n') as redis:
            connection = preload.Redis(redis.url, 1)
            got = connection(('A',), ('B', 'c'), ('D',), ('E',), ('F', b'\xff'))
            connection.close()
            self.assertEqual(got, [b'OK', None, b'a\r\n', 7, [b'x', []]])

    def test_no_answer_and_nonsense_are_told(self):
        for answer in (None, b'', b'$5\r\nab', b'-ERR no\r\n', b'!\r\n', b'$x\r\n', b'$99999999999\r\n', b':\r\n', b'x' * 9):
            with FakeRedis(answer) as redis:
                connection = preload.Redis(redis.url, .2)
                begin = time.monotonic()
                with self.assertRaises(preload.Lost, msg=answer):
                    connection(('A',))
                rig.within(self, time.monotonic() - begin, 1, 'until a lost Redis is reported')
                self.assertIsNone(connection.socket)
        for url in ('redis://127.0.0.1:9', 'redis://127.0.0.1:x', 'unix:/nonexistent', 'redis://no.name/0', 'x'):
            with self.assertRaises(preload.Lost, msg=url):
                preload.Redis(url, .2)(('A',))


class Service:
    def __init__(self, url, *arguments, name='api', preload=True, **environment):
        env = dict(os.environ, PYTHIA_REDIS=url, PYTHIA_OSPROFILER='1', SERVICE=name, **environment)
        if preload:
            env['PYTHONPATH'] = PRELOAD
        self.child = subprocess.Popen([PYTHON, os.path.join(HERE, 'service.py'), *arguments], env=env, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **command):
        self.child.stdin.write(json.dumps(command) + '\n')
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        assert line, f'the service has ended: {self.child.wait()}'
        return json.loads(line)

    def edges(self, count=10, **more):
        """Requests, and what was recorded: how often one point hangs on which."""
        records = self.ask(run=count, **more)
        starts = {r['trace_id']: r for r in records if r['name'].endswith('-start')}
        stops = sum(r['name'].endswith('-stop') for r in records)
        assert stops == len(starts), records
        names = collections.Counter()
        for r in starts.values():
            above = starts.get(r['parent_id'])
            if above is None and r['parent_id'] not in (r['base_id'], more.get('parent_id')):
                names['ORPHAN'] += 1
            names[(above['name'][:-6] + '>' if above else '') + r['name'][:-6]] += 1
        return dict(names)

    def end(self):
        self.child.stdin.close()
        self.child.stdout.close()
        self.child.kill()
        self.child.wait()


class Control:
    def __init__(self, url, *options):
        self.child = subprocess.Popen([CONTROL_SERVER, 'osprofiler', 'redis=' + url, 'lease-ms=1500', *options],
                                      text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **command):
        self.child.stdin.write(json.dumps(command) + '\n')
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def want(self, *ids, **typed):
        return self.ask(want=[{'id': id} for id in ids] + [{'id': id, 'types': t} for id, t in typed.items()])

    def until(self, condition, what, seconds=8):
        shown = []

        def holds():
            shown[:] = [self.ask(show=True)]
            return condition(shown[0])
        rig.until(holds, seconds, lambda: f'{what}: {shown}')
        return shown[0]

    def end(self):
        self.child.stdin.close()
        self.child.stdout.close()
        self.child.kill()
        self.child.wait()


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return server.getsockname()[1]


class Live(unittest.TestCase):
    def becomes(self, service, edges, seconds):
        """Wait until the service records just these edges; after how many seconds."""
        begun = time.monotonic()
        rig.until(lambda: service.edges() == edges, seconds, lambda: f'never recorded {edges}')
        took = time.monotonic() - begun
        rig.within(self, took, seconds, f'until {edges} is recorded')
        return took

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='pythia-redis-')
        cls.port = free_port()
        cls.url = f'redis://127.0.0.1:{cls.port}/0'
        cls.start_redis()

    @classmethod
    def start_redis(cls):
        cls.redis = subprocess.Popen(['redis-server', '--bind', '127.0.0.1', '--port', str(cls.port), '--save', '',
                                      '--appendonly', 'no', '--dir', cls.folder], stdout=subprocess.DEVNULL)
        end = time.monotonic() + rig.patience(10)
        while True:
            try:
                return socket.create_connection(('127.0.0.1', cls.port), 1).close()
            except OSError:
                assert time.monotonic() < end
                time.sleep(.05)

    @classmethod
    def stop_redis(cls):
        cls.redis.kill()
        cls.redis.wait()

    @classmethod
    def tearDownClass(cls):
        cls.stop_redis()
        shutil.rmtree(cls.folder)

    def setUp(self):
        redis = preload.Redis(self.url, 1)
        redis(('FLUSHALL',))
        redis.close()

    def start(self, maker, *arguments, **more):
        started = maker(self.url, *arguments, **more)
        self.addCleanup(started.end)
        return started

    def both(self, *options, **more):
        control, service = self.start(Control, *options), self.start(Service, **more)
        service.edges()
        control.until(lambda now: len(now['points']) == 4, 'the inventory')
        return control, service

    def in_force(self, control):
        return control.until(lambda now: now['in_force'], 'in force')

    def test_without_a_daemon_only_entry_points_are_open(self):
        service = self.start(Service)
        self.assertEqual(service.edges(), {'wsgi': 10})
        plain = self.start(Service, preload=False)
        self.assertEqual(plain.edges(), {'wsgi': 10, 'wsgi>compute': 10, 'compute>rpc': 10, 'rpc>db': 10})

    def test_points_are_opened_and_closed_within_a_second_without_orphans(self):
        control, service = self.both()
        points = {p['id']: p for p in control.ask(show=True)['points']}
        self.assertEqual(set(points), {WSGI, COMPUTE, RPC, DB})
        self.assertEqual({p['target'] for p in points.values()}, {'nova-api'})
        self.assertEqual([id for id in points if points[id]['default']], [WSGI])
        expected = {(): {}, (WSGI,): {'wsgi': 10}, (WSGI, RPC): {'wsgi': 10, 'wsgi>rpc': 10}, (DB,): {'db': 10},
                    (COMPUTE, DB): {'compute': 10, 'compute>db': 10},
                    (WSGI, COMPUTE, RPC, DB): {'wsgi': 10, 'wsgi>compute': 10, 'compute>rpc': 10, 'rpc>db': 10}}
        latencies = []
        for ids, edges in expected.items():
            begin = control.ask(show=True)['now_ns']
            control.want(*ids)
            latencies.append((self.in_force(control)['since_ns'] - begin) / 1e6)
            self.assertEqual(service.edges(), edges, ids)
            time.sleep(1)  # a point is switched at most once a second
        print('switch in force after', ', '.join(f'{ms:.0f}' for ms in latencies), 'ms')
        rig.within(self, max(latencies) / 1000, 1, 'until a switch is in force')

    def test_prices_and_hits_are_measured(self):
        control, service = self.both()
        control.want(WSGI, DB)
        self.in_force(control)
        service.edges(100)
        shown = control.until(lambda now: all(p['hits'] >= 110 for p in now['points']), 'hits')
        prices = {p['id']: p.get('price_ns') for p in shown['points']}
        self.assertTrue(1000 < prices[DB] and 1000 < prices[WSGI], prices)
        cost = service.ask(cost=2000)
        print('closed {compute:.0f} ns, open {db:.0f} ns a pass'.format(**cost))
        rig.within(self, cost['compute'], cost['db'] / 2, 'a closed point beside an open one, in ns')

    def test_a_point_is_open_for_some_types_only(self):
        control, api = self.both()
        compute = self.start(Service, name='compute')
        compute.edges()
        control.until(lambda now: len(now['points']) == 8, 'two services')
        root = 'wsgi:nova:POST:/servers'
        control.want(WSGI, root, **{DB: [f'{root} + wsgi:keystone:GET:/v3', 'other'], RPC: ['other']})
        self.in_force(control)
        self.assertEqual(api.edges(path='/servers'), {'wsgi': 10, 'wsgi>db': 10})
        self.assertEqual(api.edges(path='/servers/5'), {'wsgi': 10})
        # A process below knows the type by the id of the request.
        for path, below in (('/servers', True), ('/servers/7', False)):
            records = api.ask(run=1, path=path)
            base, parent = records[0]['base_id'], records[0]['trace_id']
            edges = compute.edges(1, path='/x', base_id=base, parent_id=parent)
            self.assertEqual('wsgi>db' in edges or 'db' in edges, below, edges)

    def test_a_service_notes_the_roots_for_points_that_only_others_have(self):
        control, front = self.start(Control), self.start(Service, name='front')
        root = 'wsgi:nova:POST:/servers'
        front.edges(path='/servers', calls=False)
        control.until(lambda now: len(now['points']) == 1, 'the front, which has nothing below its entry point')
        compute = self.start(Service, name='compute')
        compute.edges(path='/x')
        control.until(lambda now: len(now['points']) == 5, 'two services')
        control.want(root, **{DB: [root]})
        self.in_force(control)
        for path, below in (('/servers', True), ('/servers/7', False)):
            records = front.ask(run=1, path=path, calls=False)
            base, parent = records[0]['base_id'], records[0]['trace_id']
            self.assertEqual(compute.edges(1, path='/x', base_id=base, parent_id=parent),
                             {'db': 1} if below else {})

    def test_forks_and_green_threads_are_agents_of_their_own(self):
        control = self.start(Control)
        service = self.start(Service)
        service.edges()
        self.assertIn('pid', service.ask(fork=True))
        self.assertEqual(service.edges(), {'wsgi': 10})
        control.until(lambda now: len(now['points']) == 4, 'the inventory')
        control.want(DB)
        time.sleep(5)  # the parent's agent, which does nothing but wait, is still there: it has its own switches
        self.in_force(control)
        self.assertEqual(service.edges(), {'db': 10})
        if importlib.util.find_spec('eventlet') or os.path.isdir('/usr/lib/python3/dist-packages/eventlet'):
            green = self.start(Service, 'eventlet', name='green')
            green.edges()
            control.until(lambda now: sum(p['target'] == 'nova-green' for p in now['points']) == 4, 'green threads')
            control.until(lambda now: now['in_force'] and all(p['result'] == 'applied' for p in now['points']), 'in force')
            self.assertEqual(green.edges(), {'db': 10})

    def test_a_service_that_was_killed_is_seen_and_has_its_switches_when_it_is_back(self):
        control, service = self.both()
        control.want(WSGI, RPC)
        self.in_force(control)
        service.child.kill()
        died = time.monotonic()
        control.until(lambda now: now['numbers']['lost_targets'] == 1, 'seen')
        rig.within(self, time.monotonic() - died, 5, 'until a killed service is lost')
        again = self.start(Service)
        self.becomes(again, {'wsgi': 10, 'wsgi>rpc': 10}, 5)
        control.until(lambda now: now['in_force'] and not now['numbers']['lost_targets'], 'in force again')

    def test_the_default_set_returns_when_the_daemon_is_gone(self):
        for number in (signal.SIGKILL, signal.SIGSTOP):
            control, service = self.both()
            control.want(DB)
            self.in_force(control)
            self.assertEqual(service.edges(), {'db': 10})
            control.child.send_signal(number)
            self.assertGreater(self.becomes(service, {'wsgi': 10}, 4), .8)
            control.child.kill()
            service.end()
            self.setUp()

    def test_a_redis_that_is_lost_is_told_and_comes_back(self):
        control, service = self.both()
        control.want(DB)
        self.in_force(control)
        self.stop_redis()
        control.until(lambda now: now['numbers']['failed_applies'] > 0 and now['numbers']['lost_targets'] > 0, 'seen', 5)
        self.becomes(service, {'wsgi': 10}, 4)  # the requests go on
        self.start_redis()  # and knows of nothing
        self.becomes(service, {'db': 10}, 5)
        control.until(lambda now: now['in_force'] and not now['numbers']['lost_targets'], 'in force again', 5)

    def test_a_redis_that_hangs_makes_nobody_wait(self):
        control, service = self.both()
        control.want(DB)
        self.in_force(control)
        os.kill(self.redis.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.redis.pid, signal.SIGCONT)
        for _ in range(20):
            begin = time.monotonic()
            control.ask(show=True)
            rig.within(self, time.monotonic() - begin, .3, 'the control plane beside a Redis that hangs')
            begin = time.monotonic()
            service.edges(20)
            rig.within(self, time.monotonic() - begin, .5, 'a service beside a Redis that hangs')
            time.sleep(.1)
        control.until(lambda now: now['numbers']['lost_targets'] > 0, 'seen', 5)

    def test_off_closes_everything_within_two_seconds(self):
        control, service = self.both()
        control.want(WSGI, DB)
        self.in_force(control)
        os.kill(control.child.pid, signal.SIGSTOP)  # the daemon hangs: another process does it
        other = self.start(Control)
        self.assertEqual(other.ask(off=True), {'status': 0})
        self.becomes(service, {}, 2)
        time.sleep(2)  # no lease ends it
        self.assertEqual(service.edges(), {})
        os.kill(control.child.pid, signal.SIGCONT)
        self.assertEqual(other.ask(off=False), {'status': 0})
        self.becomes(service, {'wsgi': 10, 'wsgi>db': 10}, 5)

    def test_hostile_keys_break_nobody(self):
        control, service = self.both()
        control.want(WSGI, RPC)
        self.in_force(control)
        redis = preload.Redis(self.url, 1)
        self.addCleanup(redis.close)
        for report in ('', '[', '{}', '7', '{"service":"x"}', '\xff', '{"service":"nova-api","instance":"evil","points":7}',
                       '{"service":"nova-api","instance":"e","points":[{"id":"a\\u0001"},{"id":"' + 'x' * 600 + '"}]}'):
            redis(('LPUSH', 'pythia:reports', report))
        self.assertEqual(len(control.until(lambda now: True, '')['points']), 4)
        for value in ('x', 'x y\n{}', '0' * 33 + '\n[', '1' * 16 + ' ' + '2' * 16 + '\n{"open":7}', b'\xff' * 40):
            redis(('SET', 'pythia:switches:nova-api', value))
            time.sleep(.3)
            self.assertEqual(set(service.edges()) - {'wsgi', 'wsgi>rpc', 'rpc>db'}, set())
        for key in ('pythia:switches:nova-api', 'pythia:reports'):  # of another type than they should be
            redis(('DEL', key))
            redis(('HSET', key, 'a', 'b'))
        time.sleep(1)
        service.edges()
        redis(('DEL', 'pythia:switches:nova-api'), ('DEL', 'pythia:reports'))
        self.becomes(service, {'wsgi': 10, 'wsgi>rpc': 10}, 8)

    def test_reports_that_nobody_takes_are_not_kept_for_ever(self):
        redis = preload.Redis(self.url, 1)
        self.addCleanup(redis.close)
        redis(*[('LPUSH', 'pythia:reports', '{}')] * 3000)
        service = self.start(Service)
        service.edges()
        rig.until(lambda: redis(('LLEN', 'pythia:reports'))[0] <= 1000, 5)

    def test_as_a_module_and_switched_off(self):
        env = dict(os.environ, PYTHONPATH='', PYTHIA_REDIS=self.url, PYTHIA_OSPROFILER='1')
        for command, expected in (([PYTHON, os.path.join(PRELOAD, 'pythia_osprofiler.py')], 2),
                                  ([PYTHON], 8)):
            out = subprocess.run([*command, os.path.join(HERE, 'service.py')], env=env, input='{"run": 1}\n', text=True,
                                 capture_output=True, timeout=rig.patience(20), check=True)
            self.assertEqual(len(json.loads(out.stdout)), expected)
        env.update(PYTHONPATH=PRELOAD, PYTHIA_OSPROFILER='0')
        out = subprocess.run([PYTHON, os.path.join(HERE, 'service.py')], env=env, input='{"run": 1}\n', text=True,
                             capture_output=True, timeout=rig.patience(20), check=True)
        self.assertEqual(len(json.loads(out.stdout)), 8)


def skip(why):
    print('skipped: ' + why)
    sys.exit(77)


if __name__ == '__main__':
    CONTROL_SERVER = os.path.abspath(sys.argv.pop(1))
    if not shutil.which('redis-server'):
        skip('there is no redis-server: apt-get install redis-server')
    if subprocess.run([PYTHON, '-c', 'import osprofiler'], stderr=subprocess.DEVNULL).returncode:
        skip('there is no OSProfiler: apt-get install python3-osprofiler')
    unittest.main(verbosity=2)
