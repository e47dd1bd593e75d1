// SPDX-License-Identifier: MIT
package io.opentelemetry.sdk.trace;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import java.util.concurrent.TimeUnit;

/** Stands for the nearest open span above, whose context it has; it takes nothing in. */
final class PythiaClosedSpan implements Span {
    private final Span above; // as the SDK made it
    final PythiaRequest request; // null: nobody asks for types

    PythiaClosedSpan(Span above, PythiaRequest request) {
        this.above = above instanceof PythiaClosedSpan ? ((PythiaClosedSpan) above).above : above;
        this.request = request;
    }

    @Override
    public SpanContext getSpanContext() {
        return above.getSpanContext();
    }

    @Override
    public boolean isRecording() {
        return false;
    }

    @Override
    public <T> Span setAttribute(AttributeKey<T> key, T value) {
        return this;
    }

    @Override
    public Span addEvent(String name, Attributes attributes) {
        return this;
    }

    @Override
    public Span addEvent(String name, Attributes attributes, long timestamp, TimeUnit unit) {
        return this;
    }

    @Override
    public Span setStatus(StatusCode code, String description) {
        return this;
    }

    @Override
    public Span recordException(Throwable exception, Attributes attributes) {
        return this;
    }

    @Override
    public Span updateName(String name) {
        return this;
    }

    @Override
    public void end() {}

    @Override
    public void end(long timestamp, TimeUnit unit) {}

    @Override
    public String toString() {
        return "PythiaClosedSpan{" + getSpanContext() + "}";
    }
}
