// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much of JSON as the driver of the suite writes and reads. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        return new Json(text).value();
    }

    private char next() {
        while (text.charAt(at) == ' ') {
            at++;
        }
        return text.charAt(at++);
    }

    private Object value() {
        char c = next();
        switch (c) {
        case '{':
            return object();
        case '[':
            return array();
        case '"':
            return string();
        default:
            int from = at - 1;
            while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) {
                at++;
            }
            return word(text.substring(from, at));
        }
    }

    private static Object word(String word) {
        if (word.equals("true") || word.equals("false")) {
            return word.equals("true");
        }
        if (word.equals("null")) {
            return null;
        }
        if (word.matches("-?[0-9]+")) {
            return Long.valueOf(word);
        }
        return Double.valueOf(word);
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        for (char c = next(); c != '}'; c = next()) {
            if (c == ',') {
                c = next();
            }
            String key = string();
            next();
            members.put(key, value());
        }
        return members;
    }

    private List<Object> array() {
        List<Object> values = new ArrayList<>();
        for (char c = next(); c != ']'; c = next()) {
            at -= c == ',' ? 0 : 1;
            values.add(value());
        }
        return values;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
            if (c != '\\') {
                out.append(c);
                continue;
            }
            c = text.charAt(at++);
            int simple = "bfnrt".indexOf(c);
            if (c == 'u') {
                out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                at += 4;
            } else {
                out.append(simple < 0 ? c : "\b\f\n\r\t".charAt(simple));
            }
        }
        return out.toString();
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        append(out, value);
        return out.toString();
    }

    private static void append(StringBuilder out, Object value) {
        if (value instanceof Map) {
            out.append('{');
            String comma = "";
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                append(out.append(comma), member.getKey().toString());
                append(out.append(':'), member.getValue());
                comma = ",";
            }
            out.append('}');
        } else if (value instanceof Collection) {
            out.append('[');
            String comma = "";
            for (Object one : (Collection<?>) value) {
                append(out.append(comma), one);
                comma = ",";
            }
            out.append(']');
        } else if (value instanceof String) {
            appendString(out, (String) value);
        } else {
            out.append(value);
        }
    }

    private static void appendString(StringBuilder out, String text) {
        out.append('"');
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
