package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Methods that put right what an Error has broken off, or that end what must come to an end when memory is short: they make
 * no object, link no lambda, and call no collection, which might.
 */
class NeedsNoMemoryTest {
    @ParameterizedTest
    @CsvSource({"LoopWorker, call", "Standby, startFailed", "WakeGate, set", "TimerQueue, endRun", "RunAwaiter, signal",
        "RunAwaiter, leave", "Seat, failed"})
    void method_makesNothing(String className, String method) {
        List<String> makes = new ArrayList<>();
        for (MethodNode m : RewritingLoader.read(LibrarySources.internalName(className)).methods) {
            if (m.name.equals(method)) {
                for (AbstractInsnNode i : m.instructions) {
                    int op = i.getOpcode();
                    if (op == Opcodes.NEW || op == Opcodes.NEWARRAY || op == Opcodes.ANEWARRAY || op == Opcodes.INVOKEDYNAMIC
                            || i instanceof MethodInsnNode call && call.owner.startsWith("java/util/")
                                    && !call.owner.startsWith("java/util/concurrent/locks/")) {
                        makes.add(method + ": opcode " + op);
                    }
                }
                makes.add("seen");
            }
        }
        assertEquals(List.of("seen"), makes);
    }
}
