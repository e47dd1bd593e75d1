// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The switch of all spans of one kind that start with one name. Some are renamed later, because an
 * HTTP server learns its route only then: they arrive as other points (aliases), which have no other
 * switch than this one.
 */
public final class Switch {
    private static final int ALIASES_MAX = 1000;

    /** What a table says of the switch. */
    public static final class Decision {
        public final Table table;
        public final boolean asInner;
        public final boolean asEntry;
        public final boolean isAliased;
        public final Set<String> types; // for which it is open; null: all

        Decision(Table table, boolean asInner, boolean asEntry, boolean isAliased, Set<String> types) {
            this.table = table;
            this.asInner = asInner;
            this.asEntry = asEntry;
            this.isAliased = isAliased;
            this.types = types;
        }
    }

    public final Point point;
    public final boolean isCounted; // false: there is no capacity for its point
    public int hits; // approximate; tells which hits are timed
    private final Map<Point, Long> aliases = new HashMap<>(); // guarded by this
    private volatile Decision decision;

    Switch(Point point) {
        isCounted = point != null;
        this.point = isCounted ? point : new Point("");
    }

    /** Return what a table says: one volatile read, unless the table or the aliases changed. */
    public Decision decide(Table table) {
        Decision now = decision;
        if (now == null || now.table != table) {
            now = isCounted ? makeDecision(table)
                : new Decision(table, false, !table.isNone, false, null);
        }
        return now;
    }

    private synchronized Decision makeDecision(Table table) {
        List<String> ids = new ArrayList<>();
        ids.add(point.id);
        boolean asInner = table.isOpen(point.id, false);
        // No span arrives under the name with which spans begin that are all renamed.
        boolean asEntry = table.isOpen(point.id, aliases.isEmpty());
        for (Point alias : aliases.keySet()) {
            ids.add(alias.id);
            asInner |= table.isOpen(alias.id, false);
            asEntry |= table.isOpen(alias.id, true);
        }
        decision = new Decision(table, asInner, asEntry, !aliases.isEmpty(), findTypes(table, ids));
        return decision;
    }

    private static Set<String> findTypes(Table table, List<String> ids) {
        Set<String> types = null;
        for (String id : ids) {
            if (table.open.contains(id)) {
                return null;
            }
            Set<String> limited = table.openFor.get(id);
            if (limited != null) {
                types = types == null ? new HashSet<>() : types;
                types.addAll(limited);
            }
        }
        return types;
    }

    public synchronized boolean canBecome(Point other) {
        return other == point || aliases.containsKey(other) || aliases.size() < ALIASES_MAX;
    }

    /** Count spans as a point: more of them, or -1 if one was given another name. */
    public void count(Point as, int more, boolean isEntry) {
        as.hits.add(more);
        if (isEntry) {
            as.entries.add(more);
        }
        if (as != point) {
            countAlias(as, more);
        }
    }

    private synchronized void countAlias(Point as, int more) {
        long before = aliases.getOrDefault(as, 0L);
        if (before + more > 0) {
            aliases.put(as, before + more);
        } else {
            aliases.remove(as); // no span has kept this name until its end
        }
        if (before == 0 || before + more <= 0) {
            decision = null;
        }
    }
}
