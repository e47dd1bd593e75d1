// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/** On which host and in which process this is. */
public final class Place {
    public static final String HOST = findHost(); // null: it is not known
    public static final long PID = findPid(); // 0: it is not known

    private static final int HOST_MAX = 100; // characters in the name of an instance

    private Place() {}

    /**
     * Return a host as an instance can be named by it: what spans say (null: nothing), if it has no
     * colon and no slash, and else what the system says.
     */
    public static String hostOr(String host) {
        boolean isUsable = host != null && host.length() <= HOST_MAX && host.matches("[!-.0-9;-~]+");
        return isUsable ? host : HOST == null ? "java" : HOST; // the number tells instances apart
    }

    private static String findHost() {
        try {
            return new String(Files.readAllBytes(new File("/proc/sys/kernel/hostname").toPath()),
                StandardCharsets.UTF_8).trim();
        } catch (IOException | RuntimeException why) {
            return null; // InetAddress knows a name too, but may ask the network for it
        }
    }

    /** ManagementFactory knows it too, but needs 50 ms to load. */
    private static long findPid() {
        try {
            return Long.parseLong(new File("/proc/self").getCanonicalFile().getName());
        } catch (IOException | RuntimeException why) {
            return 0;
        }
    }
}
