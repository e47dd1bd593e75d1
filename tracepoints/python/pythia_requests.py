# SPDX-License-Identifier: MIT
# Copyright 2026 the Pythia developers
"""Durations of the requests of a web server in Python, as series over time: one for each path and method, "/v2/notify [POST]".
They are measured by the collector of libpythia-tracepoints, in each process of a server by itself (pythia-measurements(5)).

    PYTHIA_COLLECT=/var/tmp/shop gunicorn -c python:pythia_requests shop:app      a server that has hooks for it
    app.wsgi_app = pythia_requests.measured(app.wsgi_app)                         any other server of WSGI: here, of Flask

A configuration file of gunicorn that there is already takes the hooks by `from pythia_requests import pre_request, post_request`.
"""
import ctypes

_LIBRARY = 'libpythia-tracepoints.so.0'
_VERSION = 1  # PYTHIA_TRACEPOINTS_VERSION


class _Label(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('name_bytes', ctypes.c_uint32), ('number', ctypes.c_uint32), ('version', ctypes.c_uint64)]


_c = ctypes.CDLL(_LIBRARY)
_begin = _c.pythia_duration_begin
_begin.restype = ctypes.c_uint64
_end = _c.pythia_duration_end
_end.restype, _end.argtypes = None, (ctypes.POINTER(_Label), ctypes.c_uint64)


def end(path, method, begun):
    """Measure a request that began at `begun`, a value of pythia_duration_begin(); 0 is not measured. The collector looks the
    name up and copies it; names without room are counted in the series "dropped measurements"."""
    if begun:
        name = f'{path} [{method}]'.encode(errors='replace')
        _end(ctypes.byref(_Label(name, len(name), 0, _VERSION)), begun)


# ---- hooks of gunicorn ----


def pre_request(worker, request):
    request.pythia_begun = _begin()


def post_request(worker, request, environ, response):
    begun = getattr(request, 'pythia_begun', 0)
    if environ:
        _end_of(environ, begun)
    else:  # a request that gunicorn has refused
        end(request.path, request.method, begun)


# ---- any server of WSGI ----


class _Answer:
    """The body of an answer: the request ends when the server has sent it."""

    def __init__(self, body, environ, begun):
        self.body, self.environ, self.begun = body, environ, begun

    def __iter__(self):
        return iter(self.body)

    def close(self):
        try:
            if hasattr(self.body, 'close'):
                self.body.close()
        finally:
            _end_of(self.environ, self.begun)


def _end_of(environ, begun):
    # WSGI has the bytes of the path as characters of Latin-1.
    path = (environ.get('SCRIPT_NAME', '') + environ.get('PATH_INFO', '')).encode('latin-1', 'replace').decode(errors='replace')
    end(path, environ.get('REQUEST_METHOD', ''), begun)


def measured(app):
    """An application of WSGI that measures each request of `app`."""
    def run(environ, start_response):
        begun = _begin()
        try:
            body = app(environ, start_response)
        except BaseException:
            _end_of(environ, begun)
            raise
        return _Answer(body, environ, begun) if begun else body
    return run
