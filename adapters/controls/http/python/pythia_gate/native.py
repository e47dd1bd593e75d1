# SPDX-License-Identifier: MIT
"""Threads, sleep and sockets of the system, whatever gevent or eventlet have put in their places: what this package does by
itself runs beside the program's loop, and no instrumentation of sockets sees it."""
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
start_new_thread = _original(_thread, 'start_new_thread')
