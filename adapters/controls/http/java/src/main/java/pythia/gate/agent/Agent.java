// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.io.IOException;
import java.net.URLEncoder;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Asks pythiad what is open, and reports what there is, for one service of this process.
 *
 * One thread asks. Another looks at the off file and at the end of the lease, which hold whether the
 * server answers or not, and breaks exchanges off that take too long.
 */
public final class Agent {
    static final String NAME = "pythia-gate-java 0.1.0";

    private static final int POINTS_MAX = 5000; // of one service; more run by the default rule
    private static final long REPORT_NS = 1000000000L; // between reports of new points
    private static final long NEWS_NS = 10 * REPORT_NS; // of hits and prices; after a refusal
    private static final long MEASURE_NS = 60 * REPORT_NS; // between measurements of a closed hit
    private static final double BACKOFF_MAX_MS = 2000;
    private static final int TICK_MS = 100;
    private static final int BUSY_SHARE = 20; // after a list that took a second so many of rest
    // From one question to the next pass .55 to .75 of the time that the list names: a switch shall be
    // in force within that time, and on a busy machine the answer and the report take up to 50 ms of it.
    private static final double EARLIEST = .55, JITTER = .2;
    private static final Pattern ETAG = Pattern.compile("\"([0-9a-f]{16})\"");

    /** What the agent needs to know of the program. */
    public interface Program {
        /** Does anybody still make spans of this service? */
        boolean isRunning();

        /** Measure what a closed hit costs, in ns; 0: it cannot be measured. */
        double measureClosedNs();

        /** Called when the agent has ended. */
        void onEnd();
    }

    public final String service;
    private final String query;
    private final String instance;
    private final Settings settings;
    private final Program program;
    private final Link link;
    private final ConcurrentHashMap<String, Point> points = new ConcurrentHashMap<>();
    private volatile boolean hasEnded;

    private volatile Table table = Table.DEFAULT; // changed with the lock held only
    private String etag = ""; // of the list in force; guarded by this
    private long leaseUntilNs; // guarded by this

    // Only the asking thread uses these.
    private double pollMs = 250;
    private double leaseMs = 30000;
    private double closedNs;
    private int failures;
    private long busyNs;
    private long reportedNs = System.nanoTime() - NEWS_NS;
    private long quietUntilNs = reportedNs;
    private long measuredNs = reportedNs - MEASURE_NS;
    private boolean isUnconfirmed;

    public Agent(String service, String host, Settings settings, Program program) {
        this.service = service;
        this.settings = settings;
        this.program = program;
        link = new Link(settings);
        instance = host + ":" + Place.PID + ":"
            + String.format("%08x", (int) System.nanoTime() ^ ThreadLocalRandom.current().nextInt());
        query = "?service=" + escape(service) + "&instance=" + escape(instance);
    }

    /** Begin to ask. */
    public void start() {
        startThread("pythia-gate", this::run);
        startThread("pythia-gate-watch", this::watch);
    }

    public Table table() {
        return table;
    }

    /** Return the point of an id. null: there are too many, or pythiad would refuse the id. */
    public Point point(String id) {
        Point point = points.get(id);
        if (point == null && points.size() < POINTS_MAX && Ids.isSound(id)) {
            point = points.computeIfAbsent(id, Point::new);
        }
        return point;
    }

    /** Return a new switch; of no point if id is null, which is counted nowhere. */
    public Switch newSwitch(String id) {
        return new Switch(id == null ? null : point(id));
    }

    private static String escape(String text) {
        try {
            return URLEncoder.encode(text, "UTF-8").replace("+", "%20");
        } catch (IOException why) {
            throw new IllegalStateException(why); // each JDK has UTF-8
        }
    }

    static void startThread(String name, Runnable body) {
        Thread thread = new Thread(null, body, name, 256 << 10);
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // that of a web application is to be collected
        thread.start();
    }

    static void sleep(double ms) {
        try {
            Thread.sleep((long) Math.max(1, ms));
        } catch (InterruptedException why) {
            // nobody who knows these threads interrupts them
        }
    }

    // ---- threads ----

    private void run() {
        while (program.isRunning()) {
            busyNs = 0;
            long begin = System.nanoTime();
            try {
                poll();
                failures = 0;
            } catch (Throwable why) {
                failures++; // no answer, or none that can be read: the lease runs on
            }
            sleep(delayMs((System.nanoTime() - begin) / 1e6));
        }
        hasEnded = true;
        link.close();
        use(Table.DEFAULT, "");
        program.onEnd();
    }

    /** Return how long to wait after a question that took so long. */
    private double delayMs(double tookMs) {
        double share = EARLIEST + JITTER * ThreadLocalRandom.current().nextDouble();
        double wait = Math.max(pollMs * share - tookMs, pollMs / 4);
        if (failures > 0) {
            wait = Math.min(pollMs * (1 << Math.min(failures, 10)), BACKOFF_MAX_MS) * share;
        }
        return Math.max(wait, Math.min(BUSY_SHARE * busyNs / 1e6, BACKOFF_MAX_MS));
    }

    private void watch() {
        while (!hasEnded) {
            tick();
            link.abortIfLate();
            sleep(TICK_MS);
        }
    }

    private synchronized void tick() {
        boolean isOff = settings.offFile != null && settings.offFile.exists();
        boolean isOver = table != Table.DEFAULT && System.nanoTime() - leaseUntilNs >= 0;
        if (isOff) {
            use(Table.OFF, "");
        } else if (table == Table.OFF || isOver) {
            use(Table.DEFAULT, "");
        }
    }

    private synchronized void use(Table next, String nextEtag) {
        table = next;
        etag = nextEtag;
    }

    private synchronized String etag() {
        return etag;
    }

    // ---- asking ----

    private void poll() throws IOException {
        tick();
        String held = etag();
        Link.Answer answer = link.ask("GET", query,
            held.isEmpty() ? "" : "If-None-Match: \"" + held + "\"\r\n", new byte[0]);
        boolean isReportWanted = false;
        if (answer.status == 200) {
            isReportWanted = read(answer);
        } else if (answer.status != 304) {
            throw new IOException("the answer is " + answer.status);
        }
        renew();
        report(isReportWanted);
    }

    private boolean read(Link.Answer answer) throws IOException {
        long begin = System.nanoTime();
        ListReader.Content content = ListReader.read(answer.body);
        busyNs = System.nanoTime() - begin;
        pollMs = content.pollMs;
        leaseMs = content.leaseMs;
        Matcher quoted = ETAG.matcher(answer.etag);
        take(content.table, quoted.matches() ? quoted.group(1) : "");
        return content.isReportWanted;
    }

    private synchronized void take(Table next, String nextEtag) {
        if (table == Table.OFF) { // the off file is stronger than any list
            return;
        }
        isUnconfirmed |= !nextEtag.equals(etag);
        renew();
        use(next, nextEtag);
    }

    private synchronized void renew() {
        leaseUntilNs = System.nanoTime() + (long) (leaseMs * 1e6);
    }

    // ---- reporting ----

    private void report(boolean everything) throws IOException {
        long now = System.nanoTime();
        if (now - quietUntilNs < 0) {
            return;
        }
        if (everything) {
            for (Point point : points.values()) {
                point.isKnown = false;
            }
        }
        boolean isUrgent = isUnconfirmed || everything;
        if (!isUrgent && now - reportedNs < REPORT_NS) {
            return;
        }
        Report report = new Report(points.values(), table, now - reportedNs > NEWS_NS);
        if (report.isEmpty() && !isUrgent) {
            return;
        }
        if (now - measuredNs > MEASURE_NS) {
            measuredNs = now;
            closedNs = program.measureClosedNs();
        }
        String applied = etag();
        byte[] body = report.encode(service, instance, applied, closedNs);
        if (link.ask("POST", "", "", body).status != 200) { // again would not help
            quietUntilNs = now + NEWS_NS;
            return;
        }
        report.confirm();
        isUnconfirmed &= !applied.equals(etag());
        reportedNs = report.isFull() ? now - REPORT_NS : now;
    }
}
