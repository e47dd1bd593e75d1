#!/usr/bin/python3
"""A service with OSProfiler that knows nothing of switches. Each line of its input is a command; each answer a line of
JSON: {"run": n, "path": "/servers"} makes n requests and gives the records of them ("calls": false: of their entry points,
with nothing below), {"fork": true} goes on in a child,
{"cost": n} gives what a pass of a closed and of an open point costs, in ns."""
import json
import os
import sys
import time

if 'eventlet' in sys.argv:
    import eventlet
    eventlet.monkey_patch()

from osprofiler import initializer, notifier, profiler
from osprofiler.drivers import base

records = []


class Recording(base.Driver):
    @classmethod
    def get_name(cls):
        return 'recording'

    def notify(self, info, **kwargs):
        records.append(dict(info, project=self.project, service=self.service))


class Conf(dict):
    class profiler:
        connection_string = 'recording://'
        hmac_keys = 'SECRET_KEY'


initializer.init_from_conf(Conf(), None, 'nova', os.environ.get('SERVICE', 'api'), 'host')


@profiler.trace_cls('rpc')
class Manager:
    def build(self, base_id=None):
        with profiler.Trace('db', info={'db': {'statement': 'SELECT * FROM instances', 'params': {}}}):
            pass
        return base_id


def request(path, base_id=None, parent_id=None, calls=True):
    profiler.init('SECRET_KEY', base_id, parent_id)
    try:
        with profiler.Trace('wsgi', info={'request': {'path': path, 'query': '', 'method': 'POST', 'scheme': 'http'}}):
            if calls:
                with profiler.Trace('compute', info={'n': 1}):
                    Manager().build()
    finally:
        profiler.clean()


def cost(count, path):
    profiler.init('SECRET_KEY')
    got = profiler.get()
    out = {}
    with profiler.Trace('wsgi', info={'request': {'path': path, 'method': 'POST'}}):
        for name, info in (('compute', {}), ('db', {'db': {'statement': 'SELECT * FROM instances'}})):
            begin = time.perf_counter_ns()
            for _ in range(count):
                got.start(name, info=dict(info))
                got.stop()
            out[name] = (time.perf_counter_ns() - begin) / count
    records.clear()
    profiler.clean()
    return out


def main():
    for line in iter(sys.stdin.readline, ''):
        command = json.loads(line)
        if 'run' in command:
            records.clear()
            for _ in range(command['run']):
                request(command.get('path', '/servers/1'), command.get('base_id'), command.get('parent_id'),
                        command.get('calls', True))
                time.sleep(0)
            print(json.dumps(records), flush=True)
        elif 'fork' in command:
            child = os.fork()
            if child:
                os.waitpid(child, 0)
                return
            print(json.dumps({'pid': os.getpid()}), flush=True)
        elif 'cost' in command:
            print(json.dumps(cost(command['cost'], '/servers/1')), flush=True)


main()
