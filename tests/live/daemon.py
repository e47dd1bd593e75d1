# SPDX-License-Identifier: MIT
"""pythiad as a person runs it, with its control interface by `pythia ctl`; and what its recordings hold."""
import atexit
import json
import os
import random
import socket
import subprocess
import threading
import time

import otlp

ENDS_S = 15


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as one:
        return one.getsockname()[1]


def free_ports(count):
    """The first of so many in a row, below those that the system gives to connections in the meantime."""
    while True:
        first = random.randrange(20000, 32000)
        try:
            for port in range(first, first + count):
                socket.create_server(('127.0.0.1', port)).close()
            return first
        except OSError:
            pass


class Pythiad:
    """Started with a folder of its own; other options by name: cycle_requests=40 is --cycle-requests 40."""
    who = {}  # arguments of Popen, of a class that is another user

    def __init__(self, binaries, folder, **options):
        os.makedirs(folder, exist_ok=True)
        self.pythia, self.folder, self.control = os.path.join(binaries, 'pythia'), folder, f'127.0.0.1:{free_port()}'
        self.log = os.path.join(folder, 'pythiad.log')
        given = {'otlp_http': 'off', 'otlp_grpc': 'off', 'zipkin': 'off', 'control': self.control,
                 'control_socket': f'unix:{folder}/control.sock', **options}
        self.command = [os.path.join(binaries, 'pythiad'), '--verbose']
        for name, value in given.items():
            option = '--' + name.replace('_', '-')
            self.command += [option] if value is True else [option, str(value)]
        with open(self.log, 'ab') as out:
            self.child = subprocess.Popen(self.command, stdout=out, stderr=out, **self.who)
        atexit.register(self.child.kill)  # Ctrl-C ends unittest without tearDownClass
        self.watching, self.most_open = None, 0
        self.until(20, 'pythiad answers', lambda: self.ctl('status', quiet=True))

    def ctl(self, action, *arguments, quiet=False):
        """The answer as JSON, or None if there is none."""
        done = subprocess.run([self.pythia, 'ctl', '--address', self.control, '--format', 'json', action, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0 and not quiet:
            raise AssertionError(f'pythia ctl {action}: {done.stderr}')
        return json.loads(done.stdout) if done.returncode == 0 else None

    def until(self, seconds, what, holds, every=.3):
        """What holds() gives as soon as that is something."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.child.poll() is not None:
                raise AssertionError(f'pythiad has ended, with {self.child.returncode}: see {self.log}')
            got = holds()
            if got:
                return got
            time.sleep(every)
        with open(self.log, encoding='utf-8', errors='replace') as log:
            raise AssertionError(f'not within {seconds} s: {what}\n{log.read()[-4000:]}')

    def is_in_force(self):
        return self.ctl('status')['in_force']

    def opened(self):
        """Ids that the search has ever opened."""
        return {one['trace_point'] for one in self.ctl('decisions', '--count', '10000') if one['open']}

    def is_open(self):
        """Ids that are wanted open: those of the skeleton, and of those that the search has opened."""
        wanted = {point['trace_point'] for point in self.ctl('points') if point['wanted']}
        opened = self.opened()
        return wanted - opened, wanted & opened

    def watch(self):
        """Note from now on how many points beyond the skeleton are open at once, at most."""
        stop = threading.Event()

        def look():
            while not stop.wait(.5):
                try:
                    self.most_open = max(self.most_open, len(self.is_open()[1]))
                except AssertionError:
                    pass  # it does not answer: whoever waits for it tells
        thread = threading.Thread(target=look)
        thread.start()
        self.watching = (stop, thread)

    def stop(self):
        """End it as systemd does; it takes in what has come."""
        if self.watching:
            self.watching[0].set()
            self.watching[1].join()
            self.watching = None
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
                raise AssertionError('pythiad does not end') from None
        return self.child.returncode


def bodies(recording):
    """(format, bytes) of each body in a recording of pythiad."""
    with open(recording, 'rb') as file:
        if file.readline() != b'pythia recording 1\n':
            raise ValueError(f'{recording} is no recording')
        while head := file.readline():
            name, size = head.split()
            body = file.read(int(size))
            if len(body) != int(size):
                raise ValueError(f'{recording} is cut')
            file.readline()
            yield name.decode(), body


def otlp_spans(recording):
    return [span for name, body in bodies(recording) if name == 'otlp-proto' for span in otlp.spans(body)]


def replay(binaries, recording, *arguments):
    """The report of `pythia replay`, as JSON."""
    done = subprocess.run([os.path.join(binaries, 'pythia'), 'replay', '--quiet', '--format', 'json', *arguments,
                           recording], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 3, 4):
        raise AssertionError(f'pythia replay ends with {done.returncode}')
    return json.loads(done.stdout)


def places(report, request_type):
    """Of each cause that a report's search has found for a type, the trace points that its place names."""
    edges = [cause['edge'] for problem in report['search']['problems'] if problem['request_type'] == request_type
             for cause in problem['causes']]
    return [{edge['inside']} if edge['inside'] else {edge['from']['trace_point'], edge['to']['trace_point']}
            for edge in edges]


def keys(report, request_type):
    """Keys that explain the groups of a type, best first, without the points they are of."""
    return [explanation['key'].partition('@')[0] for group in report['groups']
            if group['request_type'] == request_type for explanation in group['explanations']]


def rounded(value):
    """A report's part with its numbers to nine digits: alpha goes from one to the other as a text."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f'{value:.9g}') if isinstance(value, float) else value
