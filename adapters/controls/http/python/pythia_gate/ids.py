# SPDX-License-Identifier: MIT
"""Ids of trace points, as pythiad gives them to the spans that it receives (pythia-control-http(7))."""
import re

ID_BYTES_MAX = 512

_IDENTIFIER = re.compile(r'(?:[0-9]+|[0-9A-Fa-f]{16,}|[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})\Z')
_CONTROL = re.compile('[\0-\x1f\x7f]')


def sound(text):
    """Return a text as it arrives by OTLP: without halves of surrogate pairs, and without NUL."""
    text = str(text).replace('\0', '\ufffd')
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')
    return text


def template(text):
    """Return a path-like name without its query, and with {id} for each identifier."""
    if '/' not in text:
        return text
    head, *rest = text.split('?', 1)[0].split('/')
    return '/'.join([head] + ['{id}' if _IDENTIFIER.match(one) else one for one in rest]) or text


def point_id(service, scope, name):
    parts = [service, scope, template(sound(name))] if scope else [service, template(sound(name))]
    return ':'.join(parts if service else parts[1:]) or '(unnamed)'


def is_sound_id(id_):
    return len(id_.encode()) <= ID_BYTES_MAX and not _CONTROL.search(id_)
