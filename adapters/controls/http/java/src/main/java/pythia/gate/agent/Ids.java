// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.nio.charset.StandardCharsets;

/** Ids of trace points, as pythiad gives them to the spans that it receives (pythia-control-http(7)). */
public final class Ids {
    private static final int BYTES_MAX = 512;
    private static final int LONG_HEX = 16; // digits
    private static final int UUID_LENGTH = 36;

    private Ids() {}

    /** Return a text as it arrives by OTLP: without halves of surrogate pairs, and without NUL. */
    public static String sound(String text) {
        StringBuilder fixed = null;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isPair = Character.isHighSurrogate(c) && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
            if (isPair) {
                i++;
            } else if (c == 0 || Character.isSurrogate(c)) {
                fixed = fixed == null ? new StringBuilder(text) : fixed;
                fixed.setCharAt(i, '\ufffd');
            }
        }
        return fixed == null ? text : fixed.toString();
    }

    /** Return a path-like name without its query, and with {id} for each identifier. */
    static String template(String text) {
        if (text.indexOf('/') < 0) {
            return text;
        }
        int query = text.indexOf('?');
        String[] elements = (query < 0 ? text : text.substring(0, query)).split("/", -1);
        StringBuilder out = new StringBuilder(elements[0]);
        for (int i = 1; i < elements.length; i++) {
            out.append('/').append(isIdentifier(elements[i]) ? "{id}" : elements[i]);
        }
        return out.length() == 0 ? text : out.toString();
    }

    /** Is it a number, a UUID, or hexadecimal digits, 16 at least? */
    private static boolean isIdentifier(String element) {
        int digits = 0, letters = 0, dashes = 0;
        for (int i = 0; i < element.length(); i++) {
            char c = element.charAt(i);
            if (c >= '0' && c <= '9') {
                digits++;
            } else if (c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
                letters++;
            } else if (c == '-' && (i == 8 || i == 13 || i == 18 || i == 23)) {
                dashes++;
            } else {
                return false;
            }
        }
        if (dashes > 0) {
            return dashes == 4 && element.length() == UUID_LENGTH;
        }
        return digits > 0 && letters == 0 || digits + letters >= LONG_HEX;
    }

    /** Return the id of a point: what is not empty of service, scope and name, with colons. */
    public static String pointId(String service, String scope, String name) {
        StringBuilder id = new StringBuilder();
        if (!service.isEmpty()) {
            id.append(service).append(':');
        }
        if (!scope.isEmpty()) {
            id.append(scope).append(':');
        }
        id.append(template(sound(name)));
        return id.length() == 0 ? "(unnamed)" : id.toString();
    }

    /** Does pythiad take the id? */
    static boolean isSound(String id) {
        for (int i = 0; i < id.length(); i++) {
            if (id.charAt(i) < ' ' || id.charAt(i) == 0x7f) {
                return false;
            }
        }
        return id.length() <= BYTES_MAX && id.getBytes(StandardCharsets.UTF_8).length <= BYTES_MAX;
    }
}
