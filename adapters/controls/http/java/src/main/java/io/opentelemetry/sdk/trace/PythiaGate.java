// SPDX-License-Identifier: MIT
package io.opentelemetry.sdk.trace;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.LinkData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import pythia.gate.agent.Agent;
import pythia.gate.agent.Complaint;
import pythia.gate.agent.Ids;
import pythia.gate.agent.Place;
import pythia.gate.agent.Point;
import pythia.gate.agent.Settings;
import pythia.gate.agent.Switch;
import pythia.gate.agent.Table;

/**
 * The switches in front of the SDK's spans; the rewritten classes of the SDK call it.
 *
 * This package's classes are defined by the class loader that has the SDK, beside the SDK's own, so
 * that they fit whatever copy of the SDK a program has: its own, or the one of OpenTelemetry's agent.
 * Whatever goes wrong here, the span is started as without a switch.
 */
public final class PythiaGate {
    private static final int SAMPLE = 64; // one hit in so many of an open point is timed
    private static final int SCOPES_MAX = 1000; // of one SDK
    private static final int SERVICES_MAX = 32; // of this copy of the SDK: each has two threads
    private static final int RECENT_MAX = 5000; // names
    private static final int MEASURED_HITS = 500, MEASURED_ROUNDS = 4;
    private static final int RESOURCES_MAX = 32; // of SDKs
    private static final AttributeKey<String> SERVICE = AttributeKey.stringKey("service.name");
    private static final AttributeKey<String> HOST = AttributeKey.stringKey("host.name");
    private static final AttributeKey<Long> PID = AttributeKey.longKey("process.pid");

    /** What is known of one tracer provider. */
    private static final class Sdk implements Agent.Program {
        final ConcurrentHashMap<String, PythiaScope> scopes = new ConcurrentHashMap<>();
        Agent agent; // null: its service has no name, or there are too many services
        List<TracerSharedState> states; // all that share the agent; guarded by AGENTS

        @Override
        public boolean isRunning() {
            synchronized (AGENTS) {
                for (TracerSharedState state : states) {
                    if (!state.hasBeenShutdown()) {
                        return true;
                    }
                }
                AGENTS.remove(agent.service);
                SDKS.keySet().removeAll(states);
                RECENT.clear();
                return false;
            }
        }

        @Override
        public double measureClosedNs() {
            return measureClosed(agent);
        }

        @Override
        public void onEnd() {}
    }

    private static final ConcurrentHashMap<TracerSharedState, Sdk> SDKS = new ConcurrentHashMap<>();
    private static final Map<String, Sdk> AGENTS = new HashMap<>(); // the first of each service
    /** Gates by names of spans: one look-up in place of three, unless spans of two gates share a name. */
    private static final ConcurrentHashMap<String, PythiaScope.Gate> RECENT = new ConcurrentHashMap<>();
    private static volatile boolean isBroken;
    private static Settings settings;

    static {
        try {
            settings = Settings.read();
            if (!PythiaSpan.class.isAssignableFrom(SdkSpan.class)) {
                throw new IllegalStateException("this SDK of OpenTelemetry has an unknown shape");
            }
        } catch (Throwable why) {
            breakOff(why);
        }
    }

    private PythiaGate() {}

    private static void breakOff(Throwable why) {
        isBroken = true;
        Complaint.write(why);
    }

    // ---- called by SdkTracer ----

    /** A tracer was made: its service is asked for from now on, and not only from its first span. */
    public static void begin(TracerSharedState state) {
        try {
            if (!isBroken && SDKS.get(state) == null) {
                addSdk(state);
            }
        } catch (Throwable why) {
            breakOff(why);
        }
    }

    // ---- called by SdkSpanBuilder ----

    /** Start the span of a builder, or return one that stands for the nearest open span above. */
    public static Span start(PythiaBuilder builder, String name, InstrumentationScopeInfo info,
        TracerSharedState state, Context parent, SpanKind kind, Attributes attributes,
        List<LinkData> links) {
        if (isBroken) {
            return builder.pythia$start();
        }
        Object decided = null;
        try {
            PythiaScope.Gate gate = RECENT.get(name);
            if (gate == null || gate.state != state || gate.info != info || gate.kind != kind) {
                gate = findGate(state, info, name, kind);
            }
            if (gate != null) {
                Context context = parent == null ? Context.current() : parent;
                decided = decide(gate, context);
                if (gate.scope.asksSampler && decided instanceof PythiaClosedSpan) {
                    Span dropped = PythiaSampling.askSampler(state, ((PythiaClosedSpan) decided).getSpanContext(),
                        context, name, kind, attributes, links);
                    decided = dropped == null ? decided : dropped;
                }
            }
        } catch (Throwable why) {
            breakOff(why);
            decided = null;
        }
        if (decided instanceof PythiaHit) {
            return open((PythiaHit) decided, builder);
        }
        if (decided instanceof PythiaClosedSpan) {
            return (PythiaClosedSpan) decided;
        }
        return decided == null ? builder.pythia$start() : (Span) decided;
    }

    /** Return a PythiaHit if the span's point is open, and else a PythiaClosedSpan. */
    private static Object decide(PythiaScope.Gate gate, Context context) {
        Table table = gate.scope.agent.table();
        Switch toggle = gate.toggle;
        Switch.Decision decision = toggle.decide(table);
        Span above = Span.fromContext(context);
        boolean isEntry = gate.isServed || isEntryBelow(above);
        PythiaRequest request = table.typeKey == null ? null : requestBelow(gate.scope, context, above);
        boolean isOpen = isEntry ? decision.asEntry
            : decision.asInner
                && (decision.types == null || request == null || request.mayBe(decision.types, table));
        if (isOpen || !decision.isAliased) { // else it would have arrived as one of the aliases
            toggle.point.hits.increment();
            if (isEntry) {
                toggle.point.entries.increment();
            }
        }
        if (!isOpen) {
            return new PythiaClosedSpan(above, request);
        }
        // The first hit is slower than others, and is not timed.
        boolean isTimed = ++toggle.hits % SAMPLE == 2;
        if (request == null && !isTimed) {
            return isEntry ? gate.asEntry : gate.asInner;
        }
        PythiaHit hit = new PythiaHit(gate, toggle.point, isEntry, request);
        hit.startNs = isTimed ? PythiaHit.TO_BE_TIMED : 0;
        return hit;
    }

    /**
     * Is a span that is started below another an entry point? One below a closed point is none, even if
     * no open span is above. The checks are by classes and not by interfaces, which the JVM finds in a
     * list: an open span would cost 10 ns more.
     */
    private static boolean isEntryBelow(Span above) {
        if (above instanceof SdkSpan || above instanceof PythiaClosedSpan) {
            return false;
        }
        SpanContext context = above.getSpanContext();
        return !context.isValid() || context.isRemote();
    }

    private static Span open(PythiaHit hit, PythiaBuilder builder) {
        boolean isTimed = hit.startNs == PythiaHit.TO_BE_TIMED;
        long begin = isTimed ? System.nanoTime() : 0;
        Span span = builder.pythia$start();
        if (span instanceof SdkSpan) { // else it is not recorded
            rewritten((SdkSpan) span).pythia$setHit(hit);
            if (hit.request != null) {
                hit.request.note((SdkSpan) span);
            }
            if (isTimed) {
                hit.startNs = System.nanoTime() - begin;
            }
        }
        return span;
    }

    // ---- called by SdkSpan ----

    /** Resources of programs, each followed by the one that its spans have instead. */
    private static volatile Resource[] resources = {};

    /**
     * Return a resource that also names the host and the process, because pythiad knows the instance of
     * an agent by that. What the program's resource says itself stays. The same one is returned each
     * time, because exporters group spans by it.
     */
    public static Resource named(Resource program) {
        Resource[] known = resources;
        for (int i = 0; i < known.length; i += 2) {
            if (known[i] == program) {
                return known[i + 1];
            }
        }
        boolean isKnown = Place.HOST != null && Place.PID != 0;
        return isBroken || !isKnown || program == null ? program : addNamed(program);
    }

    private static synchronized Resource addNamed(Resource program) {
        Resource[] known = resources.length < 2 * RESOURCES_MAX ? resources : new Resource[0];
        Resource[] next = Arrays.copyOf(known, known.length + 2);
        next[known.length] = program;
        try {
            next[known.length + 1] = Resource.create(Attributes.of(HOST, Place.HOST, PID, Place.PID))
                .merge(program);
        } catch (Throwable why) {
            next[known.length + 1] = program;
        }
        resources = next;
        return next[known.length + 1];
    }

    /** The compiler does not know what the class becomes by being rewritten. */
    static PythiaSpan rewritten(SdkSpan span) {
        return (PythiaSpan) (Object) span;
    }

    /** End a span, and add what it cost to the price of its point if it is timed. */
    public static void end(SdkSpan sdkSpan, long epochNanos) {
        PythiaSpan span = rewritten(sdkSpan);
        PythiaHit hit = (PythiaHit) span.pythia$hit();
        if (hit == null || hit.startNs <= 0) {
            span.pythia$end(epochNanos);
            return;
        }
        long begin = System.nanoTime(), startNs = hit.startNs;
        hit.startNs = 0; // a span may be ended twice
        span.pythia$end(epochNanos);
        hit.point.addPrice(startNs + System.nanoTime() - begin);
    }

    /** Count a span as the point of its new name; the switch stays that of the first one. */
    public static void rename(SdkSpan span, String name) {
        PythiaHit hit = (PythiaHit) rewritten(span).pythia$hit();
        if (hit == null || name == null || isBroken) {
            return;
        }
        try {
            Point point = hit.gate.scope.renamedPoint(name);
            if (point == null || point == hit.point || !hit.toggle().canBecome(point)
                || !span.isRecording()) {
                return;
            }
            hit.toggle().count(hit.point, -1, hit.isEntry);
            hit.point.left.increment();
            rewritten(span).pythia$setHit(hit.renamed(point));
            hit.toggle().count(point, 1, hit.isEntry);
        } catch (Throwable why) {
            breakOff(why);
        }
    }

    // ---- called by OpenTelemetrySdk ----

    private static volatile ContextPropagators[] lastPropagators = {null, null};

    /** Return propagators that send the types of requests too. */
    public static ContextPropagators propagators(ContextPropagators program) {
        if (isBroken || program == null || program instanceof PythiaTypes) {
            return program;
        }
        ContextPropagators[] last = lastPropagators;
        if (last[0] != program) {
            last = new ContextPropagators[] {program, new PythiaTypes(program.getTextMapPropagator())};
            lastPropagators = last;
        }
        return last[1];
    }

    // ---- requests ----

    /** Return the request that a span is of; null: nobody asked for types when it was started. */
    static PythiaRequest requestOf(Span span) {
        if (span instanceof PythiaClosedSpan) {
            return ((PythiaClosedSpan) span).request;
        }
        if (!(span instanceof SdkSpan)) {
            return null;
        }
        Object hit = rewritten((SdkSpan) span).pythia$hit();
        return hit == null ? null : ((PythiaHit) hit).request;
    }

    private static PythiaRequest requestBelow(PythiaScope scope, Context context, Span above) {
        PythiaRequest request = requestOf(above);
        if (request == null) {
            request = new PythiaRequest(scope, PythiaTypes.received(context),
                !above.getSpanContext().isValid());
        }
        return request;
    }

    // ---- what is known of SDKs ----

    /** Return the gate of a span; null: its service has no name, or there are too many services. */
    private static PythiaScope.Gate findGate(TracerSharedState state, InstrumentationScopeInfo info,
        String name, SpanKind kind) {
        Sdk sdk = SDKS.get(state);
        PythiaScope scope = sdk == null ? null : sdk.scopes.get(info.getName());
        if (scope == null) {
            scope = lookUp(state, info.getName());
        }
        if (scope == null) {
            return null;
        }
        PythiaScope.Gate gate = scope.find(state, info, name, kind);
        if (RECENT.size() >= RECENT_MAX) {
            RECENT.clear();
        }
        RECENT.putIfAbsent(name, gate);
        return gate;
    }

    private static PythiaScope lookUp(TracerSharedState state, String name) {
        Sdk sdk = SDKS.get(state);
        if (sdk == null) {
            sdk = addSdk(state);
        }
        if (sdk.agent == null) {
            return null;
        }
        PythiaScope scope = new PythiaScope(sdk.agent, Ids.sound(name == null ? "" : name),
            !PythiaSampling.isInherited(state.getSampler()));
        if (sdk.scopes.size() >= SCOPES_MAX) {
            return scope;
        }
        PythiaScope other = sdk.scopes.putIfAbsent(name, scope);
        return other == null ? scope : other;
    }

    private static Sdk addSdk(TracerSharedState state) {
        synchronized (AGENTS) {
            Sdk sdk = SDKS.get(state);
            if (sdk != null) {
                return sdk;
            }
            sdk = new Sdk();
            String service = settings.service.isEmpty() ? state.getResource().getAttribute(SERVICE)
                : settings.service;
            if (state.hasBeenShutdown()) {
                return sdk; // it makes no spans any more
            }
            Sdk first = service == null ? null : AGENTS.get(Ids.sound(service));
            if (first != null) {
                sdk.agent = first.agent;
                first.states.add(state);
            } else if (service != null && !service.isEmpty() && AGENTS.size() < SERVICES_MAX) {
                startAgent(sdk, Ids.sound(service), state);
            }
            SDKS.put(state, sdk);
            return sdk;
        }
    }

    private static void startAgent(Sdk sdk, String service, TracerSharedState state) {
        String host = Place.hostOr(state.getResource().getAttribute(HOST));
        sdk.agent = new Agent(service, host, settings, sdk);
        sdk.states = new ArrayList<>();
        sdk.states.add(state);
        AGENTS.put(service, sdk);
        sdk.agent.start();
    }

    /** Measure a closed hit in ns by the code that programs run, with a point that nobody counts. */
    private static double measureClosed(Agent agent) {
        PythiaScope scope = new PythiaScope(agent, "", false);
        PythiaScope.Gate gate = scope.newClosedGate();
        Context context = Context.root().with(new PythiaClosedSpan(Span.getInvalid(), null));
        double best = Double.POSITIVE_INFINITY;
        for (int round = 0; round < MEASURED_ROUNDS; round++) {
            long begin = System.nanoTime();
            for (int i = 0; i < MEASURED_HITS; i++) {
                ((Span) decide(gate, context)).end();
            }
            best = Math.min(best, (System.nanoTime() - begin) / (double) MEASURED_HITS);
        }
        return best;
    }
}
