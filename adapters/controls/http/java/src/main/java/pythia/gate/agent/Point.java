// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.util.concurrent.atomic.LongAdder;

/** A trace point as it is reported. */
public final class Point {
    private static final int RENAMED = 16; // spans that were renamed, for each that was not

    public final String id;
    public final LongAdder hits = new LongAdder();
    public final LongAdder entries = new LongAdder();
    public final LongAdder left = new LongAdder(); // spans that were given another name
    private volatile double priceNs; // smoothed; 0: not measured

    // Only the asking thread uses these.
    boolean isKnown;
    boolean reportedEntry;
    long reportedHits;

    Point(String id) {
        this.id = id;
    }

    /** Add what one hit cost. Two threads that add at once may lose one of the two samples. */
    public void addPrice(long ns) {
        double mean = priceNs;
        priceNs = mean == 0 ? ns : mean + (ns - mean) / 8;
    }

    double priceNs() {
        return priceNs;
    }

    /** Were at least half of its hits entries? Spans that are renamed later do not count as such. */
    boolean isEntry() {
        long all = entries.sum();
        return all > 0 && all * 2 >= hits.sum() && all * 2 >= left.sum();
    }

    /** Practically no span keeps this name until its end: opening it has no visible effect. */
    boolean isRenamed() {
        long renamed = left.sum();
        return renamed > 0 && renamed > RENAMED * hits.sum();
    }
}
