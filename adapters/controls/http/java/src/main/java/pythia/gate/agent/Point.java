// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** A trace point as it is reported. */
public final class Point {
    private static final int RENAMED = 16; // spans that were renamed, for each that was not
    private static final int PRICES = 9;

    public final String id;
    public final LongAdder hits = new LongAdder();
    public final LongAdder entries = new LongAdder();
    public final LongAdder left = new LongAdder(); // spans that were given another name
    private final AtomicLongArray pricesNs = new AtomicLongArray(PRICES); // the last ones; 0: none yet
    private int nextPrice;

    // Only the asking thread uses these.
    boolean isKnown;
    boolean reportedEntry;
    long reportedHits;

    Point(String id) {
        this.id = id;
    }

    /** Add what one hit cost. Two threads that add at once may lose one of the two samples. */
    public void addPrice(long ns) {
        int place = nextPrice;
        pricesNs.set(place, Math.max(1, ns));
        nextPrice = (place + 1) % PRICES;
    }

    /** Return the median of the last prices, as a hit may have been interrupted for milliseconds; 0: there are none. */
    double priceNs() {
        long[] sorted = new long[PRICES];
        for (int i = 0; i < PRICES; i++) {
            sorted[i] = pricesNs.get(i);
        }
        Arrays.sort(sorted);
        int missing = 0;
        while (missing < PRICES && sorted[missing] == 0) {
            missing++;
        }
        return missing == PRICES ? 0 : sorted[missing + (PRICES - missing) / 2];
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
