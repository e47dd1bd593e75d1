# SPDX-License-Identifier: MIT
# Copyright 2026 the Pythia developers
"""Loaded by every Python that has this folder in PYTHONPATH: see pythia_osprofiler.py."""
import sys

try:
    import pythia_osprofiler
    pythia_osprofiler.install()
except Exception as why:  # a service must come up in any case
    print(f'pythia_osprofiler: {why}', file=sys.stderr)


def _next():
    """Run the sitecustomize that this one stands in front of, if there is one."""
    import importlib.machinery
    import os
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [os.path.abspath(folder or '.') for folder in sys.path]
    path = folders[folders.index(here) + 1:]  # one before it has run already
    spec = importlib.machinery.PathFinder.find_spec('sitecustomize', path)
    if spec is not None and spec.loader is not None:
        import importlib.util
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


try:
    _next()
except Exception as why:
    print(f'sitecustomize: {why}', file=sys.stderr)
