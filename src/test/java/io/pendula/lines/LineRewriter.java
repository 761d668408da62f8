package io.pendula.lines;

import java.util.ArrayList;
import java.util.List;
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

/**
 * Puts a call of {@link LineCounter} before each access of a field or an array, through handles and updaters too, and lets
 * {@link LineTurns} stand for threads, parks and the clock. The search's rewriter is no use here: it sees what threads race
 * for, and not the plain fields and arrays that make up most of the lines.
 */
final class LineRewriter {
    private static final String COUNTER = "io/pendula/lines/LineCounter";
    private static final String TURNS = "io/pendula/lines/LineTurns";
    private static final String HANDLE = "java/lang/invoke/VarHandle";
    private static final String ATOMIC = "java/util/concurrent/atomic/";
    private static final String LOCK = "java/util/concurrent/locks/ReentrantLock";
    private static final String OBJECT = "Ljava/lang/Object;";

    private final ClassNode node;
    private final List<MethodNode> made = new ArrayList<>();

    LineRewriter(ClassNode node) {
        this.node = node;
    }

    void rewrite() {
        for (MethodNode m : node.methods) {
            boolean isConstructor = m.name.equals("<init>");
            for (AbstractInsnNode i : m.instructions.toArray()) {
                if (i instanceof MethodInsnNode c) {
                    rewriteCall(m, c);
                } else if (i instanceof FieldInsnNode f && !isConstructor) {
                    m.instructions.insertBefore(f, field(f));
                } else if (i.getOpcode() == Opcodes.RETURN && isConstructor) {
                    m.instructions.insertBefore(i, onThis("created"));
                } else if (i.getOpcode() == Opcodes.MONITORENTER) {
                    m.instructions.insertBefore(i, list(new InsnNode(Opcodes.DUP), count("locks", "(" + OBJECT + ")V")));
                } else {
                    m.instructions.insertBefore(i, array(i.getOpcode()));
                }
            }
            if ((m.access & (Opcodes.ACC_SYNCHRONIZED | Opcodes.ACC_STATIC)) == Opcodes.ACC_SYNCHRONIZED) {
                m.instructions.insert(onThis("locks"));
            }
        }
        node.methods.addAll(made);
    }

    private static InsnList list(AbstractInsnNode... all) {
        InsnList list = new InsnList();
        for (AbstractInsnNode i : all) {
            list.add(i);
        }
        return list;
    }

    private static InsnList onThis(String hook) {
        return list(new VarInsnNode(Opcodes.ALOAD, 0), count(hook, "(" + OBJECT + ")V"));
    }

    private static MethodInsnNode count(String name, String descriptor) {
        return new MethodInsnNode(Opcodes.INVOKESTATIC, COUNTER, name, descriptor, false);
    }

    private static InsnList field(FieldInsnNode f) {
        LdcInsnNode name = new LdcInsnNode(f.name);
        if (f.getOpcode() == Opcodes.GETFIELD) {
            return list(new InsnNode(Opcodes.DUP), name, count("reads", "(" + OBJECT + "Ljava/lang/String;)V"));
        }
        if (f.getOpcode() != Opcodes.PUTFIELD) {
            return new InsnList();
        }
        AbstractInsnNode hook = count("writes", "(" + OBJECT + "Ljava/lang/String;)V");
        return Type.getType(f.desc).getSize() == 1
                ? list(new InsnNode(Opcodes.DUP2), new InsnNode(Opcodes.POP), name, hook)
                : list(new InsnNode(Opcodes.DUP2_X1), new InsnNode(Opcodes.POP2), new InsnNode(Opcodes.DUP_X2), name, hook);
    }

    private static InsnList array(int opcode) {
        String element = "(" + OBJECT + "I)V";
        if (opcode >= Opcodes.IALOAD && opcode <= Opcodes.SALOAD) {
            return list(new InsnNode(Opcodes.DUP2), count("readsAt", element));
        }
        if (opcode == Opcodes.LASTORE || opcode == Opcodes.DASTORE) {
            return list(new InsnNode(Opcodes.DUP2_X2), new InsnNode(Opcodes.POP2), new InsnNode(Opcodes.DUP2_X2),
                    count("writesAt", element));
        }
        return opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE
                ? list(new InsnNode(Opcodes.DUP_X2), new InsnNode(Opcodes.POP), new InsnNode(Opcodes.DUP2_X1),
                        count("writesAt", element))
                : new InsnList();
    }

    private void rewriteCall(MethodNode m, MethodInsnNode c) {
        boolean isAtomic = c.owner.startsWith(ATOMIC);
        boolean isUpdater = isAtomic && c.owner.endsWith("FieldUpdater");
        if (c.name.equals("newUpdater") || c.name.equals("fieldVarHandle")) {
            wrap(m, c, false);
        } else if (isUpdater || c.owner.equals(HANDLE) && !c.name.contains("Fence")
                || (isAtomic || c.owner.equals(LOCK) && c.name.matches("lock|tryLock|unlock")) && !c.name.equals("<init>")) {
            wrap(m, c, true);
        } else if (c.owner.equals("java/util/concurrent/locks/LockSupport")) {
            replace(m, c, c.desc);
        } else if (c.owner.equals("java/lang/Thread") && c.name.matches("currentThread|interrupted")) {
            replace(m, c, c.desc);
        } else if (c.owner.equals("java/lang/Thread") && c.name.matches("getId|start|getState|isAlive")) {
            replace(m, c, "(Ljava/lang/Thread;" + c.desc.substring(1));
        } else if (c.name.equals("nanoTime") && c.owner.equals("java/lang/System")) {
            replace(m, c, c.desc);
        } else if (c.name.equals("availableProcessors")) {
            replace(m, c, "(Ljava/lang/Runtime;)I");
        }
    }

    private static void replace(MethodNode m, MethodInsnNode c, String descriptor) {
        m.instructions.set(c, new MethodInsnNode(Opcodes.INVOKESTATIC, TURNS, c.name, descriptor, false));
    }

    /** The call moves to a method of its own, which tells the counter before that, or of a handle that is made after it. */
    private void wrap(MethodNode m, MethodInsnNode c, boolean isAccess) {
        boolean isStatic = c.getOpcode() == Opcodes.INVOKESTATIC;
        boolean isOfSuper = c.getOpcode() == Opcodes.INVOKESPECIAL; // of a lock that this class extends
        String receiver = isStatic ? "" : "L" + (isOfSuper ? node.name : c.owner) + ";";
        MethodNode a = new MethodNode(Opcodes.ACC_PRIVATE | Opcodes.ACC_SYNTHETIC | (isOfSuper ? 0 : Opcodes.ACC_STATIC),
                "$line" + made.size(), isOfSuper ? c.desc : "(" + receiver + c.desc.substring(1), null, null);
        made.add(a);
        InsnList b = a.instructions;
        Type[] args = Type.getArgumentTypes("(" + receiver + c.desc.substring(1));
        int[] slots = new int[args.length];
        for (int i = 0, slot = 0; i < args.length; slot += args[i++].getSize()) {
            slots[i] = slot;
            b.add(new VarInsnNode(args[i].getOpcode(Opcodes.ILOAD), slot));
        }
        if (isAccess) {
            boolean hasTarget = c.owner.endsWith("FieldUpdater") || c.owner.equals(HANDLE);
            b.insert(list(new VarInsnNode(Opcodes.ALOAD, 0), new VarInsnNode(Opcodes.ALOAD, hasTarget ? 1 : 0),
                    new LdcInsnNode(c.name), count("accesses", "(" + OBJECT + OBJECT + "Ljava/lang/String;)V")));
        }
        b.add(new MethodInsnNode(c.getOpcode(), c.owner, c.name, c.desc, c.itf));
        if (!isAccess) {
            boolean isHandle = c.name.equals("fieldVarHandle");
            b.add(list(new InsnNode(Opcodes.DUP), new VarInsnNode(Opcodes.ALOAD, slots[isHandle ? 1 : args.length - 1]),
                    count("made", "(" + OBJECT + "Ljava/lang/String;)V")));
        }
        b.add(new InsnNode(Type.getReturnType(c.desc).getOpcode(Opcodes.IRETURN)));
        boolean isInterface = (node.access & Opcodes.ACC_INTERFACE) != 0;
        m.instructions.set(c, new MethodInsnNode(isOfSuper ? Opcodes.INVOKESPECIAL : Opcodes.INVOKESTATIC, node.name, a.name,
                a.desc, isInterface));
    }
}
