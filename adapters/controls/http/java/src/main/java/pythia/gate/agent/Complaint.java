// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.util.concurrent.atomic.AtomicBoolean;

/** The one line on standard error that a program gets whose spans cannot be switched. */
public final class Complaint {
    private static final AtomicBoolean WRITTEN = new AtomicBoolean();

    private Complaint() {}

    public static void write(Throwable why) {
        if (WRITTEN.compareAndSet(false, true)) {
            String said = why instanceof IllegalArgumentException ? why.getMessage() : why.toString();
            System.err.println("pythia-gate: spans cannot be switched: " + said);
        }
    }
}
