// SPDX-License-Identifier: MIT
package pythia.gate;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.jar.JarEntry;
import java.util.jar.JarInputStream;
import org.objectweb.asm.ClassReader;

/**
 * Defines the classes of pythia-gate-glue.jar in class loaders that have an SDK.
 *
 * There they find the SDK and the API by the names that these have for each other, in loaders that
 * delegate to nobody as well as in OpenTelemetry's agent, which has both shaded and hidden. Nothing is
 * added to the boot class path, which would cost the JVM its archive of classes. Where the API is
 * shaded, its names in the classes are prefixed, which needs no more than their constant pools.
 */
final class Glue {
    private static final String[] SHADED = {"io/opentelemetry/api/", "io/opentelemetry/context/"};

    private final Instrumentation instrumentation;
    private final Map<ClassLoader, Boolean> done = new WeakHashMap<>();
    private Map<String, byte[]> classes; // by internal names
    private Method define; // ClassLoader.defineClass(); null: not needed yet

    Glue(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** Define the classes in a loader, unless that was done before. */
    synchronized void defineFor(ClassLoader loader, ProtectionDomain domain, String prefix)
        throws IOException, ReflectiveOperationException {
        if (loader == null) {
            throw new IllegalStateException("it is on the boot class path");
        }
        if (done.containsKey(loader)) {
            return;
        }
        if (define == null) {
            define = openDefineClass();
            classes = readClasses();
        }
        done.put(loader, true);
        Map<String, byte[]> left = new LinkedHashMap<>(classes);
        while (!left.isEmpty()) {
            String name = left.keySet().iterator().next();
            defineClass(loader, domain, prefix, name, left);
        }
    }

    /** Interfaces have to be there before the classes that implement them. */
    private void defineClass(ClassLoader loader, ProtectionDomain domain, String prefix, String name,
        Map<String, byte[]> left) throws IOException, ReflectiveOperationException {
        byte[] bytes = left.remove(name);
        for (String above : new ClassReader(bytes).getInterfaces()) {
            if (left.containsKey(above)) {
                defineClass(loader, domain, prefix, above, left);
            }
        }
        byte[] own = prefix.isEmpty() ? bytes : rename(bytes, prefix);
        try {
            define.invoke(loader, name.replace('/', '.'), own, 0, own.length, domain);
        } catch (InvocationTargetException why) {
            throw new IllegalStateException(why.getCause().toString(), why);
        }
    }

    /** ClassLoader.defineClass() is protected, and since JDK 9 its package is to be opened first. */
    private Method openDefineClass() throws ReflectiveOperationException {
        Method found = ClassLoader.class.getDeclaredMethod("defineClass", String.class, byte[].class,
            int.class, int.class, ProtectionDomain.class);
        try {
            Method getModule = Class.class.getMethod("getModule");
            Class<?> module = Class.forName("java.lang.Module");
            Map<String, Set<?>> opens = new HashMap<>();
            opens.put("java.lang", Collections.singleton(getModule.invoke(Glue.class)));
            Instrumentation.class.getMethod("redefineModule", module, Set.class, Map.class, Map.class,
                Set.class, Map.class).invoke(instrumentation, getModule.invoke(Object.class),
                    Collections.emptySet(), Collections.emptyMap(), opens, Collections.emptySet(),
                    Collections.emptyMap());
        } catch (NoSuchMethodException why) {
            // JDK 8 has no modules
        }
        found.setAccessible(true);
        return found;
    }

    private static Map<String, byte[]> readClasses() throws IOException {
        Map<String, byte[]> found = new LinkedHashMap<>();
        InputStream resource = Glue.class.getResourceAsStream("/pythia-gate-glue.jar");
        if (resource == null) {
            throw new IOException("the jar has no glue");
        }
        try (JarInputStream jar = new JarInputStream(resource)) {
            JarEntry entry;
            while ((entry = jar.getNextJarEntry()) != null) {
                String name = entry.getName();
                if (name.endsWith(".class")) {
                    found.put(name.substring(0, name.length() - ".class".length()), readAll(jar));
                }
            }
        }
        return found;
    }

    private static byte[] readAll(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] piece = new byte[8192];
        int got;
        while ((got = in.read(piece)) > 0) {
            out.write(piece, 0, got);
        }
        return out.toByteArray();
    }

    // ---- names ----

    /** Put a prefix before the names of the API's classes, wherever they are in the constant pool. */
    private static byte[] rename(byte[] bytes, String prefix) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        ByteArrayOutputStream buffer = new ByteArrayOutputStream(bytes.length * 2);
        DataOutputStream out = new DataOutputStream(buffer);
        out.writeLong(in.readLong()); // magic, version
        int count = in.readUnsignedShort();
        out.writeShort(count);
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            out.writeByte(tag);
            if (tag == 1) {
                out.writeUTF(prefixed(in.readUTF(), prefix));
                continue;
            }
            for (int left = sizeOf(tag); left > 0; left--) {
                out.writeByte(in.readUnsignedByte());
            }
            i += tag == 5 || tag == 6 ? 1 : 0; // a long and a double take two places
        }
        byte[] rest = readAll(in);
        out.write(rest, 0, rest.length);
        return buffer.toByteArray();
    }

    private static String prefixed(String text, String prefix) {
        String renamed = text;
        for (String name : SHADED) {
            renamed = renamed.replace(name, prefix + name);
        }
        return renamed;
    }

    /** Return how many bytes follow the tag of a constant (JVM specification, 4.4). */
    private static int sizeOf(int tag) throws IOException {
        switch (tag) {
        case 7: // Class
        case 8: // String
        case 16: // MethodType
            return 2;
        case 15: // MethodHandle
            return 3;
        case 5: // Long
        case 6: // Double
            return 8;
        case 3: // Integer
        case 4: // Float
        case 9: // Fieldref
        case 10: // Methodref
        case 11: // InterfaceMethodref
        case 12: // NameAndType
        case 18: // InvokeDynamic
            return 4;
        default:
            throw new IOException("a constant has tag " + tag);
        }
    }
}
