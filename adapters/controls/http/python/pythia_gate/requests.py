# SPDX-License-Identifier: MIT
"""Finds the type of a request as pythiad does (pythia-control-http(7)), while its spans are still being made; and sends it to the
services that are called, in a header. As long as the type is not known, a point that is open for some types only is
open: pythiad leaves out what it does not want, and nothing is lost."""
import re
import urllib.parse

from opentelemetry import propagate
from opentelemetry.context import create_key, get_value, set_value
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.propagators.textmap import TextMapPropagator, default_getter, default_setter
from opentelemetry.trace import SpanKind, get_current_span

from .ids import point_id, sound

HEADER = 'pythia-request-type'
HEADER_MAX = 1024  # bytes
_HEARD = create_key(HEADER)
_NO_ESCAPE = re.compile('%(?![0-9A-Fa-f]{2})')
_METHOD = re.compile('(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH)\\Z')
# Attributes by which pythiad names a request, before the name of its span.
_NAMING = ('rpc.method', 'messaging.destination.template', 'url.path', 'url.full', 'http.target', 'http.url')


def _text(value):
    return value if isinstance(value, str) and value else None


class Request:
    """A request in this process, from one entry on."""
    __slots__ = ('known', 'received', 'begins', 'span')

    def __init__(self, known, received, begins):
        self.known, self.received, self.begins = known, received, begins  # its type by the caller; does it begin here?
        self.span = None  # with which it begins

    def is_of(self, types, table, context):
        type_ = self.type(table)
        return type_ is None or type_ in types

    def type(self, table):
        """Return the type, or None if it is not known yet, or not in this process."""
        if not self.begins or self.span is None:
            return self.received
        attributes = getattr(self.span, 'attributes', None) or {}
        if table.type_key:
            return _text(attributes.get(table.type_key))
        return _text(attributes.get('request_type')) or self.type_by_route(attributes) or self.type_by_name(attributes)

    def type_by_route(self, attributes):
        route = _text(attributes.get('http.route'))
        if route is None:
            return None
        method = _text(attributes.get('http.request.method')) or _text(attributes.get('http.method'))
        if method is None and _METHOD.match(self.span.name):
            method = self.span.name
        return sound(' '.join(part for part in (self.known.agent.service, method, route) if part))

    def type_by_name(self, attributes):
        """Name the request by its first span, unless attributes or another name that come later may still name it."""
        hit = getattr(self.span, '_pythia_hit', None)
        is_final = (self.span.kind is SpanKind.INTERNAL and not _METHOD.match(self.span.name) and hit is not None
                    and not hit.switch.aliases and not any(key in attributes for key in _NAMING))
        return point_id(self.known.agent.service, self.known.scope, self.span.name) if is_final else None


class TypeHeader(TextMapPropagator):
    """Sends the type of a request to the services that are called, and takes it from those that call."""

    def __init__(self):
        self.installed = None

    def install(self):
        """Add the header to the propagator that the program has now. Called with each list that asks for types."""
        current = propagate.get_global_textmap()
        if current is not self.installed:
            self.installed = CompositePropagator([current, self])
            propagate.set_global_textmap(self.installed)

    @staticmethod
    def heard(context):
        return get_value(_HEARD, context)

    def inject(self, carrier, context=None, setter=default_setter):
        try:
            type_ = self.type_to_send(get_current_span(context))
            if type_ is not None:
                setter.set(carrier, HEADER, type_)
        except Exception:
            pass  # the request is sent without it

    @staticmethod
    def type_to_send(span):
        hit = getattr(span, '_pythia_hit', None)
        request = hit.request if hit is not None else getattr(span, '_pythia_request', None)
        table = request.known.agent.table if request is not None else None
        type_ = request.type(table) if table is not None and table.type_key is not None else None
        encoded = urllib.parse.quote(type_, safe="!*'()") if type_ is not None else None  # as encodeURIComponent() does
        return encoded if encoded and len(encoded) <= HEADER_MAX else None

    def extract(self, carrier, context=None, getter=default_getter):
        try:
            values = getter.get(carrier, HEADER)
            if values and values[0] and len(values[0]) <= HEADER_MAX and not _NO_ESCAPE.search(values[0]):
                return set_value(_HEARD, urllib.parse.unquote(values[0], errors='strict'), context)
        except Exception:
            pass
        return context

    @property
    def fields(self):
        return {HEADER}
