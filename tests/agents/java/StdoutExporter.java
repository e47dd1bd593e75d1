// SPDX-License-Identifier: MIT

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes spans to standard output. */
final class StdoutExporter implements SpanExporter {
    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
        for (SpanData span : spans) {
            String scope = span.getInstrumentationScopeInfo().getName();
            if (!scope.startsWith("names") && !scope.startsWith("cost")) {
                Program.write(Program.answer("span", describe(span, scope)));
            }
        }
        return CompletableResultCode.ofSuccess();
    }

    private static Map<String, Object> describe(SpanData span, String scope) {
        Map<String, Object> out = new LinkedHashMap<>(), attributes = new LinkedHashMap<>();
        List<Map<String, Object>> links = new ArrayList<>();
        List<String> events = new ArrayList<>();
        span.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), value));
        for (LinkData link : span.getLinks()) {
            Map<String, Object> one = Program.answer("trace", link.getSpanContext().getTraceId());
            one.put("id", link.getSpanContext().getSpanId());
            links.add(one);
        }
        for (EventData event : span.getEvents()) {
            events.add(event.getName());
        }
        Map<String, Object> place = new LinkedHashMap<>();
        span.getResource().getAttributes().forEach((key, value) -> place.put(key.getKey(), value));
        out.put("service", place.get("service.name"));
        out.put("host", place.get("host.name"));
        out.put("pid", place.get("process.pid"));
        out.put("scope", scope);
        out.put("name", span.getName());
        out.put("trace", span.getTraceId());
        out.put("id", span.getSpanId());
        out.put("parent", span.getParentSpanContext().isValid() ? span.getParentSpanId() : "");
        out.put("kind", span.getKind().name().toLowerCase(Locale.ROOT));
        out.put("attributes", attributes);
        out.put("links", links);
        out.put("events", events);
        out.put("status", span.getStatus().getStatusCode().name().toLowerCase(Locale.ROOT));
        out.put("state", Tree.text(span.getSpanContext().getTraceState()));
        return out;
    }

    @Override
    public CompletableResultCode flush() {
        return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
        return CompletableResultCode.ofSuccess();
    }
}
