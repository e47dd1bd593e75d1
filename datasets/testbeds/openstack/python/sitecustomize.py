# SPDX-License-Identifier: MIT
"""Loaded by every Python that has this folder in PYTHONPATH: see testbed_nova.py."""
import testbed_nova

testbed_nova.install()
