// SPDX-License-Identifier: MIT

import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.baggage.BaggageBuilder;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** Spans below each other, each noted in the order of their starts. */
final class Tree {
    private static final TextMapGetter<Map<String, Object>> GETTER = new TextMapGetter<Map<String, Object>>() {
        @Override
        public Iterable<String> keys(Map<String, Object> carrier) {
            return carrier.keySet();
        }

        @Override
        public String get(Map<String, Object> carrier, String key) {
            return carrier == null ? null : (String) carrier.get(key);
        }
    };

    private final String service;
    private final TextMapPropagator propagator;
    private final List<Map<String, Object>> made = new ArrayList<>();

    private Tree(String service) {
        this.service = service;
        propagator = Program.sdkOf(service).getPropagators().getTextMapPropagator();
    }

    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> make(String service, List<Map<String, Object>> nodes, Object headers) {
        Tree tree = new Tree(service);
        Map<String, Object> carrier = headers == null ? new LinkedHashMap<>() : (Map<String, Object>) headers;
        try (Scope scope = tree.propagator.extract(Context.root(), carrier, GETTER).makeCurrent()) {
            nodes.forEach(tree::makeSpan);
        }
        return tree.made;
    }

    private static void setAttributes(Object attributes, java.util.function.BiConsumer<AttributeKey<?>, Object> to) {
        if (attributes == null) {
            return;
        }
        for (Map.Entry<?, ?> one : ((Map<?, ?>) attributes).entrySet()) {
            String key = (String) one.getKey();
            Object value = one.getValue();
            if (value instanceof Boolean) {
                to.accept(AttributeKey.booleanKey(key), value);
            } else if (value instanceof Long) {
                to.accept(AttributeKey.longKey(key), value);
            } else if (value instanceof Double) {
                to.accept(AttributeKey.doubleKey(key), value);
            } else {
                to.accept(AttributeKey.stringKey(key), value);
            }
        }
    }

    @SuppressWarnings("unchecked")
    private Span start(Map<String, Object> node) {
        String scope = (String) node.getOrDefault("scope", "web");
        String kind = (String) node.getOrDefault("kind", "internal");
        SpanBuilder builder = Program.tracerOf(service, scope).spanBuilder((String) node.get("name"))
            .setSpanKind(SpanKind.valueOf(kind.toUpperCase(Locale.ROOT)));
        setAttributes(node.get("attributes"),
            (key, value) -> builder.setAttribute((AttributeKey<Object>) key, value));
        for (Map<String, Object> link : Program.nodes(node.get("links"))) {
            builder.addLink(SpanContext.createFromRemoteParent((String) link.get("trace"),
                (String) link.get("id"), TraceFlags.getSampled(), TraceState.getDefault()));
        }
        if (Boolean.TRUE.equals(node.get("root"))) {
            builder.setNoParent();
        }
        return builder.startSpan();
    }

    @SuppressWarnings("unchecked")
    private void makeSpan(Map<String, Object> node) {
        Map<String, Object> described = new LinkedHashMap<>();
        synchronized (made) {
            made.add(described);
        }
        Span span = start(node);
        Context within = Boolean.TRUE.equals(node.get("apart")) ? Context.current() : Context.current().with(span);
        setAttributes(node.get("late"), (key, value) -> span.setAttribute((AttributeKey<Object>) key, value));
        if (node.containsKey("event")) {
            span.addEvent((String) node.get("event"));
        }
        if (node.containsKey("rename")) {
            span.updateName((String) node.get("rename"));
        }
        try (Scope scope = withBaggage(within, (Map<String, Object>) node.get("baggage")).makeCurrent()) {
            describe(described, (String) node.get("name"), span);
            makeChildren(node);
        }
        if (node.containsKey("error")) {
            span.recordException(new IllegalStateException((String) node.get("error")));
            span.setStatus(StatusCode.ERROR, (String) node.get("error"));
        }
        span.end();
    }

    private static Context withBaggage(Context context, Map<String, Object> values) {
        if (values == null) {
            return context;
        }
        BaggageBuilder builder = Baggage.fromContext(context).toBuilder();
        values.forEach((key, value) -> builder.put(key, (String) value));
        return context.with(builder.build());
    }

    private void makeChildren(Map<String, Object> node) {
        List<Map<String, Object>> children = Program.nodes(node.get("children"));
        if (!Boolean.TRUE.equals(node.get("parallel"))) {
            children.forEach(this::makeSpan);
            return;
        }
        List<Runnable> work = new ArrayList<>();
        children.forEach(child -> work.add(Context.current().wrap(() -> makeSpan(child))));
        try {
            runAll(work);
        } catch (InterruptedException why) {
            throw new IllegalStateException(why);
        }
    }

    private void describe(Map<String, Object> to, String name, Span span) {
        SpanContext is = span.getSpanContext();
        Map<String, Object> headers = new LinkedHashMap<>(), baggage = new LinkedHashMap<>();
        propagator.inject(Context.current(), headers, Map::put);
        Baggage.current().forEach((key, entry) -> baggage.put(key, entry.getValue()));
        to.put("name", name);
        to.put("recording", span.isRecording());
        to.put("trace", is.getTraceId());
        to.put("id", is.getSpanId());
        to.put("sampled", is.isSampled());
        to.put("state", text(is.getTraceState()));
        to.put("baggage", baggage);
        to.put("headers", headers);
    }

    static String text(TraceState state) {
        StringJoiner members = new StringJoiner(",");
        state.forEach((key, value) -> members.add(key + "=" + value));
        return members.toString();
    }

    /** Run each in a thread of its own, a virtual one if the JDK has them. */
    static void runAll(List<Runnable> work) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (Runnable one : work) {
            threads.add(startThread(one));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static Thread startThread(Runnable body) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, body);
        } catch (ReflectiveOperationException why) {
            Thread thread = new Thread(body);
            thread.start();
            return thread;
        }
    }
}
