package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a program that uses the library can see of it: the public types, and nothing of the inside. */
@Timeout(60)
class PublicApiTest {
    private static List<Class<?>> publicTypes() throws IOException, URISyntaxException, ClassNotFoundException {
        Path classes = Path.of(Timer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<Class<?>> found = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes.resolve("io/pendula"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).sorted().toList()) {
                String name = file.getFileName().toString();
                if (name.equals("package-info.class")) {
                    continue;
                }
                Class<?> c = Class.forName("io.pendula." + name.substring(0, name.length() - ".class".length()), false,
                        Timer.class.getClassLoader());
                if (isVisible(c)) {
                    found.add(c);
                }
            }
        }
        return found;
    }

    private static boolean isVisible(Class<?> c) {
        return Modifier.isPublic(c.getModifiers()) && (c.getDeclaringClass() == null || isVisible(c.getDeclaringClass()));
    }

    private static boolean isVisible(Member m) {
        return Modifier.isPublic(m.getModifiers()) || Modifier.isProtected(m.getModifiers());
    }

    private static void check(Class<?> used, Object where, List<String> found) {
        Class<?> c = used;
        while (c.isArray()) {
            c = c.getComponentType();
        }
        if (c.getName().startsWith("io.pendula.") && !isVisible(c)) {
            found.add(where + " names " + c.getName());
        }
    }

    @Test
    void publicTypes_nameNothingOfTheInside() throws Exception {
        List<String> found = new ArrayList<>();
        List<Class<?>> types = publicTypes();
        assertTrue(types.contains(Timer.class) && types.contains(TimerScheduler.Builder.class), types::toString);
        for (Class<?> type : types) {
            Arrays.stream(type.getInterfaces()).forEach(i -> check(i, type, found));
            List<Executable> executables = new ArrayList<>(Arrays.asList(type.getDeclaredConstructors()));
            for (Class<?> c = type; c != null && c.getName().startsWith("io.pendula."); c = c.getSuperclass()) {
                executables.addAll(Arrays.asList(c.getDeclaredMethods())); // those of a class that is not public, too
            }
            for (Executable e : executables) {
                if (isVisible(e) && !e.isSynthetic()) {
                    Arrays.stream(e.getParameterTypes()).forEach(p -> check(p, e, found));
                    if (e instanceof Method m) {
                        check(m.getReturnType(), m, found);
                    }
                }
            }
            for (Field f : type.getDeclaredFields()) {
                if (isVisible(f)) {
                    check(f.getType(), f, found);
                }
            }
        }
        assertEquals(List.of(), found);
    }

    private static Set<String> members(Class<?> type) {
        Set<String> names = new TreeSet<>();
        for (Method m : type.getMethods()) {
            if (m.getDeclaringClass() != Object.class) {
                names.add(m.getName());
            }
        }
        for (Field f : type.getFields()) {
            names.add(f.getName());
        }
        return names;
    }

    @Test
    void timerTickerAndAlarm_haveTheDocumentedMembersAndNoOthers() {
        assertEquals(Set.of("after", "cancel", "cancelAndAwait", "isPending", "latenessNanos", "remaining", "reset", "runner",
                "schedulerName", "stop", "task", "toString"), members(Timer.class));
        assertEquals(Set.of("every", "cancel", "cancelAndAwait", "close", "isPending", "latenessNanos", "missed",
                "remaining", "reset", "runner", "schedulerName", "stop", "task", "tickNow", "ticksInRun",
                "toString"), members(Ticker.class));
        assertEquals(Set.of("after", "every", "await", "cancel", "cancelAndAwait", "close", "isPending", "latenessNanos", "missed",
                "remaining", "reset", "runner", "schedulerName", "stop", "task", "toString"), members(Alarm.class));
    }

    /** Nobody but the library implements them, so a method may be added. */
    @Test
    void timerTickerAndAlarm_areSealed() {
        assertEquals(List.of(Timer.class, Ticker.class, Alarm.class, WallTimer.class, SchedulerExecutor.Task.class),
                List.of(TimerHandle.class.getPermittedSubclasses()));
        assertEquals(List.of(OneShotTimer.class), List.of(Timer.class.getPermittedSubclasses()));
        assertEquals(List.of(PeriodicTimer.class), List.of(Ticker.class.getPermittedSubclasses()));
        assertEquals(List.of(OneShotAlarm.class, PeriodicAlarm.class), List.of(Alarm.class.getPermittedSubclasses()));
    }
}
