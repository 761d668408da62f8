package io.pendula.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Timer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** What the jar tells GraalVM's native-image, compared with the classes: there is no such compiler in the build. */
class NativeImageTest {
    private static final String FOLDER = "META-INF/native-image/io.pendula/pendula/";

    /** What has another answer where an image is built than where it runs. */
    private static final Set<String> OF_THE_MACHINE = Set.of("java/lang/System.nanoTime",
            "java/lang/System.currentTimeMillis", "java/lang/System.getProperty", "java/lang/Runtime.availableProcessors",
            "java/lang/Runtime.maxMemory", "java/lang/Thread.start");
    private static final Set<String> LOOK_UPS = Set.of("newUpdater", "fieldVarHandle", "staticFieldVarHandle",
            "findVarHandle", "findStaticVarHandle", "findVirtual", "findStatic", "forName", "getMethod", "getMethods",
            "getDeclaredMethod", "getField", "getDeclaredField", "getConstructor", "getDeclaredConstructor");
    private static final Pattern ENTRY = Pattern.compile("\\{\"name\": \"([\\w.$]+)\", \"(?:fields|methods)\": \\[(.*)]}");
    private static final Pattern MEMBER = Pattern.compile("\"name\": \"(\\w+)\"");

    private static final Map<String, ClassNode> CLASSES = classes();

    private static Map<String, ClassNode> classes() {
        Map<String, ClassNode> classes = new HashMap<>();
        try (Stream<Path> files = Files.walk(root())) {
            for (Path f : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                ClassNode node = new ClassNode();
                new ClassReader(Files.readAllBytes(f)).accept(node, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                classes.put(node.name, node);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return classes;
    }

    private static Path root() throws Exception {
        return Path.of(Timer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static String read(String name) throws Exception {
        return Files.readString(root().resolve(FOLDER + name));
    }

    // ---- classes that are initialized at run time ----

    @Test
    void initializeAtRunTime_namesTheClassesWhoseInitializersAskTheMachine() throws Exception {
        Properties file = new Properties();
        try (var in = Files.newBufferedReader(root().resolve(FOLDER + "native-image.properties"))) {
            file.load(in);
        }
        String args = file.getProperty("Args");
        String option = "--initialize-at-run-time=";
        assertTrue(args.startsWith(option) && !args.contains(" "), args);
        Set<String> expected = new TreeSet<>();
        for (ClassNode c : CLASSES.values()) {
            if (methods(c).containsKey("<clinit>()V") && asksTheMachine(c.name)) {
                expected.add(c.name.replace('/', '.'));
            }
        }
        assertEquals(expected, new TreeSet<>(List.of(args.substring(option.length()).split(","))));
        assertTrue(expected.contains("io.pendula.internal.queue.HoldLock"), expected::toString);
    }

    /** Follows the calls from a class's initializer, as far as they stay in the library and name the method. */
    private static boolean asksTheMachine(String initialized) {
        Deque<String> open = new ArrayDeque<>(List.of(initialized + ".<clinit>()V"));
        Set<String> seen = new HashSet<>(open);
        while (!open.isEmpty()) {
            String next = open.pop();
            int dot = next.indexOf('.');
            ClassNode c = CLASSES.get(next.substring(0, dot));
            MethodNode m = c == null ? null : methods(c).get(next.substring(dot + 1));
            if (m == null) {
                continue;
            }
            for (AbstractInsnNode i : m.instructions) {
                if (i instanceof MethodInsnNode call) {
                    if (OF_THE_MACHINE.contains(call.owner + "." + call.name)) {
                        return true;
                    }
                    if (seen.add(call.owner + "." + call.name + call.desc)) {
                        open.push(call.owner + "." + call.name + call.desc);
                    }
                }
            }
        }
        return false;
    }

    private static Map<String, MethodNode> methods(ClassNode c) {
        Map<String, MethodNode> methods = new HashMap<>();
        c.methods.forEach(m -> methods.put(m.name + m.desc, m));
        return methods;
    }

    // ---- look-ups by reflection ----

    @Test
    void reflectConfig_namesWhatIsLookedUp() throws Exception {
        Set<String> listed = new TreeSet<>();
        read("reflect-config.json").lines().filter(line -> line.contains("{")).forEach(line -> {
            Matcher entry = ENTRY.matcher(line);
            assertTrue(entry.find(), line);
            Matcher member = MEMBER.matcher(entry.group(2));
            while (member.find()) {
                listed.add(entry.group(1) + "." + member.group(1));
            }
        });
        Set<String> lookedUp = new TreeSet<>();
        for (ClassNode c : CLASSES.values()) {
            for (MethodNode m : c.methods) {
                addLookUps(c, m, lookedUp);
            }
        }
        // Of a task's class, whatever that is; if it is not found, the name of the class stands for the task.
        assertTrue(lookedUp.remove("io.pendula.internal.util.Texts.toString"), lookedUp::toString);
        assertEquals(lookedUp, listed);
        assertTrue(listed.size() > 5, listed::toString);
    }

    /** Class and name are constants, which the compiler puts right before the call. */
    private static void addLookUps(ClassNode c, MethodNode m, Set<String> lookedUp) {
        Set<String> types = new LinkedHashSet<>();
        String name = null;
        for (AbstractInsnNode i : m.instructions) {
            if (i instanceof LdcInsnNode ldc && ldc.cst instanceof Type type) {
                types.add(type.getClassName());
            } else if (i instanceof LdcInsnNode ldc && ldc.cst instanceof String text) {
                name = text;
            } else if (i instanceof MethodInsnNode call && LOOK_UPS.contains(call.name) && call.owner.startsWith("java/")) {
                types.remove("java.lang.invoke.VarHandle");
                String type = types.isEmpty() ? c.name.replace('/', '.') : types.iterator().next();
                lookedUp.add(type + "." + name);
                types.clear();
                name = null;
            }
        }
    }

    /** Each class and each member that the files name. */
    @Test
    void namedClassesAndMembers_exist() throws Exception {
        for (String line : read("reflect-config.json").lines().filter(line -> line.contains("io.pendula")).toList()) {
            Matcher entry = ENTRY.matcher(line);
            assertTrue(entry.find(), line);
            Class<?> type = Class.forName(entry.group(1), false, Timer.class.getClassLoader());
            Matcher member = MEMBER.matcher(entry.group(2));
            while (member.find()) {
                type.getDeclaredField(member.group(1)); // throws if there is none
            }
        }
    }
}
