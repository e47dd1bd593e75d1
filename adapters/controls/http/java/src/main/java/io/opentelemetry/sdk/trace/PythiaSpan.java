// SPDX-License-Identifier: MIT
package io.opentelemetry.sdk.trace;

/** What SdkSpan becomes by being rewritten. */
public interface PythiaSpan {
    /** Return the hit that the span is of; null: it was started without a switch. */
    Object pythia$hit();

    void pythia$setHit(Object hit);

    /** End the span as the SDK does. */
    void pythia$end(long epochNanos);
}
