# SPDX-License-Identifier: MIT
"""The switches in front of the SDK's class of tracers.

A pass through a closed point is on the path of every request, so `_decide` does as little as it can: what a name means is
looked up once a tracer, what a list means for it once a list."""
import os
import time

from opentelemetry import trace
from opentelemetry.context import attach, detach, get_value
from opentelemetry.trace import INVALID_SPAN, INVALID_SPAN_CONTEXT, NonRecordingSpan, SpanKind, set_span_in_context
from opentelemetry.trace.propagation import _SPAN_KEY

from .agent import Agent, Point
from .ids import point_id, sound
from .requests import Request, TypeHeader
from .sampling import ask_sampler, is_inherited

INTERNAL, SERVER, CONSUMER = SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CONSUMER
NAMES_MAX = 5000  # of one tracer and kind, before their identifiers are replaced
ALIASES_MAX = 1000  # names that spans of one switch were given later
SCOPES_MAX = 1000  # of a service; tracers of others are looked up one by one
SERVICES_MAX = 32  # of this process: each has a thread
SAMPLE, FIRST_SAMPLE = 32, 2  # of so many passes through an open point one is timed; the first are slower than others
MEASURED_PASSES, MEASURED_ROUNDS = 50, 3

_START = ('self', 'name', 'context', 'kind', 'attributes', 'links', 'start_time', 'record_exception', 'set_status_on_exception')
_CURRENT = _START + ('end_on_exit',)

_settings = None
_span_type = None  # of the SDK
_agents = {}  # by service
_header = TypeHeader()


class ClosedSpan(NonRecordingSpan):
    """Stands for the nearest open span above, whose context it has."""

    def __init__(self, context, request):
        self._context, self._pythia_request = context, request


class Switch:
    """Of the spans of one kind that begin with one name. Some are given another name later (an HTTP server may know its route
    only then): they arrive as other points, which have no other switch than this."""
    __slots__ = ('point', 'is_counted', 'aliases', 'passes', 'table', 'as_inner', 'as_entry', 'types')

    def __init__(self, point):
        self.point, self.is_counted = point or Point(''), point is not None
        self.aliases = {}  # point -> spans that became it
        self.passes, self.table = 0, None
        self.as_inner = self.as_entry = True
        self.types = None  # for which it is open; None: all

    def follow(self, table):
        """Is it open by this list?"""
        if not self.is_counted:
            self.as_inner, self.as_entry = False, table.default != 'none'
        elif self.aliases:
            ids = [self.point.id] + [alias.id for alias in list(self.aliases)]
            own = table.is_open(ids[0], False)  # nobody arrives under the name that it begins with
            self.as_inner = own or any(table.is_open(id_, False) for id_ in ids[1:])
            self.as_entry = own or any(table.is_open(id_, True) for id_ in ids[1:])
            self.types = self.find_types(table, ids)
        else:
            self.as_inner, self.as_entry = table.is_open(self.point.id, False), table.is_open(self.point.id, True)
            self.types = self.find_types(table, [self.point.id])
        self.table = table

    @staticmethod
    def find_types(table, ids):
        limited = [id_ for id_ in ids if id_ in table.open_for]
        if not limited or any(id_ in table.open for id_ in ids):
            return None
        return frozenset().union(*(table.open_for[id_] for id_ in limited))


class Known:
    """What is known of the tracers of a scope: the SDK may make a new one for each get_tracer()."""
    __slots__ = ('agent', 'scope', 'switches', 'by_id', 'asks_sampler')

    def __init__(self, agent, scope, asks_sampler):
        self.agent, self.scope, self.asks_sampler = agent, scope, asks_sampler
        self.switches = tuple({} for _ in SpanKind)  # by kind and name
        self.by_id = {}  # names that differ in nothing but an identifier share a switch

    def find_switch(self, name, kind):
        switches = self.switches[kind._value_]
        if len(switches) >= NAMES_MAX:
            switches.clear()
        id_ = point_id(self.agent.service, self.scope, name)
        switch = self.by_id.get((kind._value_, id_))
        if switch is None:
            switch = Switch(self.agent.point(id_))
            if switch.is_counted:
                self.by_id[kind._value_, id_] = switch
        switches[name] = switch
        return switch


class Pass:
    """A span of an open point: what it counts as."""
    __slots__ = ('switch', 'point', 'is_entry', 'request', 'known')

    def __init__(self, switch, is_entry, request, known):
        self.switch, self.point, self.is_entry, self.request, self.known = switch, switch.point, is_entry, request, known


def request_of(known, context, above):
    """The request that a span below `above` is of; it begins with the span if there is none."""
    if type(above) is ClosedSpan:
        return above._pythia_request
    passed = getattr(above, '_pythia_pass', None)
    if passed is not None and passed.request is not None:
        return passed.request
    return Request(known, _header.heard(context), not above.get_span_context().is_valid)


def _decide(tracer, name, context, kind, rest, named):
    """A ClosedSpan, a Pass, or None where the SDK does as it would without us. What get_current_span() and SpanContext would
    check again, for a span of the SDK's that is above, is not: a closed pass would take half as long again."""
    known = tracer._pythia_known or look_up(tracer)
    if known is None:
        return None
    table = known.agent.table
    switch = known.switches[kind._value_].get(name) or known.find_switch(name, kind)
    if switch.table is not table:
        switch.follow(table)
    above = get_value(_SPAN_KEY, context) or INVALID_SPAN
    above_type = type(above)
    if above_type is _span_type:
        above_context, is_entry = above._context, False
    elif above_type is ClosedSpan:
        # What is below a closed point is no entry point, even if no open span is above.
        above_context, is_entry = above._context, False
    else:
        above_context = above.get_span_context()
        is_entry = not above_context.is_valid or above_context.is_remote
    if kind is not INTERNAL and (kind is SERVER or kind is CONSUMER):
        is_entry = True
    request = None if table.type_key is None else request_of(known, context, above)
    if is_entry:
        is_open = switch.as_entry
    else:
        is_open = switch.as_inner and (switch.types is None or request is None or request.is_of(switch.types, table, context))
    if is_open or not switch.aliases:  # or else nobody knows as which it would have arrived
        switch.point.hits += 1
        if is_entry:
            switch.point.entries += 1
    if is_open:
        switch.passes += 1
        return Pass(switch, is_entry, request, known)
    if known.asks_sampler:
        dropped = ask_sampler(tracer, name, context, kind, rest, named)
        if dropped is not None:
            return dropped
    return ClosedSpan(above_context if above_context.is_valid else INVALID_SPAN_CONTEXT, request)


def _gate_start(start_span):
    """start_span() of the SDK behind the switches."""

    def start(self, name, context=None, kind=INTERNAL, *rest, **named):
        try:
            decided = _decide(self, name, context, kind, rest, named)
        except Exception:  # better a span too many than a program that fails
            decided = None
        if decided is None:
            return start_span(self, name, context, kind, *rest, **named)
        if type(decided) is Pass:
            return _open(decided, start_span, self, name, context, kind, rest, named)
        return decided
    start.__wrapped__ = start_span
    return start


def _open(passed, start_span, tracer, name, context, kind, rest, named):
    is_timed = passed.switch.passes % SAMPLE == FIRST_SAMPLE
    begin = time.thread_time_ns() if is_timed else 0
    span = start_span(tracer, name, context, kind, *rest, **named)
    try:
        span._pythia_pass = passed
        if passed.request is not None and passed.request.span is None:
            passed.request.span = span
        if is_timed:
            _time_end(span, time.thread_time_ns() - begin)
    except Exception:
        pass  # it runs as it would without us
    return span


def _time_end(span, cost_ns):
    """The price of a pass is the CPU time of its start and of its end, in the program's thread."""
    end = span.end

    def timed(*rest, **named):
        begin = time.thread_time_ns()
        end(*rest, **named)
        price_ns = cost_ns + time.thread_time_ns() - begin
        span.__dict__.pop('end', None)
        point = span._pythia_pass.point
        point.price_ns = price_ns if point.price_ns is None else point.price_ns + (price_ns - point.price_ns) / 8
    span.end = timed


class Current:
    """What start_as_current_span() gives: a context manager that is also a decorator of functions, as the SDK's is."""
    __slots__ = ('gate', 'tracer', 'name', 'context', 'kind', 'rest', 'named', 'token', 'inner')

    def __init__(self, gate, tracer, name, context, kind, rest, named):
        self.gate, self.tracer, self.name, self.context, self.kind, self.rest, self.named = (
            gate, tracer, name, context, kind, rest, named)

    def __enter__(self):
        try:
            decided = _decide(self.tracer, self.name, self.context, self.kind, self.rest, self.named)
        except Exception:
            decided = None
        if type(decided) is ClosedSpan:
            self.inner = None
            self.token = attach(set_span_in_context(decided))
            return decided
        self.inner = self.gate.open_current(self, decided)
        return self.inner.__enter__()

    def __exit__(self, *why):
        if self.inner is not None:
            return self.inner.__exit__(*why)
        detach(self.token)
        return None

    def __call__(self, function):
        return self.gate.start_as_current(self.tracer, self.name, self.context, self.kind, *self.rest, **self.named)(function)


class CurrentGate:
    """start_as_current_span() behind the switches, of one class of tracers."""

    def __init__(self, start_span, start_as_current):
        self.start_span, self.start_as_current = start_span, start_as_current

    def open_current(self, current, decided):
        """As the SDK does: a span is started, and used."""
        if decided is None:
            return self.start_as_current(current.tracer, current.name, current.context, current.kind, *current.rest, **current.named)
        named = dict(zip(_CURRENT_REST, current.rest), **current.named)
        use = {key: named[key] for key in ('record_exception', 'set_status_on_exception') if key in named}
        end_on_exit = named.pop('end_on_exit', True)
        if type(decided) is Pass:
            decided = _open(decided, self.start_span, current.tracer, current.name, current.context, current.kind, (), named)
        return trace.use_span(decided, end_on_exit=end_on_exit, **use)

    def method(self):
        def start_as_current(tracer, name, context=None, kind=INTERNAL, *rest, **named):
            return Current(self, tracer, name, context, kind, rest, named)
        start_as_current.__wrapped__ = self.start_as_current
        return start_as_current


_CURRENT_REST = ('attributes', 'links', 'start_time', 'record_exception', 'set_status_on_exception', 'end_on_exit')


# ---- spans that are renamed ----

def _gate_rename(update_name):
    def renamed(self, name):
        try:
            rename(self, name)
        except Exception:
            pass  # the name changes all the same
        return update_name(self, name)
    renamed.__wrapped__ = update_name
    return renamed


def rename(span, name):
    """A span arrives as another point than it began as: it counts there, and that point has the switch of its beginning."""
    passed = getattr(span, '_pythia_pass', None)
    if passed is None or not isinstance(name, str):
        return
    agent = passed.known.agent
    point = agent.point(point_id(agent.service, passed.known.scope, name))
    is_full = point not in passed.switch.aliases and len(passed.switch.aliases) >= ALIASES_MAX
    if point is None or point is passed.point or is_full:
        return
    _count(passed, -1)
    passed.point.left += 1
    passed.point = point
    _count(passed, 1)


def _count(passed, more):
    passed.point.hits += more
    if passed.is_entry:
        passed.point.entries += more
    if passed.point is passed.switch.point:
        return
    aliases = passed.switch.aliases
    before = aliases.get(passed.point, 0)
    if before + more > 0:
        aliases[passed.point] = before + more
    else:
        aliases.pop(passed.point, None)  # it was a name in between
    if before == 0 or before + more == 0:
        passed.switch.table = None


# ---- what is known of tracers ----

def look_up(tracer):
    """None: the service is not known, or one too many."""
    service = _settings.service or tracer.resource.attributes.get('service.name')
    if not isinstance(service, str) or not service:
        return None
    agent = agent_of(sound(service), tracer)
    if agent is None:
        return None
    scope = getattr(tracer, '_instrumentation_scope', None) or getattr(tracer, 'instrumentation_info', None)
    key = (sound(scope.name if scope and scope.name else ''), not is_inherited(tracer.sampler))
    known = agent.scopes.get(key) or Known(agent, *key)
    if len(agent.scopes) < SCOPES_MAX:
        known = agent.scopes.setdefault(key, known)
    tracer._pythia_known = known
    return known


def _gate_init(init):
    """Ask what is open from the first tracer on, not from its first span on."""

    def look_up_at_once(self, *rest, **named):
        init(self, *rest, **named)
        try:
            look_up(self)
        except Exception:
            pass  # its first span tries again
    look_up_at_once.__wrapped__ = init
    return look_up_at_once


def agent_of(service, tracer):
    agent = _agents.get(service)
    if agent is None and len(_agents) < SERVICES_MAX:
        agent = Agent(service, _settings, lambda: measure_closed(agent, type(tracer)))
        agent.on_types = _header.install
        agent = _agents.setdefault(service, agent)
    return agent


def measure_closed(agent, tracer_class):
    """Nanoseconds of CPU time that a span of a closed point takes, by the code that programs run; its point is nobody's."""
    tracer = object.__new__(tracer_class)
    tracer._pythia_known = Known(agent, '', False)
    switch = tracer._pythia_known.switches[INTERNAL._value_]['closed'] = Switch(None)
    context = set_span_in_context(ClosedSpan(INVALID_SPAN_CONTEXT, None), None)
    best = None
    for _ in range(MEASURED_ROUNDS):
        begin = time.thread_time_ns()
        for _ in range(MEASURED_PASSES):
            tracer.start_span('closed', context).end()
        took = (time.thread_time_ns() - begin) / MEASURED_PASSES
        best = took if best is None else min(best, took)
    return best if switch.passes == 0 else None


def _begin_in_child():
    for agent in list(_agents.values()):
        agent.begin()


# ---- the SDK ----

def _parameters(function):
    function = getattr(function, '__wrapped__', function)
    return function.__code__.co_varnames[:function.__code__.co_argcount]


def _check_shape(module):
    """Raises AttributeError if the SDK is none that this file knows."""
    if _parameters(module.Tracer.start_span)[:len(_START)] != _START:
        raise AttributeError('Tracer.start_span has other parameters')
    if not {'update_name', 'end'} <= set(vars(module.Span)):
        raise AttributeError('Span has no update_name or no end')


def patch(module, settings):
    """Put the switches in front of the classes of opentelemetry.sdk.trace, so that tracers that exist have them too. Raises
    AttributeError for an SDK of another shape, which stays as it is."""
    global _settings, _span_type
    _check_shape(module)
    tracers = module.Tracer
    if hasattr(tracers, '_pythia_known'):
        return
    _settings, _span_type = settings, getattr(module, '_Span', None)
    start_span, start_as_current = tracers.start_span, tracers.start_as_current_span
    tracers._pythia_known = None
    module.Span.update_name = _gate_rename(module.Span.update_name)
    tracers.__init__ = _gate_init(tracers.__init__)
    tracers.start_span = _gate_start(start_span)
    if set(_parameters(start_as_current)) == set(_CURRENT):
        tracers.start_as_current_span = CurrentGate(start_span, start_as_current).method()
    os.register_at_fork(after_in_child=_begin_in_child)
