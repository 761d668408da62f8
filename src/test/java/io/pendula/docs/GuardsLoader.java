package io.pendula.docs;

import io.pendula.RewritingLoader;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.SimpleRemapper;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Loads the library and its tests once more; before each access of a field that has a guard, {@link Guards} is asked. */
final class GuardsLoader extends RewritingLoader {
    private static final String GUARDS = Type.getInternalName(Guards.class);
    private static final String OBJECT = "Ljava/lang/Object;";

    /** By "Class.field", what guards it: "lock", or the path to a monitor from the object, as "this" or "engine.lifecycle". */
    private final Map<String, String> guards;
    /** By "Class.field", the "Class.method" that may do without. */
    private final Map<String, Set<String>> exempt;
    private final SharedState code;

    GuardsLoader(Map<String, String> guards, Map<String, Set<String>> exempt, SharedState code) {
        setDefaultAssertionStatus(true);
        this.guards = guards;
        this.exempt = exempt;
        this.code = code;
    }

    @Override
    protected boolean isOwn(String name) {
        return !name.startsWith(Guards.class.getName());
    }

    @Override
    protected byte[] rewritten(ClassNode from) {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        (code.has(from.name) ? guarded(from) : from).accept(writer);
        return writer.toByteArray();
    }

    private ClassNode guarded(ClassNode from) {
        ClassNode node = new ClassNode();
        from.accept(from.name.endsWith("/HoldLock") ? new ClassRemapper(node, new SimpleRemapper(Opcodes.ASM9,
                Map.of("java/util/concurrent/locks/ReentrantLock", Type.getInternalName(Guards.CountedLock.class)))) : node);
        for (MethodNode m : node.methods) {
            if (!m.name.endsWith("init>")) { // what a constructor writes, no other thread knows
                for (AbstractInsnNode i : m.instructions.toArray()) {
                    if (i instanceof FieldInsnNode f) {
                        m.instructions.insertBefore(i, question(node, m, f));
                    }
                }
            }
        }
        return node;
    }

    private InsnList question(ClassNode in, MethodNode m, FieldInsnNode f) {
        InsnList ask = new InsnList();
        String field = code.nameOf(f);
        String method = SharedState.simpleName(in.name) + "." + m.name;
        String guard = guards.get(field);
        if (guard == null || exempt.getOrDefault(field, Set.of()).contains(method)) {
            return ask;
        }
        String access = field + " in " + method;
        if (guard.equals("lock")) {
            ask.add(new LdcInsnNode(access));
            ask.add(new MethodInsnNode(Opcodes.INVOKESTATIC, GUARDS, "lock", "(Ljava/lang/String;)V", false));
        } else if (f.owner.equals(in.name) && (m.access & Opcodes.ACC_STATIC) == 0) { // the object is most likely this one
            ask.add(new VarInsnNode(Opcodes.ALOAD, 0));
            String owner = in.name;
            for (String step : guard.equals("this") ? List.<String>of() : List.of(guard.split("\\."))) {
                FieldInsnNode get = code.get(owner, step);
                ask.add(get);
                owner = Type.getType(get.desc).getInternalName();
            }
            ask.add(new LdcInsnNode(access));
            ask.add(new MethodInsnNode(Opcodes.INVOKESTATIC, GUARDS, "monitor", "(" + OBJECT + "Ljava/lang/String;)V", false));
        }
        return ask;
    }
}
