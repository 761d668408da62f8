package io.pendula.fray;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.SimpleRemapper;

/**
 * Copies a folder of classes, and puts {@link LongUpdater} and the like in the place of the JDK's field updaters. A worker's
 * batch is two callbacks in the copy, and those that take up to a millisecond count as short: or no scenario would have more
 * of these to run than a batch.
 */
final class Rewriter {
    private static final Map<String, String> NAMES = Map.of("Long", "Long", "Integer", "Int", "Reference", "Reference")
            .entrySet().stream().collect(Collectors.toMap(
                    e -> "java/util/concurrent/atomic/Atomic" + e.getKey() + "FieldUpdater",
                    e -> "io/pendula/fray/" + e.getValue() + "Updater"));

    private static final String WORKER = "io/pendula/internal/workers/Worker";
    /** Its batch, which the compiler has put in its place, and that of the copy. */
    private static final int BATCH = 64;
    private static final int SHORT_BATCH = 2;
    /** From where on callbacks take long, which all would as time passes here, and what takes the place of that. */
    private static final Long LONG_NANOS = 2_000L;
    private static final Long STEPS_NANOS = 1_000_000L;

    private Rewriter() {}

    /** Arguments: the folder, and the folder of the copy. */
    public static void main(String[] args) throws IOException {
        Path from = Path.of(args[0]);
        Path to = Path.of(args[1]);
        List<Path> files;
        try (Stream<Path> all = Files.walk(from)) {
            files = all.filter(f -> f.toString().endsWith(".class") && !f.endsWith("module-info.class")).toList();
        }
        int changed = 0;
        for (Path f : files) {
            byte[] old = Files.readAllBytes(f);
            byte[] rewritten = f.endsWith(WORKER + ".class") ? rewriteWorker(old) : isConcerned(old) ? rewrite(old) : old;
            changed += rewritten == old ? 0 : 1;
            if (isConcerned(rewritten)) {
                throw new IllegalStateException("not rewritten: " + f);
            }
            Path copy = to.resolve(from.relativize(f).toString());
            Files.createDirectories(copy.getParent());
            Files.write(copy, rewritten);
        }
        System.out.println(from + ": " + changed + " of " + files.size() + " classes use field updaters, and were rewritten");
    }

    private static byte[] rewrite(byte[] old) {
        ClassWriter writer = new ClassWriter(0);
        new ClassReader(old).accept(new ClassRemapper(writer, new SimpleRemapper(Opcodes.ASM9, NAMES)), 0);
        return writer.toByteArray();
    }

    private static byte[] rewriteWorker(byte[] old) {
        int[] found = {0};
        ClassWriter writer = new ClassWriter(0);
        new ClassReader(old).accept(new ClassVisitor(Opcodes.ASM9, new ClassRemapper(writer, new SimpleRemapper(Opcodes.ASM9, NAMES))) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
                return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, thrown)) {
                    @Override
                    public void visitIntInsn(int opcode, int operand) {
                        boolean isBatch = operand == BATCH;
                        found[0] += isBatch ? 1 : 0;
                        super.visitIntInsn(opcode, isBatch ? SHORT_BATCH : operand);
                    }

                    @Override
                    public void visitLdcInsn(Object value) {
                        super.visitLdcInsn(value.equals(LONG_NANOS) ? STEPS_NANOS : value);
                    }
                };
            }
        }, 0);
        if (found[0] != 2) {
            throw new IllegalStateException(found[0] + " times " + BATCH + " in " + WORKER + ", but expected where it polls and helps");
        }
        return writer.toByteArray();
    }

    /** No class that only mentions them in a text, as this one does not. */
    private static boolean isConcerned(byte[] code) {
        String text = new String(code, StandardCharsets.ISO_8859_1);
        return NAMES.keySet().stream().anyMatch(text::contains);
    }
}
