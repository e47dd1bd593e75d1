// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Reads a list, as far as JSON goes in it. A server that is hostile gets an IOException. */
final class ListReader {
    private static final int DEPTH_MAX = 64; // of members that nobody knows

    /** A list: its table, and what else it says. */
    static final class Content {
        Table table;
        double leaseMs;
        double pollMs;
        boolean isReportWanted;
    }

    private final String text;
    private int at;

    private ListReader(String text) {
        this.text = text;
    }

    static Content read(byte[] body) throws IOException {
        // newDecoder() refuses what is no UTF-8, and a String would not.
        String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
        return new ListReader(text).readList();
    }

    private IOException wrong(String what) {
        return new IOException(what + " at character " + at + " of the list");
    }

    /** Return the next character that is no blank; 0 at the end. */
    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private boolean accept(char c) {
        boolean isThere = peek() == c && at < text.length();
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void expect(char c) throws IOException {
        if (!accept(c)) {
            throw wrong("there is no " + c);
        }
    }

    private String readString() throws IOException {
        expect('"');
        int from = at;
        StringBuilder out = null; // as long as nothing is escaped the text itself is enough
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return out == null ? text.substring(from, at - 1) : out.toString();
            }
            if (c == '\\') {
                out = out == null ? new StringBuilder(text.substring(from, at - 1)) : out;
                out.append(readEscape());
            } else if (c < ' ') {
                throw wrong("there is a control character");
            } else if (out != null) {
                out.append(c);
            }
        }
        throw wrong("a string has no end");
    }

    private char readEscape() throws IOException {
        char c = at < text.length() ? text.charAt(at++) : 0;
        int simple = "\"\\/bfnrt".indexOf(c);
        if (simple >= 0 && c != 0) {
            return "\"\\/\b\f\n\r\t".charAt(simple);
        }
        if (c != 'u' || at + 4 > text.length()) {
            throw wrong("an escape is unknown");
        }
        int code = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(text.charAt(at++), 16);
            if (digit < 0) {
                throw wrong("an escape is unknown");
            }
            code = code * 16 + digit;
        }
        return (char) code;
    }

    private Set<String> readStrings() throws IOException {
        Set<String> values = new HashSet<>();
        expect('[');
        if (accept(']')) {
            return values;
        }
        do {
            values.add(readString());
        } while (accept(','));
        expect(']');
        return values;
    }

    private Map<String, Set<String>> readTypes() throws IOException {
        Map<String, Set<String>> types = new HashMap<>();
        expect('{');
        if (accept('}')) {
            return types;
        }
        do {
            String id = readString();
            expect(':');
            types.put(id, readStrings());
        } while (accept(','));
        expect('}');
        return types;
    }

    /** Return a string, a Double or a Boolean; null for anything else, which is passed over. */
    private Object readAny(int depth) throws IOException {
        if (depth > DEPTH_MAX) {
            throw wrong("there are too many levels");
        }
        char c = peek();
        if (c == '"') {
            return readString();
        }
        if (c == '{' || c == '[') {
            skipMembers(c == '{', depth);
            return null;
        }
        int from = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return readWord(text.substring(from, at));
    }

    private Object readWord(String word) throws IOException {
        switch (word) {
        case "true":
            return true;
        case "false":
            return false;
        case "null":
            return null;
        default:
            try {
                return Double.valueOf(word);
            } catch (NumberFormatException why) {
                throw wrong("there is no value");
            }
        }
    }

    private void skipMembers(boolean isObject, int depth) throws IOException {
        char end = isObject ? '}' : ']';
        at++;
        if (accept(end)) {
            return;
        }
        do {
            if (isObject) {
                readString();
                expect(':');
            }
            readAny(depth + 1);
        } while (accept(','));
        expect(end);
    }

    private Content readList() throws IOException {
        Set<String> open = Collections.emptySet(), closed = open;
        Map<String, Set<String>> openFor = Collections.emptyMap();
        Map<String, Object> others = new HashMap<>();
        expect('{');
        boolean isEmpty = accept('}');
        while (!isEmpty) {
            String key = readString();
            expect(':');
            switch (key) {
            case "open":
                open = readStrings();
                break;
            case "closed":
                closed = readStrings();
                break;
            case "open_for":
                openFor = readTypes();
                break;
            default:
                others.put(key, readAny(0));
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (peek() != 0 || at < text.length()) {
            throw wrong("there is something after the list");
        }
        Content content = new Content();
        Object typeKey = others.get("type_key");
        content.table = new Table(open, openFor, closed, "none".equals(others.get("default")),
            typeKey instanceof String ? (String) typeKey : null);
        content.leaseMs = within(others.get("lease_ms"), 100, 86400000, 30000);
        content.pollMs = within(others.get("poll_ms"), 10, 60000, 250);
        content.isReportWanted = Boolean.TRUE.equals(others.get("report"));
        return content;
    }

    private static double within(Object value, double low, double high, double otherwise) {
        boolean isNumber = value instanceof Double && !((Double) value).isNaN();
        return isNumber ? Math.min(Math.max((Double) value, low), high) : otherwise;
    }
}
