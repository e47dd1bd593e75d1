# SPDX-License-Identifier: MIT
"""The OpenStack testbed, its load in the background, and OSProfiler's records, read by hand."""
import atexit
import collections
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTBED = os.path.join(HERE, '..', '..', 'datasets', 'testbeds', 'openstack')
REDIS_CLI = 'redis-cli'

Record = collections.namedtuple('Record', 'name kind base id parent info')


class Testbed:
    def __init__(self):
        self.sending, self.redis = None, None

    def run(self, script, *arguments):
        return subprocess.run([os.path.join(TESTBED, script), *arguments], text=True, stdout=subprocess.PIPE,
                              check=False)

    def up(self):
        atexit.register(self.run, 'down')  # Ctrl-C ends unittest without tearDownClass
        done = self.run('up')
        if done.returncode == 77:
            sys.exit(77)
        assert done.returncode == 0, 'the services do not come up'
        self.redis = done.stdout.strip().splitlines()[-1]

    def limit(self, number):
        assert self.run('limit', str(number)).returncode == 0

    def load(self, seconds, seed, rate, *more):
        self.sending = subprocess.Popen([os.path.join(TESTBED, 'load'), '--rate', str(rate), '--seconds', str(seconds),
                                         '--seed', str(seed), *more], text=True, stdout=subprocess.PIPE)
        atexit.register(self.sending.terminate)

    def end_load(self, wait=False):
        """How many requests were sent; all have to be answered."""
        if self.sending is None:
            return 0
        if not wait:
            self.sending.send_signal(signal.SIGTERM)
        out, _ = self.sending.communicate(timeout=900)
        status, self.sending = self.sending.returncode, None
        assert status == 0, out
        return int(out.split()[0])

    def down(self):
        try:
            self.end_load()
        finally:
            assert self.run('down').returncode == 0

    def ask_redis(self, *words):
        return subprocess.run([REDIS_CLI, '-u', self.redis, '--raw', *words], text=True, stdout=subprocess.PIPE,
                              check=True).stdout.splitlines()


def records_of(lines):
    """Those in lines of JSON, as OSProfiler's driver for Redis writes them."""
    for line in lines:
        if not line.strip():
            continue
        event = json.loads(line)
        name, _, kind = event['name'].rpartition('-')
        yield Record(name, kind, event['base_id'], event['trace_id'], event['parent_id'], event['info'])


def orphans(records):
    """Spans whose parent is neither the request nor a span of it."""
    known = {(one.base, one.id) for one in records}
    return [one for one in records if one.parent != one.base and (one.base, one.parent) not in known]


def unfinished(records):
    """Spans that begin and do not end."""
    ended = {(one.base, one.id) for one in records if one.kind == 'stop'}
    return [one for one in records if one.kind == 'start' and (one.base, one.id) not in ended]
