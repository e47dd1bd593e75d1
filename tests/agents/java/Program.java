// SPDX-License-Identifier: MIT

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The program of ../README.md in Java, with an SDK of its own: run with the agent's jar. */
public final class Program {
    static final String SERVICE = System.getenv("OTEL_SERVICE_NAME");
    private static final Map<String, OpenTelemetrySdk> SDKS = new ConcurrentHashMap<>();
    private static final FileOutputStream OUTPUT = new FileOutputStream(FileDescriptor.out);
    private static final int ROUNDS = 100; // of a measurement: the first ones are not compiled yet

    private Program() {}

    static synchronized void write(Map<String, ?> value) {
        try {
            OUTPUT.write((Json.write(value) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException why) {
            throw new UncheckedIOException(why);
        }
    }

    static OpenTelemetry sdkOf(String service) {
        return SDKS.computeIfAbsent(service, Program::makeSdk);
    }

    static Tracer tracerOf(String service, String scope) {
        return sdkOf(service).getTracer(scope);
    }

    private static OpenTelemetrySdk makeSdk(String service) {
        AttributesBuilder own = Attributes.builder();
        for (String pair : System.getenv().getOrDefault("OTEL_RESOURCE_ATTRIBUTES", "").split(",")) {
            int at = pair.indexOf('=');
            if (at > 0) {
                own.put(pair.substring(0, at), pair.substring(at + 1));
            }
        }
        Resource resource = Resource.getDefault().merge(
            Resource.create(own.put("service.name", service).build()));
        SdkTracerProvider provider = SdkTracerProvider.builder().setResource(resource).setSampler(sampler())
            .addSpanProcessor(SimpleSpanProcessor.create(new StdoutExporter())).build();
        provider.get("web"); // the agent knows of an SDK by its tracers
        TextMapPropagator both = TextMapPropagator.composite(W3CTraceContextPropagator.getInstance(),
            W3CBaggagePropagator.getInstance());
        return OpenTelemetrySdk.builder().setTracerProvider(provider)
            .setPropagators(ContextPropagators.create(both)).build();
    }

    private static Sampler sampler() {
        String name = System.getenv("OTEL_TRACES_SAMPLER");
        switch (name == null ? "parentbased_always_on" : name) {
        case "always_off":
            return Sampler.alwaysOff();
        case "parentbased_traceidratio":
            double ratio = Double.parseDouble(System.getenv("OTEL_TRACES_SAMPLER_ARG"));
            return Sampler.parentBased(Sampler.traceIdRatioBased(ratio));
        default:
            return Sampler.parentBased(Sampler.alwaysOn());
        }
    }

    // ---- commands ----

    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> nodes(Object value) {
        return value == null ? new ArrayList<>() : (List<Map<String, Object>>) value;
    }

    static long number(Map<String, Object> command, String key) {
        return ((Number) command.get(key)).longValue();
    }

    private static Map<String, Object> run(Map<String, Object> command) throws Exception {
        switch ((String) command.get("do")) {
        case "spans":
            String service = (String) command.getOrDefault("service", SERVICE);
            return answer("made", Tree.make(service, nodes(command.get("tree")), command.get("headers")));
        case "repeat":
            return repeat(command);
        case "names":
            return names(command);
        case "pause":
            return pause(number(command, "ms"));
        case "memory":
            return memory();
        case "cost":
            return cost(number(command, "count"));
        default:
            return null;
        }
    }

    static Map<String, Object> answer(String key, Object value) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put(key, value);
        return answer;
    }

    private static Map<String, Object> repeat(Map<String, Object> command) throws InterruptedException {
        AtomicInteger left = new AtomicInteger((int) number(command, "count"));
        List<Map<String, Object>> tree = nodes(command.get("tree"));
        List<Runnable> workers = new ArrayList<>();
        for (long i = number(command, "threads"); i > 0; i--) {
            workers.add(() -> {
                while (left.getAndDecrement() > 0) {
                    Tree.make(SERVICE, tree, null);
                }
            });
        }
        Tree.runAll(workers);
        return answer("count", command.get("count"));
    }

    private static Map<String, Object> names(Map<String, Object> command) {
        Tracer tracer = tracerOf(SERVICE, (String) command.get("scope"));
        String kind = (String) command.getOrDefault("kind", "internal");
        SpanKind spanKind = SpanKind.valueOf(kind.toUpperCase(Locale.ROOT));
        long recorded = 0, count = number(command, "count");
        for (long i = 0; i < count; i++) {
            Span span = tracer.spanBuilder("name X" + i).setNoParent().setSpanKind(spanKind).startSpan();
            recorded += span.isRecording() ? 1 : 0;
            span.end();
        }
        return answer("recorded", recorded);
    }

    private static Map<String, Object> pause(long ms) throws InterruptedException {
        long late = 0, end = System.nanoTime() + ms * 1000000;
        for (long from = System.nanoTime(); from < end; from = System.nanoTime()) {
            Thread.sleep(1);
            late = Math.max(late, System.nanoTime() - from - 1000000);
        }
        return answer("late_ms", late / 1e6);
    }

    private static Map<String, Object> memory() throws IOException {
        System.gc();
        String statm = new String(Files.readAllBytes(Paths.get("/proc/self/statm")), StandardCharsets.US_ASCII);
        return answer("rss_bytes", Long.parseLong(statm.split(" ")[1]) * 4096);
    }

    private static Map<String, Object> cost(long count) {
        Tracer tracer = tracerOf(SERVICE, "cost");
        Span root = tracer.spanBuilder("root").startSpan();
        Map<String, Object> answer = new LinkedHashMap<>();
        try (Scope scope = root.makeCurrent()) {
            for (String name : Arrays.asList("closed", "open")) {
                answer.put(name + "_ns", timed(count, () -> tracer.spanBuilder(name).startSpan().end()));
                answer.put(name + "_current_ns", timed(count, () -> {
                    Span span = tracer.spanBuilder(name).startSpan();
                    try (Scope inner = span.makeCurrent()) {
                        span.isRecording();
                    }
                    span.end();
                }));
            }
        }
        root.end();
        return answer;
    }

    /** Return what a pass costs the thread in ns, of the fastest round. */
    private static double timed(long count, Runnable pass) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        double best = Double.POSITIVE_INFINITY;
        for (int round = 0; round < ROUNDS; round++) {
            long begin = threads.getCurrentThreadCpuTime();
            for (long i = 0; i < count; i++) {
                pass.run();
            }
            best = Math.min(best, (threads.getCurrentThreadCpuTime() - begin) / (double) count);
        }
        return best;
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] arguments) throws Exception {
        sdkOf(SERVICE);
        Map<String, Object> ready = answer("ready", true);
        ready.put("agent", "java");
        write(ready);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        while ((line = input.readLine()) != null) {
            Map<String, Object> command = (Map<String, Object>) Json.read(line);
            Map<String, Object> answer = run(command);
            if (answer == null) {
                write(answer("cannot", command.get("do")));
                continue;
            }
            answer.put("done", command.get("do"));
            write(answer);
        }
        SDKS.values().forEach(OpenTelemetrySdk::close);
    }

}
