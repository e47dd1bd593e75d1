# SPDX-License-Identifier: MIT
"""Spans say on which host and in which process they were made, because pythiad knows the instance of an agent by that. What the
program's resource says itself stays."""
import os
import re
import weakref
import _socket

from opentelemetry.sdk.resources import Resource

HOST, PID = 'host.name', 'process.pid'

_with_own_pid = weakref.WeakValueDictionary()  # by id()


def name_resource(resource):
    """Return the resource with host and process; the same one each time, because exporters group spans by it."""
    if HOST in resource.attributes and PID in resource.attributes:
        return resource
    named = getattr(resource, '_pythia_named', None)
    if named is None:
        named = Resource({HOST: _socket.gethostname(), PID: os.getpid()}).merge(resource)
        named = resource.__dict__.setdefault('_pythia_named', named)
        if PID not in resource.attributes:
            _with_own_pid[id(named)] = named
    return named


def follow_process():
    """Name the process that a fork has made."""
    for named in list(_with_own_pid.values()):
        named._attributes = Resource({**named.attributes, PID: os.getpid()})._attributes


def host_of(resource):
    """Return the host by which an instance can be named: without colons and slashes, of at most 100 bytes."""
    host = resource.attributes.get(HOST)
    if isinstance(host, str) and re.fullmatch(r'[!-.0-9;-~]{1,100}', host):
        return host
    return _socket.gethostname()[:64]
