// SPDX-License-Identifier: MIT
package pythia.gate;

import static org.objectweb.asm.Opcodes.ACC_PRIVATE;
import static org.objectweb.asm.Opcodes.ACC_PUBLIC;
import static org.objectweb.asm.Opcodes.ACC_SYNTHETIC;
import static org.objectweb.asm.Opcodes.ACC_TRANSIENT;
import static org.objectweb.asm.Opcodes.ALOAD;
import static org.objectweb.asm.Opcodes.ARETURN;
import static org.objectweb.asm.Opcodes.ASM9;
import static org.objectweb.asm.Opcodes.GETFIELD;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.LLOAD;
import static org.objectweb.asm.Opcodes.PUTFIELD;
import static org.objectweb.asm.Opcodes.RETURN;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;

/**
 * Rewrites a class of the SDK, so that it calls PythiaGate. All decisions are made there, in Java;
 * here are only calls:
 *
 *     SdkTracer         its constructor tells that there is a tracer
 *     SdkSpanBuilder    startSpan() asks; what it was is pythia$start()
 *     SdkSpan           has a hit; endInternal() and updateName() tell; the first was pythia$end();
 *                       its resource also names the host and the process
 *     OpenTelemetrySdk  getPropagators() gives propagators that send the type of a request too
 *
 * A class that lacks what is needed is refused with an IllegalStateException, and stays as it is.
 */
final class Rewriter {
    private static final String TRACE = "io/opentelemetry/sdk/trace/";
    private static final String GATE = TRACE + "PythiaGate";
    private static final String TRACER = TRACE + "SdkTracer", BUILDER = TRACE + "SdkSpanBuilder";
    private static final String SPAN = TRACE + "SdkSpan";
    private static final String RESOURCE = "Lio/opentelemetry/sdk/resources/Resource;";
    private static final String SDK = "io/opentelemetry/sdk/OpenTelemetrySdk";
    private static final List<String> KNOWN = Arrays.asList(TRACER, BUILDER, SPAN, SDK);
    private static final String API = "io/opentelemetry/api/";

    private final String name;
    private final ClassReader reader;
    private final ClassWriter writer;
    private final String prefix;
    private final Map<String, String> fields = new HashMap<>(); // descriptors by name
    private int rewritten; // methods

    Rewriter(String name, byte[] bytes) {
        this.name = name;
        reader = new ClassReader(bytes);
        writer = new ClassWriter(reader, 0);
        prefix = findPrefix();
    }

    /** Is it a class that has to be rewritten? name is internal, with slashes. */
    static boolean isKnown(String name) {
        return name.startsWith("io/opentelemetry/sdk/") && KNOWN.contains(name);
    }

    /** Return what is put before the names of the API's classes where they are shaded; else "". */
    String prefix() {
        return prefix;
    }

    private String findPrefix() {
        char[] buffer = new char[reader.getMaxStringLength()];
        for (int i = 1; i < reader.getItemCount(); i++) {
            int item = reader.getItem(i);
            if (item == 0 || reader.readByte(item - 1) != 7) { // no CONSTANT_Class
                continue;
            }
            String used = reader.readUTF8(item, buffer);
            int at = used.indexOf(API);
            if (at >= 0 && !used.startsWith("[")) {
                return used.substring(0, at);
            }
        }
        throw new IllegalStateException(name + " does not use the API");
    }

    private String type(String apiClass) {
        return "L" + prefix + "io/opentelemetry/" + apiClass + ";";
    }

    private String field(String field, String descriptor) {
        if (!descriptor.equals(fields.get(field))) {
            throw new IllegalStateException(name + "." + field + " is " + fields.get(field));
        }
        return descriptor;
    }

    byte[] rewrite() {
        int wanted = name.equals(SPAN) ? 2 : 1;
        reader.accept(new Visitor(), 0);
        if (rewritten < wanted) {
            throw new IllegalStateException(name + " lacks a method");
        }
        return writer.toByteArray();
    }

    /** Passes everything on, but for the methods that are rewritten. */
    private final class Visitor extends ClassVisitor {
        Visitor() {
            super(ASM9, writer);
        }

        @Override
        public void visit(int version, int access, String self, String signature, String superName,
            String[] interfaces) {
            String[] all = interfaces;
            if (name.equals(BUILDER) || name.equals(SPAN)) {
                all = Arrays.copyOf(interfaces, interfaces.length + 1);
                all[interfaces.length] = TRACE + (name.equals(SPAN) ? "PythiaSpan" : "PythiaBuilder");
            }
            super.visit(version, access, self, null, superName, all);
        }

        @Override
        public FieldVisitor visitField(int access, String field, String descriptor, String signature,
            Object value) {
            fields.put(field, descriptor);
            return super.visitField(access, field, descriptor, signature, value);
        }

        @Override
        public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
            String[] exceptions) {
            String to = method;
            int toAccess = access;
            if (name.equals(BUILDER) && is(method, descriptor, "startSpan", "()" + type("api/trace/Span"))) {
                to = "pythia$start";
            } else if (name.equals(SPAN) && is(method, descriptor, "endInternal", "(J)V")) {
                to = "pythia$end";
                toAccess = access & ~ACC_PRIVATE | ACC_PUBLIC;
            }
            rewritten += to.equals(method) ? 0 : 1;
            MethodVisitor out = super.visitMethod(toAccess, to, descriptor, signature, exceptions);
            if (name.equals(TRACER) && method.equals("<init>")) {
                rewritten++;
                return new TellTracer(out);
            }
            if (name.equals(SPAN) && method.equals("<init>")) {
                return new NamePlace(out);
            }
            if (name.equals(SPAN) && is(method, descriptor, "updateName", "(Ljava/lang/String;)L" + TRACE
                + "ReadWriteSpan;")) {
                rewritten++;
                return new TellName(out);
            }
            if (name.equals(SDK) && is(method, descriptor, "getPropagators", "()"
                + type("context/propagation/ContextPropagators"))) {
                rewritten++;
                return new AddTypes(out);
            }
            return out;
        }

        private boolean is(String method, String descriptor, String wanted, String wantedDescriptor) {
            return method.equals(wanted) && descriptor.equals(wantedDescriptor);
        }

        @Override
        public void visitEnd() {
            if (name.equals(TRACER)) {
                field("sharedState", "L" + TRACE + "TracerSharedState;");
            } else if (name.equals(BUILDER)) {
                addStart();
            } else if (name.equals(SPAN)) {
                addHit();
                addEnd();
            }
            super.visitEnd();
        }

        private void addStart() {
            String attributes = fields.getOrDefault("attributes", "");
            if (!attributes.startsWith("L")) {
                throw new IllegalStateException(name + " has no attributes");
            }
            String[][] arguments = {{"spanName", "Ljava/lang/String;"},
                {"instrumentationScopeInfo", "Lio/opentelemetry/sdk/common/InstrumentationScopeInfo;"},
                {"tracerSharedState", "L" + TRACE + "TracerSharedState;"},
                {"parent", type("context/Context")}, {"spanKind", type("api/trace/SpanKind")},
                {"attributes", attributes}, {"links", "Ljava/util/List;"}};
            String span = type("api/trace/Span");
            MethodVisitor out = super.visitMethod(ACC_PUBLIC, "startSpan", "()" + span, null, null);
            StringBuilder descriptor = new StringBuilder("(L" + TRACE + "PythiaBuilder;");
            out.visitCode();
            out.visitVarInsn(ALOAD, 0);
            for (String[] argument : arguments) {
                out.visitVarInsn(ALOAD, 0);
                out.visitFieldInsn(GETFIELD, name, argument[0], field(argument[0], argument[1]));
                descriptor.append(argument[0].equals("attributes") ? type("api/common/Attributes")
                    : argument[1]);
            }
            out.visitMethodInsn(INVOKESTATIC, GATE, "start", descriptor + ")" + span, false);
            out.visitInsn(ARETURN);
            out.visitMaxs(arguments.length + 1, 1);
            out.visitEnd();
        }

        private void addHit() {
            String any = "Ljava/lang/Object;", hit = "pythia$hit";
            super.visitField(ACC_PRIVATE | ACC_TRANSIENT | ACC_SYNTHETIC, hit, any, null, null);
            MethodVisitor out = super.visitMethod(ACC_PUBLIC, hit, "()" + any, null, null);
            out.visitCode();
            out.visitVarInsn(ALOAD, 0);
            out.visitFieldInsn(GETFIELD, name, hit, any);
            out.visitInsn(ARETURN);
            out.visitMaxs(1, 1);
            out.visitEnd();
            out = super.visitMethod(ACC_PUBLIC, "pythia$setHit", "(" + any + ")V", null, null);
            out.visitCode();
            out.visitVarInsn(ALOAD, 0);
            out.visitVarInsn(ALOAD, 1);
            out.visitFieldInsn(PUTFIELD, name, hit, any);
            out.visitInsn(RETURN);
            out.visitMaxs(2, 2);
            out.visitEnd();
        }

        private void addEnd() {
            MethodVisitor out = super.visitMethod(ACC_PRIVATE, "endInternal", "(J)V", null, null);
            out.visitCode();
            out.visitVarInsn(ALOAD, 0);
            out.visitVarInsn(LLOAD, 1);
            out.visitMethodInsn(INVOKESTATIC, GATE, "end", "(L" + SPAN + ";J)V", false);
            out.visitInsn(RETURN);
            out.visitMaxs(3, 3);
            out.visitEnd();
        }
    }

    private final class TellTracer extends MethodVisitor {
        TellTracer(MethodVisitor out) {
            super(ASM9, out);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == RETURN) {
                String state = "L" + TRACE + "TracerSharedState;";
                super.visitVarInsn(ALOAD, 0);
                super.visitFieldInsn(GETFIELD, name, "sharedState", state);
                super.visitMethodInsn(INVOKESTATIC, GATE, "begin", "(" + state + ")V", false);
            }
            super.visitInsn(opcode);
        }
    }

    /** An SDK whose spans have no such field names what the program does. */
    private static final class NamePlace extends MethodVisitor {
        NamePlace(MethodVisitor out) {
            super(ASM9, out);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String field, String descriptor) {
            if (opcode == PUTFIELD && field.equals("resource") && descriptor.equals(RESOURCE)) {
                super.visitMethodInsn(INVOKESTATIC, GATE, "named", "(" + RESOURCE + ")" + RESOURCE,
                    false);
            }
            super.visitFieldInsn(opcode, owner, field, descriptor);
        }
    }

    private static final class TellName extends MethodVisitor {
        TellName(MethodVisitor out) {
            super(ASM9, out);
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitVarInsn(ALOAD, 0);
            super.visitVarInsn(ALOAD, 1);
            super.visitMethodInsn(INVOKESTATIC, GATE, "rename",
                "(L" + SPAN + ";Ljava/lang/String;)V", false);
        }
    }

    private final class AddTypes extends MethodVisitor {
        AddTypes(MethodVisitor out) {
            super(ASM9, out);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == ARETURN) {
                String propagators = type("context/propagation/ContextPropagators");
                super.visitMethodInsn(INVOKESTATIC, GATE, "propagators",
                    "(" + propagators + ")" + propagators, false);
            }
            super.visitInsn(opcode);
        }
    }
}
