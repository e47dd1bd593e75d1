# SPDX-License-Identifier: MIT
"""What nova-compute is given for the testbed, loaded before it by sitecustomize.py; no file of nova's is changed.

A machine that boots: the fake driver's spawn takes as long as TESTBED_SPAWN says ("LOW:HIGH", in seconds).

Four more trace points, such as nova's authors might have put, made with OSProfiler's own calls: build, all that is done in
nova-compute; build_semaphore, the wait for a place among those that are built, with queue_length, builds_in_progress and
max_concurrent_builds as it found them; build_instance, the work once there is a place; and virt_spawn, the driver. nova
builds in a green thread of its own, whose first span is an entry point: that is build, and the others are below it.

A limit that can be changed: nova reads max_concurrent_builds when it starts. Here the file TESTBED_BUILDS, which is one of
nova-compute's settings, is looked at whenever a build asks for a place or gives it back."""
import os
import random
import re
import sys


def read_limit(path, otherwise):
    """max_concurrent_builds in a file of settings."""
    try:
        with open(path, encoding='utf-8') as file:
            found = re.search(r'^max_concurrent_builds\s*=\s*(\d+)\s*$', file.read(), re.MULTILINE)
    except OSError:
        return otherwise
    return int(found.group(1)) if found and int(found.group(1)) > 0 else otherwise


def build_semaphore_class(Semaphore, profiler):
    class BuildSemaphore(Semaphore):
        """nova's semaphore, which tells how long its queue is, and whose limit follows the file."""

        def __init__(self, limit, path):
            super().__init__(limit)
            self.limit, self.path, self.seen = limit, path, None

        def follow(self):
            try:
                changed = os.stat(self.path).st_mtime_ns
            except OSError:
                return
            if changed == self.seen:
                return
            self.seen = changed
            limit = read_limit(self.path, self.limit)
            more, self.limit = limit - self.limit, limit
            for _ in range(more):
                self.release()
            if more < 0:  # those that have a place keep it: the counter is below 0 until they are done
                self.counter += more

        def __enter__(self):
            self.follow()
            profiler.start('build')
            with profiler.Trace('build_semaphore', info={
                    'queue_length': len(self._waiters), 'builds_in_progress': self.limit - self.counter,
                    'max_concurrent_builds': self.limit}):
                self.acquire()

        def __exit__(self, *why):
            profiler.stop()
            self.release()
            self.follow()
    return BuildSemaphore


def patch_manager(module):
    import eventlet.semaphore
    from osprofiler import profiler
    Manager = module.ComputeManager
    create, build = Manager.__init__, Manager._do_build_and_run_instance
    BuildSemaphore = build_semaphore_class(eventlet.semaphore.Semaphore, profiler)

    def __init__(self, *arguments, **named):
        create(self, *arguments, **named)
        if module.CONF.max_concurrent_builds > 0:
            self._build_semaphore = BuildSemaphore(module.CONF.max_concurrent_builds, os.environ['TESTBED_BUILDS'])

    def _do_build_and_run_instance(self, context, instance, *arguments, **named):
        with profiler.Trace('build_instance', info={'instance': instance.uuid}):
            return build(self, context, instance, *arguments, **named)
    Manager.__init__, Manager._do_build_and_run_instance = __init__, _do_build_and_run_instance


def patch_driver(module):
    import eventlet
    from osprofiler import profiler
    low, high = (float(bound) for bound in os.environ.get('TESTBED_SPAWN', '0:0').split(':'))
    numbers, spawn_now = random.Random(1), module.FakeDriver.spawn

    def spawn(self, context, instance, *arguments, **named):
        with profiler.Trace('virt_spawn', info={'instance': instance.uuid}):
            eventlet.sleep(numbers.uniform(low, high))
            return spawn_now(self, context, instance, *arguments, **named)
    module.FakeDriver.spawn = spawn


class Finder:
    """Runs a patch as soon as its module has been imported."""
    patches = {'nova.compute.manager': patch_manager, 'nova.virt.fake': patch_driver}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        patch = cls.patches.get(name)
        if patch is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is cls else finder.find_spec(name, path, target)
            if spec is not None:
                execute = spec.loader.exec_module

                def exec_module(module):
                    execute(module)
                    patch(module)
                spec.loader.exec_module = exec_module
                return spec
        return None


def install():
    if os.environ.get('TESTBED_BUILDS'):
        sys.meta_path.insert(0, Finder)
