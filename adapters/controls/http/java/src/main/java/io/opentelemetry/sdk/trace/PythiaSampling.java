// SPDX-License-Identifier: MIT
package io.opentelemetry.sdk.trace;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A closed point must not change which spans are sampled.
 *
 * OpenTelemetry's own samplers decide by the span above or by the id of the trace, which a closed
 * point passes on: they need not be asked for it. Others may drop a span by its name or its
 * attributes, and all that is below it: without their answer what is below would be recorded as soon
 * as the span that they drop is closed.
 */
final class PythiaSampling {
    private static final String FOLDER = "io.opentelemetry.sdk.trace.samplers.";
    private static final Set<String> BY_TRACE = new HashSet<>(Arrays.asList(FOLDER + "AlwaysOnSampler",
        FOLDER + "AlwaysOffSampler", FOLDER + "TraceIdRatioBasedSampler"));
    private static final String BY_PARENT = FOLDER + "ParentBasedSampler";

    private PythiaSampling() {}

    /** Does the sampler decide by nothing that a closed point hides? */
    static boolean isInherited(Sampler sampler) {
        Class<?> type = sampler.getClass();
        if (sampler instanceof Enum) {
            type = ((Enum<?>) sampler).getDeclaringClass();
        }
        if (BY_TRACE.contains(type.getName())) {
            return true;
        }
        if (!BY_PARENT.equals(type.getName())) {
            return false;
        }
        try {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) || !Sampler.class.isAssignableFrom(field.getType())) {
                    continue;
                }
                field.setAccessible(true);
                if (!isInherited((Sampler) field.get(sampler))) {
                    return false;
                }
            }
            return true;
        } catch (IllegalAccessException | RuntimeException why) {
            return false;
        }
    }

    /** Return the span that the SDK gives for one that the sampler drops; null: it keeps it. */
    static Span askSampler(TracerSharedState state, SpanContext above, Context parent, String name,
        SpanKind kind, Attributes attributes, List<LinkData> links) {
        IdGenerator ids = state.getIdGenerator();
        String traceId = above.isValid() ? above.getTraceId() : ids.generateTraceId();
        SamplingResult result = state.getSampler().shouldSample(parent, traceId, name, kind,
            attributes == null ? Attributes.empty() : attributes,
            links == null ? Collections.emptyList() : Collections.unmodifiableList(links));
        if (result.getDecision() != SamplingDecision.DROP) {
            return null;
        }
        return Span.wrap(SpanContext.create(traceId, ids.generateSpanId(), TraceFlags.getDefault(),
            result.getUpdatedTraceState(above.getTraceState())));
    }
}
