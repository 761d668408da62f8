package io.pendula.search;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.SimpleRemapper;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Puts calls of {@link Hooks} around all that threads share: volatile fields and some others, VarHandles, field
 * updaters, locks, monitors, parks, threads and the clock. Each access becomes the call of a small method that tells the hook and then
 * does it.
 */
final class Rewriter {
    private static final String HOOKS = "io/pendula/search/Hooks";
    private static final String HANDLE = "java/lang/invoke/VarHandle";
    private static final String UPDATERS = "java/util/concurrent/atomic/Atomic";

    private static final Map<String, String> MODELS = Map.of(
            "java/util/concurrent/locks/ReentrantLock", "io/pendula/search/ModelLock",
            "java/util/concurrent/locks/LockSupport", "io/pendula/search/ModelPark",
            "java/util/concurrent/atomic/AtomicReference", "io/pendula/search/ModelReference");

    /** Plain fields that threads read without the lock under which they are written, as hints. */
    private static final Set<String> RACY = Set.of("claimedAt");
    /** So are the entries of a queue as a whole: these change them, */
    private static final Set<String> ENTRY_WRITERS = Set.of("push", "pop", "rekeyTop", "beginSweep", "sweep");
    /** and this one looks at them. */
    private static final String ENTRY_READER = "earliestFrom";
    private static final String ENTRIES = "io/pendula/internal/queue/TimerHeap";
    private static final String NODE = "io/pendula/internal/queue/TimerNode";
    /** Threads that loop, and where a loop begins: there what they have seen before matters no more. */
    private static final Map<String, String> LOOPS = Map.of("io/pendula/internal/workers/Worker", "round");

    /** Worker.BATCH and Compactor.STALE_FLOOR, which the compiler has put in their places. */
    private static final int BATCH = 64;
    private static final int STALE_FLOOR = 1024;
    private static final int CALL_EVERY = 256;

    private final Function<String, ClassNode> library;
    private ClassNode node;
    private String method;
    private final List<MethodNode> made = new ArrayList<>();

    /** {@code library}: its classes by their internal names; null for all others. */
    Rewriter(Function<String, ClassNode> library) {
        this.library = library;
    }

    ClassNode rewrite(ClassNode original) {
        node = new ClassNode();
        original.accept(new ClassRemapper(node, new SimpleRemapper(Opcodes.ASM9, MODELS)));
        if (node.name.equals("io/pendula/internal/workers/Worker")) {
            replaceConstant(BATCH, "batch", Set.of("poll", "help"));
        } else if (node.name.equals("io/pendula/internal/queue/Compactor")) {
            replaceConstant(STALE_FLOOR, "staleFloor", Set.of("<init>", "boundNow"));
            replaceConstant(CALL_EVERY, "callEvery", Set.of("onEntryStale"));
        }
        for (MethodNode m : List.copyOf(node.methods)) {
            if (m.instructions.size() > 0) {
                method = simpleName(node.name) + "." + m.name;
                rewrite(m);
            }
        }
        node.methods.addAll(made);
        return node;
    }

    private static String simpleName(String internalName) {
        return internalName.substring(internalName.lastIndexOf('/') + 1);
    }

    private void rewrite(MethodNode m) {
        if (m.name.equals("tightenSlack")) {
            returnFalse(m); // it tells the kernel
        }
        for (AbstractInsnNode i : m.instructions.toArray()) {
            if (i instanceof FieldInsnNode f) {
                rewriteField(m, f);
            } else if (i instanceof MethodInsnNode c) {
                rewriteCall(m, c);
            } else if (i.getOpcode() == Opcodes.MONITORENTER) {
                m.instructions.set(i, hook("enter", "(Ljava/lang/Object;)V"));
            } else if (i.getOpcode() == Opcodes.MONITOREXIT) {
                m.instructions.set(i, hook("exit", "(Ljava/lang/Object;)V"));
            }
        }
        if (m.name.equals("<init>") && library.apply(node.superName) == null) {
            tellCreation(m);
        }
        if (node.name.equals(ENTRIES) && (ENTRY_WRITERS.contains(m.name) || m.name.equals(ENTRY_READER))
                && (m.access & Opcodes.ACC_PRIVATE) == 0) {
            boolean writes = !m.name.equals(ENTRY_READER);
            int place = Places.add(Places.field("entries"), writes ? "changes" : "looks at", writes, method);
            InsnList touch = new InsnList();
            touch.add(new VarInsnNode(Opcodes.ALOAD, 0));
            touch.add(push(place));
            touch.add(hook("touch", "(Ljava/lang/Object;I)V"));
            m.instructions.insert(touch);
        }
        if (m.name.equals(LOOPS.get(node.name))) {
            InsnList tell = new InsnList();
            tell.add(new VarInsnNode(Opcodes.ALOAD, 0));
            tell.add(hook("loops", "(Ljava/lang/Object;)V"));
            m.instructions.insert(tell);
        }
        if (node.name.equals("io/pendula/internal/engine/Reporter") && m.name.equals("uncaught")) {
            InsnList tell = new InsnList();
            tell.add(new VarInsnNode(Opcodes.ALOAD, 0));
            tell.add(hook("uncaught", "(Ljava/lang/Throwable;)V"));
            tell.add(new InsnNode(Opcodes.RETURN));
            m.instructions = tell;
            m.tryCatchBlocks.clear();
            m.localVariables = null;
        }
        if ((m.access & Opcodes.ACC_SYNCHRONIZED) != 0) {
            wrapSynchronized(m);
        }
    }

    /**
     * The program says how long a batch is. Else no small one would load a worker: it has more to run than a batch as soon
     * as two timers are due. Nor would any have so many stale entries that they are swept.
     */
    private void replaceConstant(int constant, String hook, Set<String> methods) {
        List<String> found = new ArrayList<>();
        for (MethodNode m : node.methods) {
            for (AbstractInsnNode i : m.instructions.toArray()) {
                if (i instanceof IntInsnNode n && n.operand == constant && methods.contains(m.name)) {
                    replace(m, i, hook(hook, "()I"));
                    found.add(m.name);
                }
            }
        }
        if (found.size() != methods.size()) {
            throw new IllegalStateException(constant + " is in " + found + " of " + node.name + ", expected once in " + methods);
        }
    }

    private static void returnFalse(MethodNode m) {
        InsnList body = new InsnList();
        body.add(new InsnNode(Opcodes.ICONST_0));
        body.add(new InsnNode(Opcodes.IRETURN));
        m.instructions = body;
        m.tryCatchBlocks.clear();
        m.localVariables = null;
    }

    private static MethodInsnNode hook(String name, String descriptor) {
        return new MethodInsnNode(Opcodes.INVOKESTATIC, HOOKS, name, descriptor, false);
    }

    private static AbstractInsnNode push(int value) {
        return value <= Short.MAX_VALUE ? new IntInsnNode(Opcodes.SIPUSH, value) : new LdcInsnNode(value);
    }

    private void tellCreation(MethodNode m) {
        for (AbstractInsnNode i : m.instructions.toArray()) {
            if (i instanceof MethodInsnNode c && c.getOpcode() == Opcodes.INVOKESPECIAL && c.name.equals("<init>")
                    && c.owner.equals(node.superName)) {
                InsnList tell = new InsnList();
                tell.add(new VarInsnNode(Opcodes.ALOAD, 0));
                tell.add(hook("created", "(Ljava/lang/Object;)V"));
                m.instructions.insert(i, tell);
                return;
            }
        }
    }

    /** The body becomes a method of its own, called between enter and exit. */
    private void wrapSynchronized(MethodNode m) {
        boolean isStatic = (m.access & Opcodes.ACC_STATIC) != 0;
        MethodNode body = new MethodNode(Opcodes.ACC_PRIVATE | (isStatic ? Opcodes.ACC_STATIC : 0), m.name + "$body",
                m.desc, null, m.exceptions.toArray(new String[0]));
        body.instructions = m.instructions;
        body.tryCatchBlocks = m.tryCatchBlocks;
        made.add(body);
        m.access &= ~Opcodes.ACC_SYNCHRONIZED;
        m.localVariables = null;
        m.tryCatchBlocks = new ArrayList<>();
        InsnList w = new InsnList();
        AbstractInsnNode monitor = monitorOf(isStatic);
        LabelNode from = new LabelNode();
        LabelNode to = new LabelNode();
        LabelNode handler = new LabelNode();
        w.add(monitor);
        w.add(hook("enter", "(Ljava/lang/Object;)V"));
        w.add(from);
        int slot = 0;
        if (!isStatic) {
            w.add(new VarInsnNode(Opcodes.ALOAD, slot++));
        }
        for (Type t : Type.getArgumentTypes(m.desc)) {
            w.add(new VarInsnNode(t.getOpcode(Opcodes.ILOAD), slot));
            slot += t.getSize();
        }
        w.add(new MethodInsnNode(isStatic ? Opcodes.INVOKESTATIC : Opcodes.INVOKESPECIAL, node.name, body.name, m.desc,
                false));
        w.add(to);
        w.add(monitorOf(isStatic));
        w.add(hook("exit", "(Ljava/lang/Object;)V"));
        w.add(new InsnNode(Type.getReturnType(m.desc).getOpcode(Opcodes.IRETURN)));
        w.add(handler);
        w.add(new FrameNode(Opcodes.F_SAME1, 0, null, 1, new Object[] {"java/lang/Throwable"}));
        w.add(monitorOf(isStatic));
        w.add(hook("exit", "(Ljava/lang/Object;)V"));
        w.add(new InsnNode(Opcodes.ATHROW));
        m.tryCatchBlocks.add(new TryCatchBlockNode(from, to, handler, null));
        m.instructions = w;
    }

    private AbstractInsnNode monitorOf(boolean isStatic) {
        return isStatic ? new LdcInsnNode(Type.getObjectType(node.name)) : new VarInsnNode(Opcodes.ALOAD, 0);
    }

    // ---- calls ----

    private void rewriteCall(MethodNode m, MethodInsnNode c) {
        String name = c.owner + "." + c.name;
        switch (name) {
            case "java/lang/invoke/MethodHandles$Lookup.findVarHandle" -> replace(m, c, hook("findVarHandle",
                    "(Ljava/lang/invoke/MethodHandles$Lookup;" + c.desc.substring(1)));
            case "java/lang/invoke/ConstantBootstraps.fieldVarHandle" -> replace(m, c, hook("fieldVarHandle", c.desc));
            case "java/lang/Thread.currentThread" -> replace(m, c, hook("currentThread", c.desc));
            case "java/lang/Thread.interrupted" -> replace(m, c, hook("interrupted", c.desc));
            case "java/lang/Thread.holdsLock" -> replace(m, c, hook("holdsLock", c.desc));
            case "java/lang/Thread.getState" -> replace(m, c, hook("stateOf", ofThread(c)));
            case "java/lang/Thread.isAlive" -> replace(m, c, hook("isAlive", ofThread(c)));
            case "java/lang/Thread.getId" -> replace(m, c, hook("idOf", ofThread(c)));
            case "java/lang/Thread.start" -> replace(m, c, hook("start", ofThread(c)));
            case "java/lang/Runtime.availableProcessors" -> replace(m, c, hook("processors", "(Ljava/lang/Runtime;)I"));
            case "java/lang/System.nanoTime" -> replace(m, c, hook("nanoTime", c.desc));
            default -> {
                if (c.owner.equals(HANDLE) && !c.name.contains("Fence")
                        || isUpdater(c.owner) && !c.name.equals("newUpdater")) {
                    rewriteHandle(m, c);
                } else if (isUpdater(c.owner)) {
                    rewriteNewUpdater(m, c);
                } else if (c.name.equals("wait") && c.desc.equals("()V")) {
                    replace(m, c, hook("await", "(Ljava/lang/Object;)V"));
                } else if (c.name.equals("notifyAll") && c.desc.equals("()V")) {
                    replace(m, c, hook("notifyAll", "(Ljava/lang/Object;)V"));
                }
            }
        }
    }

    private static boolean isUpdater(String type) {
        return type.startsWith(UPDATERS) && type.endsWith("FieldUpdater");
    }

    /** Made by its own class, as it must be, then told to the hook. */
    private void rewriteNewUpdater(MethodNode m, MethodInsnNode c) {
        MethodNode a = accessor(c.desc);
        InsnList b = a.instructions;
        int args = Type.getArgumentTypes(c.desc).length;
        for (int i = 0; i < args; i++) {
            b.add(new VarInsnNode(Opcodes.ALOAD, i));
        }
        b.add(new MethodInsnNode(Opcodes.INVOKESTATIC, c.owner, c.name, c.desc, false));
        b.add(new InsnNode(Opcodes.DUP));
        b.add(new VarInsnNode(Opcodes.ALOAD, args - 1));
        b.add(hook("madeUpdater", "(Ljava/lang/Object;Ljava/lang/String;)V"));
        b.add(new InsnNode(Opcodes.ARETURN));
        replace(m, c, call(a));
    }

    private static String ofThread(MethodInsnNode c) {
        return "(Ljava/lang/Thread;" + c.desc.substring(1);
    }

    private static void replace(MethodNode m, AbstractInsnNode old, AbstractInsnNode by) {
        m.instructions.set(old, by);
    }

    // ---- accesses ----

    private void rewriteField(MethodNode m, FieldInsnNode f) {
        FieldNode field = find(f.owner, f.name);
        boolean isStatic = f.getOpcode() == Opcodes.GETSTATIC || f.getOpcode() == Opcodes.PUTSTATIC;
        if (f.owner.equals(NODE) && f.name.equals("next") && f.getOpcode() == Opcodes.PUTFIELD) {
            rewriteLink(m, f);
            return;
        }
        if (field == null || (field.access & Opcodes.ACC_FINAL) != 0 || isStatic
                || (field.access & Opcodes.ACC_VOLATILE) == 0 && !RACY.contains(f.name)) {
            return;
        }
        boolean writes = f.getOpcode() == Opcodes.PUTFIELD;
        int place = Places.add(Places.field(f.name), writes ? "writes" : "reads", writes, method);
        Type of = Type.getObjectType(f.owner);
        Type type = Type.getType(f.desc);
        MethodNode a = accessor(writes ? Type.getMethodDescriptor(Type.VOID_TYPE, of, type)
                : Type.getMethodDescriptor(type, of));
        InsnList b = a.instructions;
        b.add(new VarInsnNode(Opcodes.ALOAD, 0));
        b.add(push(place));
        b.add(hook("before", "(Ljava/lang/Object;I)V"));
        b.add(new VarInsnNode(Opcodes.ALOAD, 0));
        if (writes) {
            int old = 1 + type.getSize();
            b.add(new FieldInsnNode(Opcodes.GETFIELD, f.owner, f.name, f.desc));
            b.add(new VarInsnNode(type.getOpcode(Opcodes.ISTORE), old));
            b.add(new VarInsnNode(Opcodes.ALOAD, 0));
            b.add(new VarInsnNode(type.getOpcode(Opcodes.ILOAD), 1));
            b.add(new FieldInsnNode(Opcodes.PUTFIELD, f.owner, f.name, f.desc));
            loadWide(b, type, old);
            loadWide(b, type, 1);
            b.add(hook("wrote", "(" + wide(type) + wide(type) + ")V"));
            b.add(new InsnNode(Opcodes.RETURN));
        } else {
            b.add(new FieldInsnNode(Opcodes.GETFIELD, f.owner, f.name, f.desc));
            b.add(new VarInsnNode(type.getOpcode(Opcodes.ISTORE), 1));
            loadWide(b, type, 1);
            b.add(hook("read", "(" + wide(type) + ")V"));
            b.add(new VarInsnNode(type.getOpcode(Opcodes.ILOAD), 1));
            b.add(new InsnNode(type.getOpcode(Opcodes.IRETURN)));
        }
        replace(m, f, call(a));
    }

    private void rewriteLink(MethodNode m, FieldInsnNode f) {
        Type node = Type.getObjectType(f.owner);
        int place = Places.add(Places.field(f.name), "links", true, method);
        MethodNode a = accessor(Type.getMethodDescriptor(Type.VOID_TYPE, node, Type.getType(f.desc)));
        InsnList b = a.instructions;
        b.add(new VarInsnNode(Opcodes.ALOAD, 0));
        b.add(new VarInsnNode(Opcodes.ALOAD, 1));
        b.add(new FieldInsnNode(Opcodes.PUTFIELD, f.owner, f.name, f.desc));
        b.add(new VarInsnNode(Opcodes.ALOAD, 0));
        b.add(new VarInsnNode(Opcodes.ALOAD, 1));
        b.add(push(place));
        b.add(hook("wroteQuietly", "(Ljava/lang/Object;Ljava/lang/Object;I)V"));
        b.add(new InsnNode(Opcodes.RETURN));
        replace(m, f, call(a));
    }

    private FieldNode find(String owner, String name) {
        for (ClassNode c = library.apply(owner); c != null; c = library.apply(c.superName)) {
            for (FieldNode f : c.fields) {
                if (f.name.equals(name)) {
                    return f;
                }
            }
        }
        return null;
    }

    private void rewriteHandle(MethodNode m, MethodInsnNode c) {
        Type[] args = Type.getArgumentTypes(c.desc);
        Type result = Type.getReturnType(c.desc);
        boolean sets = c.name.startsWith("set") || c.name.equals("lazySet");
        boolean gets = c.name.startsWith("get") && !c.name.startsWith("getAnd");
        String operation = sets ? "writes" : gets ? "reads" : c.name.equals("compareAndSet") ? "compares and sets"
                : c.name.equals("getAndSet") ? "swaps" : c.name.equals("getAndAdd") ? "adds to" : null;
        if (operation == null) {
            throw new IllegalArgumentException(c.name + " in " + method);
        }
        if (c.name.equals("set")) {
            rewritePlainSet(m, c, args);
            return;
        }
        int place = Places.add(-1, operation, !gets, method);
        MethodNode a = accessor("(L" + c.owner + ";" + c.desc.substring(1));
        InsnList b = a.instructions;
        b.add(new VarInsnNode(Opcodes.ALOAD, 0));
        b.add(new VarInsnNode(Opcodes.ALOAD, 1));
        b.add(push(place));
        b.add(hook("before", "(Ljava/lang/Object;Ljava/lang/Object;I)V"));
        int slot = 1;
        int lastSlot = 1;
        b.add(new VarInsnNode(Opcodes.ALOAD, 0));
        for (Type t : args) {
            b.add(new VarInsnNode(t.getOpcode(Opcodes.ILOAD), slot));
            lastSlot = slot;
            slot += t.getSize();
        }
        Type last = args[args.length - 1];
        int old = slot;
        if (sets) { // the value before, as only a change makes a variable contended
            InsnList before = new InsnList();
            before.add(new VarInsnNode(Opcodes.ALOAD, 1));
            before.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, c.owner, isUpdater(c.owner) ? "get" : "getVolatile",
                    Type.getMethodDescriptor(field(last), args[0]), false));
            before.add(new VarInsnNode(field(last).getOpcode(Opcodes.ISTORE), old));
            before.add(new VarInsnNode(Opcodes.ALOAD, 0));
            AbstractInsnNode first = b.get(4);
            b.insert(first, before);
        }
        boolean isDropped = !sets && result.getSort() == Type.VOID; // javac has told the handle so
        if (isDropped) {
            result = last;
        }
        b.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, c.owner, c.name, Type.getMethodDescriptor(result, args), false));
        if (!sets) {
            b.add(new VarInsnNode(result.getOpcode(Opcodes.ISTORE), slot));
            if (gets) {
                loadWide(b, result, slot);
                b.add(hook("read", "(" + wide(result) + ")V"));
            } else {
                boolean compares = c.name.equals("compareAndSet");
                if (compares) {
                    b.add(new VarInsnNode(Opcodes.ILOAD, slot));
                    loadWide(b, args[1], 2);
                } else {
                    loadWide(b, result, slot);
                }
                loadWide(b, last, lastSlot);
                b.add(hook(compares ? "compared" : c.name.equals("getAndSet") ? "swapped" : "added",
                        "(" + (compares ? "Z" : "") + wide(last) + wide(last) + ")V"));
            }
            if (!isDropped) {
                b.add(new VarInsnNode(result.getOpcode(Opcodes.ILOAD), slot));
            }
        } else {
            loadWide(b, field(last), old);
            loadWide(b, last, lastSlot);
            b.add(hook("wrote", "(" + wide(last) + wide(last) + ")V"));
        }
        b.add(new InsnNode(isDropped ? Opcodes.RETURN : result.getOpcode(Opcodes.IRETURN)));
        replace(m, c, call(a));
    }

    private void rewritePlainSet(MethodNode m, MethodInsnNode c, Type[] args) {
        MethodNode a = accessor("(L" + HANDLE + ";" + c.desc.substring(1));
        InsnList b = a.instructions;
        b.add(new VarInsnNode(Opcodes.ALOAD, 0));
        b.add(new VarInsnNode(Opcodes.ALOAD, 1));
        b.add(new VarInsnNode(args[1].getOpcode(Opcodes.ILOAD), 2));
        b.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, HANDLE, c.name, c.desc, false));
        b.add(new VarInsnNode(Opcodes.ALOAD, 0));
        b.add(new VarInsnNode(Opcodes.ALOAD, 1));
        loadWide(b, args[1], 2);
        b.add(hook("wroteQuietly", "(L" + HANDLE + ";Ljava/lang/Object;J)V"));
        b.add(new InsnNode(Opcodes.RETURN));
        replace(m, c, call(a));
    }

    /** What a field is read as whose value is passed so: an int may be for a long one. */
    private static Type field(Type passed) {
        return passed.getSort() >= Type.ARRAY ? Type.getObjectType("java/lang/Object") : passed;
    }

    private static String wide(Type t) {
        return t.getSort() >= Type.ARRAY ? "Ljava/lang/Object;" : "J";
    }

    private static void loadWide(InsnList b, Type t, int slot) {
        b.add(new VarInsnNode(t.getOpcode(Opcodes.ILOAD), slot));
        if (t.getSort() < Type.FLOAT) {
            b.add(new InsnNode(Opcodes.I2L));
        }
    }

    private MethodNode accessor(String descriptor) {
        MethodNode a = new MethodNode(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC,
                "$access" + made.size(), descriptor, null, null);
        made.add(a);
        return a;
    }

    private MethodInsnNode call(MethodNode a) {
        return new MethodInsnNode(Opcodes.INVOKESTATIC, node.name, a.name, a.desc,
                (node.access & Opcodes.ACC_INTERFACE) != 0);
    }
}
