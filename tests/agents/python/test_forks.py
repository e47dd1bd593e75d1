#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What forks, threads and monkey patches do to the agent for Python, without OpenTelemetry: its thread, and its connection.

Programs of a few lines have an agent of their own against the suite's server."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.join(HERE, '..', '..', '..', 'adapters', 'controls', 'http', 'python')
sys.path.insert(0, os.path.join(HERE, '..'))
from fake_pythiad import FakePythiad  # noqa: E402

PATIENCE_S = 60

PRELUDE = '''
import ctypes, os, sys, threading, time, types
from pythia_gate import native
from pythia_gate.agent import Agent
from pythia_gate.settings import read_settings

def make_agent():
    return Agent('shop', 'here', read_settings(os.environ), lambda: None)

def await_list(agent):
    end = time.monotonic() + 60
    while not agent.etag:
        assert time.monotonic() < end
        time.sleep(.01)

def sockets():
    """Inodes of the sockets that this process holds."""
    links = []
    for name in os.listdir('/proc/self/fd'):
        try:
            links.append(os.readlink('/proc/self/fd/' + name))
        except OSError:
            pass  # that of the listing itself
    return {link for link in links if link.startswith('socket:')}

def wait(child):
    assert os.waitpid(child, 0)[1] == 0
'''


class Forks(unittest.TestCase):
    def setUp(self):
        self.server = FakePythiad()
        self.server.start()
        self.addCleanup(self.server.stop)

    def run_program(self, text):
        """(lines of output, lines of errors)"""
        env = {**os.environ, 'PYTHONPATH': AGENT, 'PYTHIA_URL': self.server.url, 'PYTHIA_OFF_FILE': '', 'PYTHIA_GATE': '0',
               'PYTHONDONTWRITEBYTECODE': '1'}
        done = subprocess.run([sys.executable, '-c', PRELUDE + text], env=env, text=True, timeout=PATIENCE_S,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines(), done.stderr.splitlines()

    def test_a_child_has_a_connection_of_its_own_and_none_of_its_parent(self):
        self.assertEqual(self.run_program('''
agent = make_agent()
os.register_at_fork(after_in_child=agent.begin)
await_list(agent)
for _ in range(5):
    before = sockets()
    child = os.fork()
    if child == 0:
        await_list(agent)
        own = sockets()
        os._exit(bool(own & before) or len(own) != 1)
    wait(child)
print(len(sockets()))
'''), (['1'], []))
        self.assertEqual(len(self.server.instances), 6)

    def test_a_parent_that_dies_is_missed_while_its_child_lives(self):
        """Also if it was forked while the parent's thread awaited an answer."""
        self.server.mode = 'hang'
        program = subprocess.Popen([sys.executable, '-c', PRELUDE + '''
agent = make_agent()
os.register_at_fork(after_in_child=agent.begin)
sys.stdin.readline()
if os.fork() == 0:
    print(os.getpid(), flush=True)
    sys.stdin.read()
    os._exit(0)
os.kill(os.getpid(), 9)
'''], env={**os.environ, 'PYTHONPATH': AGENT, 'PYTHIA_URL': self.server.url, 'PYTHIA_OFF_FILE': '', 'PYTHIA_GATE': '0'}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.server.until(lambda: self.server.instances_asking(program.pid), 'the parent asks', PATIENCE_S)
            program.stdin.write('fork\n')
            program.stdin.flush()
            child = int(program.stdout.readline())
            self.server.await_gone(program.pid, PATIENCE_S)
            self.server.until(lambda: self.server.instances_asking(child), 'the child asks', PATIENCE_S)
        finally:
            program.stdin.close()  # the child ends with it
            program.wait()
            program.stdout.close()

    def test_a_daemon_that_closes_all_descriptors_has_their_numbers_for_itself(self):
        """Pairs of sockets take the numbers at once, while the agent rests and while it awaits an answer."""
        for self.server.mode in ('serve', 'hang'):
            self.assertEqual(self.run_program('''
import socket
agent = make_agent()
while agent.link.socket is None:
    time.sleep(.01)
number = agent.link.socket.fileno()
os.closerange(3, 64)
pairs = [socket.socketpair() for _ in range(8)]
assert number in [end.fileno() for pair in pairs for end in pair]
for pair in pairs:
    pair[0].send(b'mine')
time.sleep(3)
for pair in pairs:
    pair[0].setblocking(False)
    pair[1].setblocking(False)
    assert pair[1].recv(100) == b'mine', 'the agent has read what was sent to the program'
    for end in pair:
        try:
            raise AssertionError(f'the agent has written to a socket of the program, or closed it: {end.recv(100)}')
        except BlockingIOError:
            pass
'''), ([], []))
        self.assertEqual(len(self.server.instances), 1, 'it asked while the server answered')

    def test_a_fork_without_hooks_is_noticed_by_one_thread_of_many(self):
        """As uWSGI forks: the process goes on without PyOS_AfterFork_Child()."""
        self.assertEqual(self.run_program('''
sys.modules['uwsgi'] = types.SimpleNamespace(opt={'enable-threads': True})
agent = make_agent()
assert agent.pid is None and len(os.listdir('/proc/self/task')) == 1, 'nothing runs that a fork could break'
child = ctypes.PyDLL(None).fork()
if child == 0:
    gate = threading.Barrier(8)
    def hit():
        gate.wait()
        agent.follow_process()
    threads = [threading.Thread(target=hit) for _ in range(8)]
    for one in threads: one.start()
    for one in threads: one.join()
    await_list(agent)
    end = time.monotonic() + 60
    while len(os.listdir('/proc/self/task')) != 2 and time.monotonic() < end:
        time.sleep(.01)  # a thread that was joined is still listed for a moment
    os._exit(agent.pid != os.getpid() or len(os.listdir('/proc/self/task')) != 2)
wait(child)
'''), ([], []))
        self.assertEqual(len(self.server.instances), 1)

    def test_a_uwsgi_without_threads_is_named_once(self):
        for options, count in (("{b'master': True}", 1), ("{b'enable-threads': True}", 0), ("{'threads': b'2'}", 0)):
            _, errors = self.run_program(f'''
sys.modules['uwsgi'] = types.SimpleNamespace(opt={options})
agent = make_agent()
agent.follow_process()
agent.follow_process()
await_list(agent)
''')
            self.assertEqual(errors, ['pythia-gate: uWSGI runs without threads, so that spans are switched late or never: '
                                      'start it with --enable-threads'] * count)

    def test_a_uwsgi_is_known_by_its_command_before_its_module_is_there(self):
        folder = tempfile.TemporaryDirectory(prefix='pythia-forks-')
        self.addCleanup(folder.cleanup)
        script = os.path.join(folder.name, 'uwsgi')
        with open(script, 'w', encoding='ascii') as file:
            file.write('from pythia_gate import native\nprint(native.is_uwsgi())\n')
        env = {**os.environ, 'PYTHONPATH': AGENT, 'PYTHIA_GATE': '0'}
        for command, known in (([script], 'True'), (['-c', 'from pythia_gate import native\nprint(native.is_uwsgi())'], 'False')):
            out = subprocess.run([sys.executable, *command], env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
            self.assertEqual(out, known + '\n')

    def test_what_gevent_has_replaced_is_found(self):
        self.assertEqual(self.run_program('''
import importlib, _thread
originals = {('time', 'sleep'): time.sleep, ('_thread', 'start_new_thread'): _thread.start_new_thread,
             ('_thread', 'allocate_lock'): _thread.allocate_lock}
sys.modules['gevent.monkey'] = types.SimpleNamespace(get_original=lambda module, name: originals[module, name])
time.sleep = _thread.start_new_thread = None
importlib.reload(native)
agent = make_agent()
end = time.monotonic() + 60
while not agent.etag:
    assert time.monotonic() < end
print(agent.etag != '')
'''), (['True'], []))


if __name__ == '__main__':
    unittest.main(verbosity=2)
