# SPDX-License-Identifier: MIT
"""The version of this package, which reports carry."""
__version__ = '0.1.0'
