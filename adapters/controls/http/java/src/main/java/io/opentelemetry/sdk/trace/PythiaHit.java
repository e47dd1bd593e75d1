// SPDX-License-Identifier: MIT
package io.opentelemetry.sdk.trace;

import pythia.gate.agent.Point;
import pythia.gate.agent.Switch;

/**
 * A hit of an open point: it belongs to the span that was made, and names the point as which the
 * span counts. Hits of which nothing has to be noted are shared by many spans.
 */
final class PythiaHit {
    static final long TO_BE_TIMED = -1;

    final PythiaScope.Gate gate;
    final Point point;
    final boolean isEntry;
    final PythiaRequest request; // null: nobody asks for types
    long startNs; // what starting the span cost; TO_BE_TIMED before; 0: the hit is not timed

    PythiaHit(PythiaScope.Gate gate, Point point, boolean isEntry, PythiaRequest request) {
        this.gate = gate;
        this.point = point;
        this.isEntry = isEntry;
        this.request = request;
    }

    /** Return the same hit, of another point. */
    PythiaHit renamed(Point to) {
        PythiaHit other = new PythiaHit(gate, to, isEntry, request);
        other.startNs = startNs;
        return other;
    }

    Switch toggle() {
        return gate.toggle;
    }
}
