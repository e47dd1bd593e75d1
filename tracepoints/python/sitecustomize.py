# SPDX-License-Identifier: MIT
# Copyright 2026 the Pythia developers
"""Loaded by every Python that `pythia run` starts: see pythia_functions.py."""
import os
import sys

if os.environ.get('PYTHIA_HOOKS'):
    try:
        import pythia_functions
        pythia_functions.install(os.environ['PYTHIA_HOOKS'])
    except Exception as why:  # a program must start in any case
        sys.stderr.write(f'pythia run: functions of Python cannot be hooked: {why}\n')


def _run_next():
    """Run the sitecustomize that this one hides, if there is one."""
    import importlib.machinery
    import importlib.util
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [os.path.abspath(folder or '.') for folder in sys.path]
    path = folders[folders.index(here) + 1:]  # one before it has run already
    spec = importlib.machinery.PathFinder.find_spec('sitecustomize', path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


try:
    _run_next()
except Exception as why:
    sys.stderr.write(f'sitecustomize: {why}\n')
