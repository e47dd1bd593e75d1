#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The agent for Python in servers that fork: each worker is an instance with the list in force, and the server sees one die.

gunicorn, uWSGI and Celery are started as their users start them, against the suite's server. Run by run_gate."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.join(HERE, '..', '..', '..', 'adapters', 'controls', 'http', 'python')
sys.path.insert(0, os.path.join(HERE, '..'))
from fake_pythiad import FakePythiad  # noqa: E402

PATIENCE_S = 120
COMMANDS = os.path.dirname(sys.executable)
SWITCHED = 'c False b True'

# A service whose answer is its process, and which of its points are open.
PASS = '''
import os, time
from opentelemetry import trace
tracer = trace.get_tracer('web')
def hit():
    with tracer.start_as_current_span('a'), tracer.start_as_current_span('c') as c, tracer.start_as_current_span('b') as b:
        time.sleep(.01)
        return f'{os.getpid()} c {c.is_recording()} b {b.is_recording()}'
'''
SITE = PASS + '''
def app(environment, start):
    start('200 OK', [('Connection', 'close')])
    return [hit().encode()]
'''
OWN_SDK = '''
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
'''

# Two workers of eventlet on one socket, as programs without another server do it.
EVENTLET = '''
import eventlet
eventlet.monkey_patch()
import os, sys
import eventlet.wsgi
import shop
listener = eventlet.listen(('127.0.0.1', int(sys.argv[1])))
for _ in range(2):
    if os.fork() == 0:
        eventlet.wsgi.server(listener, shop.app, log_output=False)
os.wait()
'''

POOL = '''
import multiprocessing
import shop
if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(2, maxtasksperchild=20) as pool:
        while True:
            print(pool.apply(shop.hit), flush=True)
'''

TASKS = OWN_SDK + PASS + '''
import celery
for name in ('queue', 'control', 'results'):
    os.makedirs(name, exist_ok=True)
app = celery.Celery('tasks', broker='filesystem://', backend='file://' + os.path.abspath('results'))
app.conf.broker_transport_options = {'data_folder_in': 'queue', 'data_folder_out': 'queue', 'control_folder': 'control'}
work = app.task(hit, name='work')
'''
ORDERS = '''
import tasks
while True:
    try:
        print(tasks.work.delay().get(timeout=2), flush=True)
    except Exception as why:  # its worker was killed, or is not there yet
        print('0', repr(why), flush=True)
'''


class Servers(unittest.TestCase):
    def setUp(self):
        self.server = FakePythiad()
        self.server.want(open=['shop:web:b'])
        self.server.start()
        self.addCleanup(self.server.stop)
        folder = tempfile.TemporaryDirectory(prefix='pythia-servers-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with socket.create_server(('127.0.0.1', 0)) as free:
            self.port = free.getsockname()[1]

    def write(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='ascii') as file:
            file.write(text)

    def log(self):
        with open(os.path.join(self.folder, 'log'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def start(self, *command, output=None, **environment):
        """A program in a session of its own, all of which is killed at the end."""
        env = {**os.environ, 'PYTHONPATH': AGENT, 'PYTHIA_URL': self.server.url, 'PYTHIA_OFF_FILE': '', 'OTEL_SERVICE_NAME': 'shop',
               'OTEL_TRACES_EXPORTER': 'none', 'OTEL_METRICS_EXPORTER': 'none', 'OTEL_LOGS_EXPORTER': 'none', **environment}
        with open(os.path.join(self.folder, 'log'), 'ab') as log:
            program = subprocess.Popen([os.path.join(COMMANDS, command[0]), *command[1:]], cwd=self.folder, env=env, text=True,
                                       stdout=output or log, stderr=log, start_new_session=True)
        self.addCleanup(self.end, program)
        return program

    @staticmethod
    def end(program):
        try:
            os.killpg(program.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        program.wait()
        if program.stdout:
            program.stdout.close()

    def await_switched(self, answers, count=2):
        """The processes of so many workers, each of which has answered that it follows the list."""
        last, deadline = {}, time.monotonic() + PATIENCE_S
        for answer in answers:
            process, _, state = answer.strip().partition(' ')
            if process != '0':
                last[int(process)] = state
            switched = [one for one, said in last.items() if said == SWITCHED and self.server.instances_of(one)]
            if len(switched) >= count:
                return switched
            self.assertLess(time.monotonic(), deadline, f'{last}\n{self.log()[-2000:]}')
        self.fail(f'no more answers: {last}\n{self.log()[-2000:]}')
        return []

    def answers(self):
        """What the service answers, again and again."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/', timeout=10) as answer:
                    yield answer.read().decode()
            except OSError:
                time.sleep(.1)

    def check_workers(self, answers):
        """Each of two workers is switched; one that is killed is missed at once, and so is none of the others."""
        killed, other = self.await_switched(answers())[:2]
        os.kill(killed, signal.SIGKILL)
        self.server.await_gone(killed, PATIENCE_S)
        alive = self.await_switched(one for one in answers() if int(one.split()[0]) != killed)
        self.assertIn(other, alive)

    def check_turnover(self, answers):
        """The same where workers end after some tasks: one that is killed may keep the lock of the pool's queue for ever."""
        first = self.await_switched(answers)
        self.await_switched(one for one in answers if int(one.split()[0]) not in first)
        for process in first:
            self.server.await_gone(process, PATIENCE_S)

    def test_workers_of_gunicorn(self):
        self.write('shop.py', SITE)
        for options in (['--preload'], [], ['--preload', '--worker-class', 'gevent'], ['--preload', '--worker-class', 'gthread', '--threads', '3']):
            with self.subTest(options):
                program = self.start('opentelemetry-instrument', f'{COMMANDS}/gunicorn', '--workers', '2', *options,
                                     '--bind', f'127.0.0.1:{self.port}', 'shop:app')
                self.check_workers(self.answers)
                self.end(program)

    def uwsgi(self, *options):
        return ['uwsgi', '--http-socket', f'127.0.0.1:{self.port}', '--master', '--processes', '2', '--virtualenv', sys.prefix,
                '--wsgi-file', 'shop.py', '--callable', 'app', *options]

    def test_workers_of_uwsgi(self):
        self.write('shop.py', OWN_SDK + SITE)
        for options in (['--enable-threads'], ['--enable-threads', '--py-call-osafterfork'], ['--enable-threads', '--lazy-apps'],
                        ['--threads', '2']):
            with self.subTest(options):
                program = self.start(*self.uwsgi(*options))
                self.check_workers(self.answers)
                self.end(program)
        self.assertNotIn('pythia-gate', self.log())

    def test_workers_of_uwsgi_under_opentelemetry_instrument(self):
        self.write('shop.py', SITE)
        command = self.uwsgi('--enable-threads')
        self.start('opentelemetry-instrument', f'{COMMANDS}/{command[0]}', *command[1:])
        self.check_workers(self.answers)

    def test_a_uwsgi_without_threads_serves_and_says_what_it_lacks(self):
        self.write('shop.py', OWN_SDK + SITE)
        self.start(*self.uwsgi())
        self.await_switched(self.answers())
        lines = [line for line in self.log().splitlines() if line.startswith('pythia-gate: ')]
        self.assertEqual(set(lines), {'pythia-gate: uWSGI runs without threads, so that spans are switched late or never: '
                                      'start it with --enable-threads'})
        self.assertEqual(len(lines), 2, 'one line a worker')

    def test_workers_of_eventlet(self):
        self.write('shop.py', SITE)
        self.write('serve.py', EVENTLET)
        for prefix in ([f'{COMMANDS}/opentelemetry-instrument'], []):
            with self.subTest(prefix):
                self.write('shop.py', SITE if prefix else OWN_SDK + SITE)
                program = self.start(*prefix, f'{COMMANDS}/python', 'serve.py', str(self.port))
                pids = self.await_switched(self.answers())
                os.kill(pids[0], signal.SIGKILL)
                self.server.await_gone(pids[0], PATIENCE_S)
                self.end(program)

    def test_children_of_multiprocessing(self):
        self.write('shop.py', OWN_SDK + PASS)
        self.write('pool.py', POOL)
        program = self.start('python', 'pool.py', output=subprocess.PIPE)
        self.check_turnover(program.stdout)

    def test_workers_of_celery(self):
        self.write('tasks.py', TASKS)
        self.write('orders.py', ORDERS)
        for pool, count in (('prefork', 2), ('gevent', 1), ('eventlet', 1), ('threads', 1)):
            with self.subTest(pool):
                program = self.start('celery', '-A', 'tasks', 'worker', '--concurrency', '2', '--pool', pool, '--max-tasks-per-child', '4')
                orders = self.start('python', 'orders.py', output=subprocess.PIPE, PYTHIA_GATE='0')
                if pool == 'prefork':
                    self.check_turnover(orders.stdout)
                else:
                    self.await_switched(orders.stdout, count)
                self.end(orders)
                self.end(program)


if __name__ == '__main__':
    unittest.main(verbosity=2)
