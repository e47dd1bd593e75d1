// SPDX-License-Identifier: MIT
package io.opentelemetry.sdk.trace;

import static io.opentelemetry.api.common.AttributeKey.stringKey;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import pythia.gate.agent.Ids;
import pythia.gate.agent.Table;

/**
 * A request in this process, from one entry on. Its type is found as pythiad finds it
 * (pythia-control-http(7)), while its spans are still being made. As long as the type is not known, a
 * point that is open for some types only is open: pythiad leaves out what it does not want.
 */
final class PythiaRequest {
    private static final AttributeKey<String> REQUEST_TYPE = stringKey("request_type");
    private static final AttributeKey<String> ROUTE = stringKey("http.route");
    private static final List<AttributeKey<String>> METHODS =
        Arrays.asList(stringKey("http.request.method"), stringKey("http.method"));
    private static final Set<String> METHOD_NAMES = new HashSet<>(Arrays.asList(
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"));
    /** Attributes by which pythiad names a request, before the name of its span. */
    private static final List<AttributeKey<String>> NAMING = new ArrayList<>();

    static {
        for (String key : Arrays.asList("rpc.method", "messaging.destination.template", "url.path",
            "url.full", "http.target", "http.url")) {
            NAMING.add(stringKey(key));
        }
    }

    final PythiaScope scope; // in which it begins
    private final String received; // its type by the caller; null: unknown
    private final boolean beginsHere;
    private volatile SdkSpan first;

    PythiaRequest(PythiaScope scope, String received, boolean beginsHere) {
        this.scope = scope;
        this.received = received;
        this.beginsHere = beginsHere;
    }

    /** Note a span of the request; the first one names it. */
    void note(SdkSpan span) {
        if (first == null) {
            first = span;
        }
    }

    boolean mayBe(Set<String> types, Table table) {
        String type = type(table);
        return type == null || types.contains(type);
    }

    /** Return the type, or null if it is not known yet, or not in this process. */
    String type(Table table) {
        SdkSpan span = first;
        if (!beginsHere || span == null) {
            return received;
        }
        if (table.typeKey != null && !table.typeKey.isEmpty()) {
            return text(span, stringKey(table.typeKey));
        }
        String type = text(span, REQUEST_TYPE);
        if (type == null) {
            type = typeByRoute(span);
        }
        return type == null ? typeByName(span) : type;
    }

    private static String text(SdkSpan span, AttributeKey<String> key) {
        String value = span.getAttribute(key);
        return value == null || value.isEmpty() ? null : value;
    }

    private String typeByRoute(SdkSpan span) {
        String route = text(span, ROUTE), method = null;
        if (route == null) {
            return null;
        }
        for (AttributeKey<String> key : METHODS) {
            method = method == null ? text(span, key) : method;
        }
        if (method == null && METHOD_NAMES.contains(span.getName())) {
            method = span.getName();
        }
        return Ids.sound(scope.agent.service + " " + (method == null ? "" : method + " ") + route);
    }

    /** Name it by its first span, unless attributes or another name that come later may name it. */
    private String typeByName(SdkSpan span) {
        Object hit = PythiaGate.rewritten(span).pythia$hit();
        if (span.getKind() != SpanKind.INTERNAL || METHOD_NAMES.contains(span.getName()) || hit == null
            || ((PythiaHit) hit).toggle().decide(scope.agent.table()).isAliased) {
            return null;
        }
        for (AttributeKey<String> key : NAMING) {
            if (span.getAttribute(key) != null) {
                return null;
            }
        }
        return Ids.pointId(scope.agent.service, scope.name, span.getName());
    }
}
