# SPDX-License-Identifier: MIT
# Copyright 2026 the Pythia developers
"""Switches for the spans of any OpenTelemetry program in Python, whose code nobody changes:

    export PYTHONPATH=/usr/share/pythia/python
    opentelemetry-instrument python3 app.py         (or python3 app.py, if the program sets its SDK up itself)

A program may also attach itself, before or after it sets its SDK up:

    import pythia_gate; pythia_gate.install()

Each (scope, span name) is a trace point that can be closed. A closed point is transparent: it makes no span, and what is
started below it hangs on the nearest open span above. Which points are open is asked over HTTP (pythia-control-http(7));
without an answer for as long as the lease, only entry points stay open: spans of servers and consumers, and those without a
parent. Whatever goes wrong here, the program runs on as it would without this package.

Two ways lead here without a change of the program: `opentelemetry-instrument` loads the entry point
`opentelemetry_pre_instrument` of this package; every other Python runs the sitecustomize.py beside it. Both call install().

Environment: PYTHIA_URL (http://127.0.0.1:4318), PYTHIA_SERVICE (service.name of the program's resource), PYTHIA_TOKEN_FILE (a
file with a token for the header Authorization), PYTHIA_OFF_FILE (/run/pythia/off: while this file is there everything is
closed), PYTHIA_GATE=0 (do nothing at all)."""
import os
import sys

from .settings import read_settings
from .version import __version__  # noqa: F401

_SDK = 'opentelemetry.sdk.trace'
_installed = False


def complain(why):
    """The one line on standard error that a program gets whose spans cannot be switched."""
    sys.stderr.write(f'pythia-gate: spans cannot be switched: {why}\n')


def install():
    """Put the switches in front of the SDK's tracers, now or as soon as the SDK is imported. Never raises; once is enough."""
    global _installed
    if _installed or os.environ.get('PYTHIA_GATE') == '0':
        return
    _installed = True
    try:
        settings = read_settings(os.environ)
        if _SDK in sys.modules:
            _patch(sys.modules[_SDK], settings)
        else:
            sys.meta_path.insert(0, _SdkWatch(settings))
    except Exception as why:
        complain(why)


def _patch(module, settings):
    try:
        from . import spans  # it imports the API, which is only there together with the SDK
        spans.patch(module, settings)
    except (AttributeError, ImportError) as why:
        raise RuntimeError(f'this SDK of OpenTelemetry has an unknown shape: {why}') from why


class _SdkWatch:
    """A finder of modules that finds nothing, but patches the SDK's when it has been imported by the others."""

    def __init__(self, settings):
        self.settings = settings

    def find_spec(self, name, path=None, target=None):
        if name != _SDK:
            return None
        import importlib.util
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            try:
                _patch(module, self.settings)
            except Exception as why:
                complain(why)
        spec.loader.exec_module = exec_module
        return spec
