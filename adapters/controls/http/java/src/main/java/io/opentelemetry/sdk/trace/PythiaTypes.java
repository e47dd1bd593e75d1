// SPDX-License-Identifier: MIT
package io.opentelemetry.sdk.trace;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import pythia.gate.agent.Table;

/** Sends the type of a request to the services that are called, and takes it from those that call. */
final class PythiaTypes implements ContextPropagators, TextMapPropagator {
    private static final String HEADER = "pythia-request-type";
    private static final int HEADER_MAX = 1024; // bytes
    private static final ContextKey<String> RECEIVED = ContextKey.named(HEADER);

    private final TextMapPropagator program;

    PythiaTypes(TextMapPropagator program) {
        this.program = program;
    }

    static String received(Context context) {
        return context.get(RECEIVED);
    }

    @Override
    public TextMapPropagator getTextMapPropagator() {
        return this;
    }

    @Override
    public Collection<String> fields() {
        Set<String> all = new LinkedHashSet<>(program.fields());
        all.add(HEADER);
        return all;
    }

    @Override
    public <C> void inject(Context context, C carrier, TextMapSetter<C> setter) {
        program.inject(context, carrier, setter);
        try {
            String type = context == null ? null : typeToSend(Span.fromContext(context));
            if (type != null) {
                setter.set(carrier, HEADER, type);
            }
        } catch (Throwable why) {
            // the request is sent without it
        }
    }

    @Override
    public <C> Context extract(Context context, C carrier, TextMapGetter<C> getter) {
        Context extracted = program.extract(context, carrier, getter);
        try {
            String value = carrier == null ? null : getter.get(carrier, HEADER);
            if (value != null && !value.isEmpty() && value.length() <= HEADER_MAX) {
                String type = URLDecoder.decode(value.replace("+", "%2B"), "UTF-8");
                return type.indexOf('\ufffd') >= 0 ? extracted : extracted.with(RECEIVED, type);
            }
        } catch (Throwable why) {
            // a value that is no type is none
        }
        return extracted;
    }

    private static String typeToSend(Span span) throws UnsupportedEncodingException {
        PythiaRequest request = PythiaGate.requestOf(span);
        if (request == null) {
            return null;
        }
        Table table = request.scope.agent.table();
        String type = table.typeKey == null ? null : request.type(table);
        if (type == null || type.isEmpty()) {
            return null;
        }
        String escaped = URLEncoder.encode(type, "UTF-8").replace("+", "%20");
        return escaped.length() <= HEADER_MAX ? escaped : null;
    }
}
