# SPDX-License-Identifier: MIT
"""A closed point must not change which spans are sampled.

OpenTelemetry's own samplers decide by the span above or by the id of the trace, which a closed point passes on: they need
not be asked for it. Others may drop a span by its name or its attributes, and all that is below it: without their answer
what is below would be recorded as soon as the span that they drop is closed."""
from opentelemetry.sdk.trace import sampling
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, get_current_span

_BY_TRACE = (sampling.StaticSampler, sampling.TraceIdRatioBased)
_BY_PARENT = (sampling.ParentBased, sampling.ParentBasedTraceIdRatio)
_ATTRIBUTES, _LINKS = 0, 1  # of the arguments after `kind`


def is_inherited(sampler):
    """Return whether the sampler decides by nothing that a closed point hides."""
    if type(sampler) in _BY_TRACE:
        return True
    if type(sampler) not in _BY_PARENT:
        return False
    others = [one for one in vars(sampler).values() if isinstance(one, sampling.Sampler)]
    return all(is_inherited(one) for one in others)


def _argument(rest, named, place, name, otherwise):
    return rest[place] if len(rest) > place else named.get(name, otherwise)


def ask_sampler(tracer, name, context, kind, rest, named):
    """Return the span that the SDK gives for one that the sampler drops; None if the sampler keeps it."""
    above = get_current_span(context).get_span_context()
    ids = tracer.id_generator
    trace_id = above.trace_id if above.is_valid else ids.generate_trace_id()
    result = tracer.sampler.should_sample(context, trace_id, name, kind, _argument(rest, named, _ATTRIBUTES, 'attributes', None),
                                          _argument(rest, named, _LINKS, 'links', ()))
    if result.decision.is_sampled():
        return None
    return NonRecordingSpan(SpanContext(trace_id, ids.generate_span_id(), False, TraceFlags(TraceFlags.DEFAULT), result.trace_state))
