package io.pendula.search;

import io.pendula.LibrarySources;
import io.pendula.internal.queue.WakeGate;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/** A step of the production code that is left out, or made in another way: a call or a store in one method. */
final class Fault {
    private final String className;
    private final String method;
    /** Name of the method that is called, or of the field that is written. */
    private final String target;
    /** Which of them, from 0; -1 for all. */
    private final int number;
    /** What the call returns instead. */
    private final int result;
    /** What happens instead of a call that is left out: gets the method, and where. Or null. */
    private final BiConsumer<MethodNode, AbstractInsnNode> instead;
    /** Nothing is left out, but {@code instead} done before it. */
    private final boolean stays;
    private boolean planted;

    private Fault(String className, String method, String target, int number, int result,
            BiConsumer<MethodNode, AbstractInsnNode> instead) {
        this(className, method, target, number, result, instead, false);
    }

    private Fault(String className, String method, String target, int number, int result,
            BiConsumer<MethodNode, AbstractInsnNode> instead, boolean stays) {
        this.instead = instead;
        this.stays = stays;
        this.className = LibrarySources.internalName(className);
        this.method = method;
        this.target = target;
        this.number = number;
        this.result = result;
    }

    /** Nothing is called, and {@code result} returned: a number, 1 for true; 0 also for null. */
    static Fault noCall(String className, String method, String target, int number, int result) {
        return new Fault(className, method, target, number, result, null);
    }

    /** Nothing is written. */
    static Fault noStore(String className, String method, String field, int number) {
        return new Fault(className, method, field, number, 0, null);
    }

    /** The call is made with another last argument, which is a long. */
    static Fault lastArgument(String className, String method, String target, int number, long argument) {
        return new Fault(className, method, target, number, 0, (m, at) -> {
            m.instructions.insertBefore(at, new InsnNode(Opcodes.POP2));
            m.instructions.insertBefore(at, new LdcInsnNode(argument));
        }, true);
    }

    /** The method reads a field of type long before all else, and not where it did. */
    static Fault readsFirst(String className, String method, String field) {
        return new Fault(className, method, field, 0, 0, (m, at) -> {
            FieldInsnNode read = (FieldInsnNode) at;
            InsnList first = new InsnList();
            first.add(new VarInsnNode(Opcodes.ALOAD, 0));
            first.add(new FieldInsnNode(read.getOpcode(), read.owner, read.name, read.desc));
            first.add(new VarInsnNode(Opcodes.LSTORE, m.maxLocals));
            m.instructions.insert(first);
            m.instructions.insertBefore(at, new InsnNode(Opcodes.POP));
            m.instructions.insertBefore(at, new VarInsnNode(Opcodes.LLOAD, m.maxLocals));
            m.instructions.remove(at);
            m.maxLocals += 2;
        }, true);
    }

    /** A worker that polls says at the gate that it is awake. */
    static Fault takesTheGateUp() {
        String gate = LibrarySources.internalName("WakeGate");
        return new Fault("DueTimers", "pollOne", "lockToRun", 0, 0, (m, at) -> {
            InsnList set = new InsnList();
            set.add(new VarInsnNode(Opcodes.ALOAD, 0));
            set.add(new FieldInsnNode(Opcodes.GETFIELD, LibrarySources.internalName("DueTimers"), "gate", "L" + gate + ";"));
            set.add(new LdcInsnNode(WakeGate.AWAKE));
            set.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, gate, "set", "(J)V", false));
            m.instructions.insert(set);
        }, true);
    }

    /** Who arms looks at the gate, then pushes. */
    static Fault looksBeforePush() {
        return new Fault("TimerQueue", "arm", "wakeIfBefore", 0, 0, (m, at) -> {
            for (AbstractInsnNode i : m.instructions.toArray()) {
                if (i instanceof MethodInsnNode c && c.name.equals("push")) {
                    m.instructions.insertBefore(i, wakeFor(2));
                }
            }
        });
    }

    /** Who pushes a timer wakes for the deadline of the own reset, not for the one that the word holds then. */
    static Fault wakesForOwnDeadline() {
        return new Fault("TimerQueue", "tryPost", "wakeFor", 0, 0,
                (m, at) -> m.instructions.insertBefore(at, wakeFor(4)));
    }

    private static InsnList wakeFor(int variable) {
        InsnList call = new InsnList();
        call.add(new VarInsnNode(Opcodes.ALOAD, 0));
        call.add(new VarInsnNode(Opcodes.LLOAD, variable));
        call.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, LibrarySources.internalName("TimerQueue"), "wakeIfBefore",
                "(J)V", false));
        return call;
    }

    boolean isPlanted() {
        return planted;
    }

    void plantIn(ClassNode c) {
        if (!c.name.equals(className)) {
            return;
        }
        int n = 0;
        for (MethodNode m : c.methods) {
            if (m.name.equals(method)) {
                for (AbstractInsnNode i : m.instructions.toArray()) {
                    if (isTarget(i)) {
                        if (number < 0 || n == number) {
                            leaveOut(m, i);
                            planted = true;
                        }
                        n++;
                    }
                }
            }
        }
        if (!planted) {
            throw new IllegalArgumentException("nothing to leave out: " + this);
        }
    }

    private boolean isTarget(AbstractInsnNode i) {
        return i instanceof MethodInsnNode c && c.name.equals(target)
                || i instanceof FieldInsnNode f && f.name.equals(target)
                && (f.getOpcode() == (stays ? Opcodes.GETFIELD : Opcodes.PUTFIELD) || f.getOpcode() == Opcodes.PUTSTATIC);
    }

    private void leaveOut(MethodNode m, AbstractInsnNode i) {
        if (stays) {
            instead.accept(m, i);
            return;
        }
        List<Type> stack = new ArrayList<>();
        Type returned = Type.VOID_TYPE;
        if (i instanceof MethodInsnNode c) {
            if (c.getOpcode() != Opcodes.INVOKESTATIC) {
                stack.add(Type.getObjectType(c.owner));
            }
            stack.addAll(List.of(Type.getArgumentTypes(c.desc)));
            returned = Type.getReturnType(c.desc);
        } else if (i instanceof FieldInsnNode f) {
            if (f.getOpcode() == Opcodes.PUTFIELD) {
                stack.add(Type.getObjectType(f.owner));
            }
            stack.add(Type.getType(f.desc));
        }
        InsnList instead = new InsnList();
        for (int k = stack.size() - 1; k >= 0; k--) {
            instead.add(new InsnNode(stack.get(k).getSize() == 2 ? Opcodes.POP2 : Opcodes.POP));
        }
        switch (returned.getSort()) {
            case Type.VOID -> { }
            case Type.LONG -> instead.add(new InsnNode(result == 0 ? Opcodes.LCONST_0 : Opcodes.LCONST_1));
            case Type.OBJECT, Type.ARRAY -> instead.add(new InsnNode(Opcodes.ACONST_NULL));
            default -> instead.add(new InsnNode(Opcodes.ICONST_0 + result));
        }
        if (this.instead != null) {
            this.instead.accept(m, i);
        }
        m.instructions.insert(i, instead);
        m.instructions.remove(i);
    }

    @Override
    public String toString() {
        return className.substring(className.lastIndexOf('/') + 1) + "." + method + " without " + target
                + (number > 0 ? " (" + (number + 1) + ")" : "");
    }
}
