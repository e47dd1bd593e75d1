// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.util.Collections;
import java.util.Map;
import java.util.Set;

/**
 * The content of a list: what is open. A table never changes, and each list has one of its own, so
 * that a decision holds as long as the table by which it was made is in force.
 */
public final class Table {
    static final Table DEFAULT = new Table(false);
    static final Table OFF = new Table(true);

    final Set<String> open;
    final Map<String, Set<String>> openFor; // types by id
    final Set<String> closed;
    final boolean isNone; // nothing is open by default; else entry points
    public final String typeKey; // the attribute that names the type; "": none; null: nobody asks

    Table(Set<String> open, Map<String, Set<String>> openFor, Set<String> closed, boolean isNone,
        String typeKey) {
        this.open = open;
        this.openFor = openFor;
        this.closed = closed;
        this.isNone = isNone;
        this.typeKey = typeKey;
    }

    private Table(boolean isNone) {
        this(Collections.emptySet(), Collections.emptyMap(), Collections.emptySet(), isNone, null);
    }

    /** Is the point open, at least for some types? */
    boolean isOpen(String id, boolean isEntry) {
        if (open.contains(id) || openFor.containsKey(id)) {
            return true;
        }
        return isEntry && !isNone && !closed.contains(id);
    }
}
