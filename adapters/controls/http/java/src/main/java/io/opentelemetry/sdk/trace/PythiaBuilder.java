// SPDX-License-Identifier: MIT
package io.opentelemetry.sdk.trace;

import io.opentelemetry.api.trace.Span;

/** What SdkSpanBuilder becomes by being rewritten. */
public interface PythiaBuilder {
    /** Start a span as the SDK does. */
    Span pythia$start();
}
