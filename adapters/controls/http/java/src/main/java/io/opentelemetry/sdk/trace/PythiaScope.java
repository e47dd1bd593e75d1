// SPDX-License-Identifier: MIT
package io.opentelemetry.sdk.trace;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import pythia.gate.agent.Agent;
import pythia.gate.agent.Ids;
import pythia.gate.agent.Point;
import pythia.gate.agent.Switch;

/** The switches of one scope of one SDK, by kind and name of spans. */
final class PythiaScope {
    private static final int NAMES_MAX = 5000; // of one kind, before their identifiers are replaced
    private static final SpanKind[] KINDS = SpanKind.values();

    /** A switch, and the hits of it that many spans share. */
    static final class Gate {
        final PythiaScope scope;
        final TracerSharedState state;
        final InstrumentationScopeInfo info;
        final SpanKind kind;
        final boolean isServed; // entry points, whatever is above them
        final Switch toggle;
        final PythiaHit asInner, asEntry;

        Gate(PythiaScope scope, TracerSharedState state, InstrumentationScopeInfo info, SpanKind kind,
            Switch toggle) {
            this.scope = scope;
            this.state = state;
            this.info = info;
            this.kind = kind;
            this.toggle = toggle;
            isServed = kind == SpanKind.SERVER || kind == SpanKind.CONSUMER;
            asInner = new PythiaHit(this, toggle.point, false, null);
            asEntry = new PythiaHit(this, toggle.point, true, null);
        }
    }

    final Agent agent;
    final String name;
    final boolean asksSampler; // for closed points too
    private final AtomicReferenceArray<ConcurrentHashMap<String, Gate>> gates =
        new AtomicReferenceArray<>(KINDS.length);
    // Names that differ in nothing but an identifier share a gate.
    private final ConcurrentHashMap<String, Gate> byId = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Point> renamed = new ConcurrentHashMap<>();

    PythiaScope(Agent agent, String name, boolean asksSampler) {
        this.agent = agent;
        this.name = name;
        this.asksSampler = asksSampler;
        for (int i = 0; i < KINDS.length; i++) {
            gates.set(i, new ConcurrentHashMap<>());
        }
    }

    Gate find(TracerSharedState state, InstrumentationScopeInfo info, String spanName, SpanKind kind) {
        Gate gate = gates.get(kind.ordinal()).get(spanName);
        return gate == null ? add(state, info, spanName, kind) : gate;
    }

    private Gate add(TracerSharedState state, InstrumentationScopeInfo info, String spanName,
        SpanKind kind) {
        ConcurrentHashMap<String, Gate> names = gates.get(kind.ordinal());
        if (names.size() >= NAMES_MAX) {
            names = new ConcurrentHashMap<>();
            gates.set(kind.ordinal(), names);
        }
        String id = Ids.pointId(agent.service, name, spanName);
        String key = kind.ordinal() + id;
        Gate gate = byId.get(key);
        if (gate == null) {
            gate = new Gate(this, state, info, kind, agent.newSwitch(id));
            if (gate.toggle.isCounted) { // of which there are not too many
                Gate other = byId.putIfAbsent(key, gate);
                gate = other == null ? gate : other;
            }
        }
        names.put(spanName, gate);
        return gate;
    }

    /** Return a gate that is closed whatever is in force, and counted nowhere. */
    Gate newClosedGate() {
        return new Gate(this, null, null, SpanKind.INTERNAL, agent.newSwitch(null));
    }

    /** Return the point of a name that a span is given later; null: there is no capacity for it. */
    Point renamedPoint(String spanName) {
        Point point = renamed.get(spanName);
        if (point == null) {
            point = agent.point(Ids.pointId(agent.service, name, spanName));
            if (point != null) {
                if (renamed.size() >= NAMES_MAX) {
                    renamed.clear();
                }
                renamed.put(spanName, point);
            }
        }
        return point;
    }
}
