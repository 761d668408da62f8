package io.pendula.docs;

import io.pendula.TimerScheduler;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** What the class files of a library say of the fields that threads may share: how they are accessed, and where. */
final class SharedState {
    private static final String ATOMIC = "java/util/concurrent/atomic/";
    private static final String HANDLE = "java/lang/invoke/VarHandle";
    /** Part of the name of each operation that is weaker than a volatile one. */
    private static final List<String> WEAK = List.of("lazy", "opaque", "acquire", "release", "plain", "weak");

    private final Map<String, ClassNode> classes = new HashMap<>();
    /** "Class.method field mode" of each access that is weaker than volatile. */
    final Set<String> weak = new TreeSet<>();
    /** "Class.method fence". */
    final Set<String> fences = new TreeSet<>();
    /** "Class.field" of each field whose accesses, or those to what it holds, are plain. */
    final Set<String> plain = new TreeSet<>();
    /** By "Class.field", the "Class.method" that read or write it. */
    final Map<String, Set<String>> users = new TreeMap<>();
    /** By "Class.field", the "Class.method" that write it. */
    final Map<String, Set<String>> writers = new TreeMap<>();
    /** "Class.field" of each volatile one. */
    final Set<String> volatiles = new TreeSet<>();

    static SharedState ofTheLibrary() throws IOException, URISyntaxException {
        List<byte[]> classes = new ArrayList<>();
        Path root = Path.of(TimerScheduler.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (Stream<Path> files = Files.walk(root)) {
            for (Path f : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                classes.add(Files.readAllBytes(f));
            }
        }
        return new SharedState(classes);
    }

    SharedState(List<byte[]> classFiles) {
        for (byte[] classFile : classFiles) {
            ClassNode c = new ClassNode();
            new ClassReader(classFile).accept(c, 0);
            classes.put(c.name, c);
        }
        classes.values().forEach(this::add);
    }

    private void add(ClassNode c) {
        for (FieldNode f : c.fields) {
            String field = simpleName(c.name) + "." + f.name;
            if (isPlain(f)) {
                plain.add(field);
            }
            if ((f.access & Opcodes.ACC_VOLATILE) != 0) {
                volatiles.add(field);
            }
        }
        for (MethodNode m : c.methods) {
            String method = simpleName(c.name) + "." + m.name;
            for (AbstractInsnNode i : m.instructions) {
                if (i instanceof FieldInsnNode f) {
                    String field = nameOf(f);
                    users.computeIfAbsent(field, k -> new TreeSet<>()).add(method);
                    if (f.getOpcode() == Opcodes.PUTFIELD || f.getOpcode() == Opcodes.PUTSTATIC) {
                        writers.computeIfAbsent(field, k -> new TreeSet<>()).add(method);
                    }
                } else if (i instanceof MethodInsnNode call) {
                    addCall(method, call);
                }
            }
        }
    }

    boolean has(String internalName) {
        return classes.containsKey(internalName);
    }

    /** "Class.field", with the class that declares it, as an instruction may name a subclass. */
    String nameOf(FieldInsnNode f) {
        FieldInsnNode of = find(f.owner, f.name);
        return simpleName(of == null ? f.owner : of.owner) + "." + f.name;
    }

    /** Reads a field of an object of this class. */
    FieldInsnNode get(String owner, String name) {
        FieldInsnNode f = find(owner, name);
        if (f == null) {
            throw new IllegalArgumentException("no field " + name + " in " + owner);
        }
        return f;
    }

    /** Null if no class of the library declares it. */
    private FieldInsnNode find(String owner, String name) {
        for (ClassNode c = classes.get(owner); c != null; c = classes.get(c.superName)) {
            for (FieldNode f : c.fields) {
                if (f.name.equals(name)) {
                    return new FieldInsnNode(Opcodes.GETFIELD, c.name, name, f.desc);
                }
            }
        }
        return null;
    }

    private void addCall(String method, MethodInsnNode call) {
        boolean isHandle = call.owner.equals(HANDLE);
        if (!isHandle && !call.owner.startsWith(ATOMIC)) {
            return;
        }
        String name = call.name.toLowerCase(Locale.ROOT);
        if (name.contains("fence")) {
            fences.add(method + " " + call.name);
        } else if (WEAK.stream().anyMatch(name::contains) || isHandle && (name.equals("get") || name.equals("set"))) {
            weak.add(method + " " + fieldOf(call) + " " + call.name);
        }
    }

    /** That of the constant through which it is accessed, which comes before it; LOOK_AT is the handle of lookAt. */
    private static String fieldOf(MethodInsnNode call) {
        AbstractInsnNode i = call;
        while (!(i instanceof FieldInsnNode f && f.desc.equals("L" + call.owner + ";"))) {
            i = i.getPrevious();
            if (i == null) {
                return "?";
            }
        }
        String[] words = ((FieldInsnNode) i).name.toLowerCase(Locale.ROOT).split("_", -1);
        StringBuilder name = new StringBuilder(words[0]);
        for (int w = 1; w < words.length; w++) {
            name.append(words[w].substring(0, 1).toUpperCase(Locale.ROOT)).append(words[w].substring(1));
        }
        return name.toString();
    }

    /**
     * A field that is neither final nor volatile; or one that holds an array or a collection that is not made for several
     * threads, whose contents are plain whatever the field is.
     */
    private static boolean isPlain(FieldNode f) {
        boolean isPadding = f.name.matches("p\\d\\d");
        if ((f.access & Opcodes.ACC_SYNTHETIC) != 0 || isPadding) {
            return false;
        }
        Type type = Type.getType(f.desc);
        String name = type.getSort() == Type.OBJECT ? type.getInternalName() : "";
        return (f.access & (Opcodes.ACC_FINAL | Opcodes.ACC_VOLATILE)) == 0 || type.getSort() == Type.ARRAY
                || name.startsWith("java/util/") && name.indexOf('/', "java/util/".length()) < 0;
    }

    /** Of a nested class without the one around it, as sources name it. */
    static String simpleName(String internalName) {
        return internalName.replaceFirst(".*[/$](?=\\D)", "");
    }
}
