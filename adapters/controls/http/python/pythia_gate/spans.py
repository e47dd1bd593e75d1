# SPDX-License-Identifier: MIT
"""The switches in front of the SDK's class of tracers.

Every request hits closed points, so `_decide` does as little as it can: it looks up what a name means once per scope, and
what a list means for that name once per list."""
import os
import time
from os import getpid

from opentelemetry import trace
from opentelemetry.context import attach, detach, get_value
from opentelemetry.trace import INVALID_SPAN, INVALID_SPAN_CONTEXT, NonRecordingSpan, SpanKind, set_span_in_context
from opentelemetry.trace.propagation import _SPAN_KEY

from .agent import Agent, Point
from .ids import point_id, sound
from .requests import Request, TypeHeader
from .resources import follow_process, host_of, name_resource
from .sampling import ask_sampler, is_inherited

INTERNAL, SERVER, CONSUMER = SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CONSUMER
NAMES_MAX = 5000  # of one tracer and kind, before their identifiers are replaced
ALIASES_MAX = 1000  # names that spans of one switch were given later
SCOPES_MAX = 1000  # of a service; tracers of others are looked up one by one
SERVICES_MAX = 32  # of this process: each has a thread
SAMPLE, FIRST_SAMPLE = 32, 2  # one in SAMPLE hits of an open point is timed, but not the first, which is slower than others
MEASURED_HITS, MEASURED_ROUNDS = 50, 3

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
    """The switch of all spans of one kind that start with one name. Some are renamed later, because an HTTP server knows its
    route only then: they arrive as other points, which have no other switch than this one."""
    __slots__ = ('known', 'point', 'is_counted', 'aliases', 'open_hits', 'table', 'as_inner', 'as_entry', 'types', 'inner_hit', 'entry_hit')

    def __init__(self, known, point):
        self.known, self.point, self.is_counted = known, point or Point(''), point is not None
        self.aliases = {}  # point -> spans that became it
        self.open_hits, self.table = 0, None
        self.as_inner = self.as_entry = True
        self.types = None  # for which it is open; None: all
        self.inner_hit, self.entry_hit = Hit(self, False, None), Hit(self, True, None)

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
    """Everything that the tracers of one scope share: the SDK may make a new tracer for each get_tracer()."""
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
            switch = Switch(self, self.agent.point(id_))
            if switch.is_counted:
                self.by_id[kind._value_, id_] = switch
        switches[name] = switch
        return switch


class Hit:
    """A hit of an open point: it belongs to the span that was made, and names the point as which the span counts. Spans that
    have the name with which they started, and whose request nobody asks for, share those of their switch."""
    __slots__ = ('switch', 'point', 'is_entry', 'request')

    def __init__(self, switch, is_entry, request):
        self.switch, self.point, self.is_entry, self.request = switch, switch.point, is_entry, request


def request_of(known, context, above):
    """The request that a span below `above` is of; it begins with the span if there is none."""
    if type(above) is ClosedSpan:
        return above._pythia_request
    hit = getattr(above, '_pythia_hit', None)
    if hit is not None and hit.request is not None:
        return hit.request
    return Request(known, _header.heard(context), not above.get_span_context().is_valid)


def _decide(tracer, name, context, kind, rest, named):
    """Return a ClosedSpan, a Hit, or None where the SDK does as it would without us. For a span of the SDK above, this
    function repeats none of the checks of get_current_span() and SpanContext: with them a closed span takes 1.3 us instead of
    .7 (command "cost" of tests/agents/program.py)."""
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
        # A span below a closed point is no entry point, even if no open span is above.
        above_context, is_entry = above._context, False
    else:
        above_context = above.get_span_context()
        is_entry = not above_context.is_valid or above_context.is_remote
    if kind is not INTERNAL and (kind is SERVER or kind is CONSUMER):
        is_entry = True
    if is_entry and known.agent.pid != getpid():
        known.agent.follow_process()
    request = None if table.type_key is None else request_of(known, context, above)
    if is_entry:
        is_open = switch.as_entry
    else:
        is_open = switch.as_inner and (switch.types is None or request is None or request.is_of(switch.types, table, context))
    if is_open or not switch.aliases:  # a closed span with aliases would have arrived as one of them
        switch.point.hits += 1
        if is_entry:
            switch.point.entries += 1
    if is_open:
        switch.open_hits += 1
        if request is not None:
            return Hit(switch, is_entry, request)
        return switch.entry_hit if is_entry else switch.inner_hit
    if known.asks_sampler:
        dropped = ask_sampler(tracer, name, context, kind, rest, named)
        if dropped is not None:
            return dropped
    return ClosedSpan(above_context if above_context.is_valid else INVALID_SPAN_CONTEXT, request)


def _gate_start(start_span):
    """Wrap start_span() of the SDK."""

    def start(self, name, context=None, kind=INTERNAL, *rest, **named):
        try:
            decided = _decide(self, name, context, kind, rest, named)
        except Exception:  # better a span too many than a program that fails
            decided = None
        if type(decided) is Hit:
            return _open(decided, start_span, self, name, context, kind, rest, named)
        if decided is None:
            return start_span(self, name, context, kind, *rest, **named)
        return decided
    start.__wrapped__ = start_span
    return start


def _open(hit, start_span, tracer, name, context, kind, rest, named):
    is_timed = hit.switch.open_hits % SAMPLE == FIRST_SAMPLE
    begin = time.thread_time_ns() if is_timed else 0
    span = start_span(tracer, name, context, kind, *rest, **named)
    try:
        span._pythia_hit = hit
        request = hit.request
        if request is not None and request.span is None:
            request.span = span
        if is_timed:
            _time_end(span, time.thread_time_ns() - begin)
    except Exception:
        pass  # it runs as it would without us
    return span


def _time_end(span, cost_ns):
    """Measure the price of a hit: the CPU time of the start and of the end of its span, in the program's thread."""
    end = span.end

    def timed(*rest, **named):
        begin = time.thread_time_ns()
        end(*rest, **named)
        price_ns = cost_ns + time.thread_time_ns() - begin
        span.__dict__.pop('end', None)
        point = span._pythia_hit.point
        point.price_ns = price_ns if point.price_ns is None else point.price_ns + (price_ns - point.price_ns) / 8
    span.end = timed


class Current:
    """The result of start_as_current_span(): a context manager that is also a decorator of functions, as the SDK's is."""
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
    """Wraps start_as_current_span() of one class of tracers."""

    def __init__(self, start_span, start_as_current):
        self.start_span, self.start_as_current = start_span, start_as_current

    def open_current(self, current, decided):
        """Start a span and use it, which is all that the SDK does."""
        if decided is None:
            return self.start_as_current(current.tracer, current.name, current.context, current.kind, *current.rest, **current.named)
        named = current.named
        if type(decided) is Hit and not current.rest and named.keys().isdisjoint(_CURRENT_REST[3:]):
            span = _open(decided, self.start_span, current.tracer, current.name, current.context, current.kind, (), named)
            return trace.use_span(span, end_on_exit=True)
        named = dict(zip(_CURRENT_REST, current.rest), **named)
        use = {key: named[key] for key in ('record_exception', 'set_status_on_exception') if key in named}
        end_on_exit = named.pop('end_on_exit', True)
        if type(decided) is Hit:
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
    """Count a span as the point of its new name; the switch stays that of the name with which it started."""
    hit = getattr(span, '_pythia_hit', None)
    if hit is None or not isinstance(name, str):
        return
    known = hit.switch.known
    agent = known.agent
    point = agent.point(point_id(agent.service, known.scope, name))
    is_full = point not in hit.switch.aliases and len(hit.switch.aliases) >= ALIASES_MAX
    if point is None or point is hit.point or is_full:
        return
    if hit is hit.switch.inner_hit or hit is hit.switch.entry_hit:
        hit = span._pythia_hit = Hit(hit.switch, hit.is_entry, None)
    _count(hit, -1)
    hit.point.left += 1
    hit.point = point
    _count(hit, 1)


def _count(hit, more):
    hit.point.hits += more
    if hit.is_entry:
        hit.point.entries += more
    if hit.point is hit.switch.point:
        return
    aliases = hit.switch.aliases
    before = aliases.get(hit.point, 0)
    if before + more > 0:
        aliases[hit.point] = before + more
    else:
        aliases.pop(hit.point, None)  # no span has kept this name until its end
    if before == 0 or before + more == 0:
        hit.switch.table = None


# ---- what is known of tracers ----

def look_up(tracer):
    """Find what is known of a tracer's scope. None: its service has no name, or there are too many services."""
    service = _settings.service or tracer.resource.attributes.get('service.name')
    if not isinstance(service, str) or not service:
        return None
    tracer.resource = name_resource(tracer.resource)
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
    """Wrap the constructor of tracers: the agent asks from the first tracer on, not only from its first span on."""

    def look_up_at_once(self, *rest, **named):
        init(self, *rest, **named)
        try:
            look_up(self)
        except Exception:
            pass  # its first span tries again
    look_up_at_once.__wrapped__ = init
    return look_up_at_once


def _gate_set_resource(set_resource):
    """Wrap the method by which a provider gives its tracers the resource of a process that was forked."""

    def set_named(self, resource):
        set_resource(self, resource)
        try:
            self.resource = name_resource(resource)
        except Exception:
            pass  # its spans say what the program says
    set_named.__wrapped__ = set_resource
    return set_named


def agent_of(service, tracer):
    agent = _agents.get(service)
    if agent is None and len(_agents) < SERVICES_MAX:
        agent = Agent(service, host_of(tracer.resource), _settings, lambda: measure_closed(agent, type(tracer)))
        agent.on_types, agent.on_process = _header.install, follow_process
        agent = _agents.setdefault(service, agent)
    return agent


def measure_closed(agent, tracer_class):
    """Measure the CPU time in ns of a closed hit, by the code that programs run, with a point that is never reported."""
    tracer = object.__new__(tracer_class)
    known = tracer._pythia_known = Known(agent, '', False)
    switch = known.switches[INTERNAL._value_]['closed'] = Switch(known, None)
    context = set_span_in_context(ClosedSpan(INVALID_SPAN_CONTEXT, None), None)
    best = None
    for _ in range(MEASURED_ROUNDS):
        begin = time.thread_time_ns()
        for _ in range(MEASURED_HITS):
            tracer.start_span('closed', context).end()
        took = (time.thread_time_ns() - begin) / MEASURED_HITS
        best = took if best is None else min(best, took)
    return best if switch.open_hits == 0 else None


def _begin_in_child():
    for agent in list(_agents.values()):
        agent.begin()


# ---- the SDK ----

def _parameters(function):
    function = getattr(function, '__wrapped__', function)
    return function.__code__.co_varnames[:function.__code__.co_argcount]


def _check_shape(module):
    """Raise AttributeError if this file does not know the SDK."""
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
    if hasattr(tracers, '_set_resource'):
        tracers._set_resource = _gate_set_resource(tracers._set_resource)
    tracers.start_span = _gate_start(start_span)
    if set(_parameters(start_as_current)) == set(_CURRENT):
        tracers.start_as_current_span = CurrentGate(start_span, start_as_current).method()
    os.register_at_fork(after_in_child=_begin_in_child)
