// SPDX-License-Identifier: MIT
package pythia.gate;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * Switches for the spans of any OpenTelemetry program in Java, whose code nobody changes:
 *
 *     java -javaagent:pythia-gate.jar -javaagent:opentelemetry-javaagent.jar -jar app.jar
 *
 * or without the second agent, if the program sets its SDK up itself. The SDK's classes are rewritten
 * as they are loaded (Rewriter), and call the classes that are defined beside them (Glue).
 *
 * Environment: PYTHIA_URL (http://127.0.0.1:4318), PYTHIA_SERVICE (service.name of the program's
 * resource), PYTHIA_TOKEN_FILE (a file with a token for the header Authorization), PYTHIA_OFF_FILE
 * (/run/pythia/off: while this file is there everything is closed), PYTHIA_GATE=0 (do nothing).
 */
public final class Premain {
    private static boolean hasComplained;

    private Premain() {}

    public static void premain(String arguments, Instrumentation instrumentation) {
        if ("0".equals(System.getenv("PYTHIA_GATE"))) {
            return;
        }
        try {
            // Loaded now: a transformer that loads its own classes would be called for them.
            Class.forName(Rewriter.class.getName());
            Transformer transformer = new Transformer(new Glue(instrumentation));
            instrumentation.addTransformer(transformer);
            for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
                if (Rewriter.isKnown(loaded.getName().replace('.', '/'))) {
                    complain("-javaagent:pythia-gate.jar has to be before other agents");
                    instrumentation.removeTransformer(transformer);
                    return;
                }
            }
        } catch (Throwable why) {
            complain(why.toString());
        }
    }

    /** Write the one line on standard error that a program gets whose spans cannot be switched. */
    private static synchronized void complain(String why) {
        if (!hasComplained) {
            hasComplained = true;
            System.err.println("pythia-gate: spans cannot be switched: " + why);
        }
    }

    private static final class Transformer implements ClassFileTransformer {
        private final Glue glue;

        Transformer(Glue glue) {
            this.glue = glue;
        }

        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> redefined,
            ProtectionDomain domain, byte[] bytes) {
            if (name == null || redefined != null || !Rewriter.isKnown(name)) {
                return null;
            }
            try {
                Rewriter rewriter = new Rewriter(name, bytes);
                byte[] rewritten = rewriter.rewrite();
                glue.defineFor(loader, domain, rewriter.prefix());
                return rewritten;
            } catch (Throwable why) {
                complain("this SDK of OpenTelemetry has an unknown shape: " + why.getMessage());
                return null;
            }
        }
    }
}
