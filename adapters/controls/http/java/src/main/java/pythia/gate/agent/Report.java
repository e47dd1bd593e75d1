// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** What one report says: points that are new or have changed, and points that cannot be opened. */
final class Report {
    static final int POINTS_MAX = 1000;
    private static final int CHARACTERS_MAX = 300000; // of ids: 3 bytes each stay below pythiad's 1 MiB

    private static final class News {
        final Point point;
        final long hits;
        final boolean isEntry;

        News(Point point, long hits, boolean isEntry) {
            this.point = point;
            this.hits = hits;
            this.isEntry = isEntry;
        }
    }

    private final List<News> news = new ArrayList<>();
    private final List<String> refused = new ArrayList<>();
    private boolean isFull;

    Report(Collection<Point> points, Table table, boolean withCounts) {
        int size = 0;
        for (Point point : points) {
            if (point.isKnown && point.isRenamed() && table.isOpen(point.id, false)
                && refused.size() < POINTS_MAX / 10) {
                refused.add(point.id);
            }
            long hits = point.hits.sum();
            boolean isEntry = point.isEntry();
            boolean isNews = point.isKnown
                ? isEntry != point.reportedEntry || withCounts && hits != point.reportedHits
                : hits > 0;
            if (isNews && !isFull) {
                news.add(new News(point, hits, isEntry));
                size += point.id.length() + 100;
                isFull = news.size() == POINTS_MAX || size > CHARACTERS_MAX;
            }
        }
    }

    boolean isEmpty() {
        return news.isEmpty();
    }

    /** Are there points that this report has no capacity for? */
    boolean isFull() {
        return isFull;
    }

    byte[] encode(String service, String instance, String applied, double closedNs) {
        StringBuilder out = new StringBuilder("{\"service\":");
        appendString(out, service);
        out.append(",\"instance\":");
        appendString(out, instance);
        out.append(",\"agent\":\"").append(Agent.NAME).append("\",\"applied\":\"").append(applied);
        out.append('"');
        if (closedNs > 0) {
            out.append(",\"closed_ns\":").append(tenths(closedNs));
        }
        out.append(",\"points\":[");
        String comma = "";
        for (News one : news) {
            out.append(comma).append("{\"id\":");
            appendString(out, one.point.id);
            out.append(",\"hits\":").append(Math.max(0, one.hits - one.point.reportedHits));
            out.append(",\"open_by_default\":").append(one.isEntry);
            if (one.point.priceNs() > 0) {
                out.append(",\"price_ns\":").append(tenths(one.point.priceNs()));
            }
            out.append('}');
            comma = ",";
        }
        out.append("],\"refused\":[");
        comma = "";
        for (String id : refused) {
            out.append(comma);
            appendString(out, id);
            comma = ",";
        }
        return out.append("]}").toString().getBytes(StandardCharsets.UTF_8);
    }

    private static double tenths(double ns) {
        return Math.round(ns * 10) / 10.0;
    }

    /** Note what has been reported. */
    void confirm() {
        for (News one : news) {
            one.point.isKnown = true;
            one.point.reportedHits = one.hits;
            one.point.reportedEntry = one.isEntry;
        }
    }

    /** Ids have no control characters, but services and instances may have. */
    private static void appendString(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
