# SPDX-License-Identifier: MIT
"""Threads, sleep and sockets of the system, whatever gevent or eventlet have put in their places: what this package does by
itself runs beside the program's loop, and no instrumentation of sockets sees it."""
import atexit
import os
import sys
import time
import _socket  # noqa: F401 - nobody patches it
import _thread


def _original(module, name):
    """Return the function that a monkey patch has replaced."""
    if 'gevent.monkey' in sys.modules:
        return sys.modules['gevent.monkey'].get_original(module.__name__, name)
    if 'eventlet.patcher' in sys.modules:
        return getattr(sys.modules['eventlet.patcher'].original(module.__name__), name)
    return getattr(module, name)


sleep = _original(time, 'sleep')
_start_new_thread = _original(_thread, 'start_new_thread')
_allocate_lock = _original(_thread, 'allocate_lock')
_beginning = {}  # from when a thread is started until it runs: locks, by themselves


def start_new_thread(function, arguments):
    begins = _allocate_lock()
    begins.acquire()
    _beginning[id(begins)] = begins

    def run():
        _beginning.pop(id(begins), None)
        begins.release()
        function(*arguments)
    _start_new_thread(run, ())


def _end():
    """Python is about to end: a thread that begins while it does crashes the process. Not for long, where no thread runs."""
    for begins in list(_beginning.values()):
        begins.acquire(True, .2)


atexit.register(_end)
os.register_at_fork(after_in_child=_beginning.clear)


def is_uwsgi():
    """Return whether this is uWSGI, also while Python starts in it, when its module is not there yet."""
    if 'uwsgi' in sys.modules or 'pyuwsgi' in sys.modules:
        return True
    try:
        with open('/proc/self/cmdline', 'rb') as file:
            words = file.read(4096).split(b'\0')
    except OSError:
        return False
    return any(b'uwsgi' in os.path.basename(word) for word in words[:2])  # of a script, Python's own name is the first


def lacks_threads():
    """Return whether this is a uWSGI that was started without threads of Python."""
    options = getattr(sys.modules.get('uwsgi'), 'opt', None)
    return options is not None and not {b'enable-threads', b'threads', 'enable-threads', 'threads'} & set(options)
