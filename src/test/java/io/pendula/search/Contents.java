package io.pendula.search;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A number for what is in an object's plain fields, so that two ways to the same contents are one state. */
public final class Contents {
    /** Figures that decide nothing. */
    private static final Set<String> FIGURES = Set.of("fired", "stolen", "maxLateness", "most", "swept",
            "removed", "rounds", "pulse", "armingPulse", "seenPulse", "depth", "visits", "unfired");
    private static final Map<Class<?>, Field[]> FIELDS = new ConcurrentHashMap<>();

    private Contents() {}

    /**
     * Of all plain fields that are numbers or in the library's small parts.
     *
     * @param of whose fields; not followed further than to objects of the classes in {@code parts}
     * @param parts simple names of classes; of other objects of the library only which they are counts
     * @param skipped names of fields that do not count
     */
    public static long of(Object of, Set<String> parts, Set<String> skipped) {
        long h = 1;
        try {
            for (Field f : FIELDS.computeIfAbsent(of.getClass(), Contents::fields)) {
                if (skipped.contains(f.getName())) {
                    continue;
                }
                long value;
                Class<?> type = f.getType();
                if (type == long.class) {
                    value = f.getLong(of);
                } else if (type == int.class) {
                    value = f.getInt(of);
                } else if (type == boolean.class) {
                    value = f.getBoolean(of) ? 1 : 0;
                } else {
                    Object o = f.get(of);
                    value = o == null ? 0 : parts.contains(o.getClass().getSimpleName()) ? of(o, parts, skipped)
                            : type.getSimpleName().equals("TimerNode") ? Hooks.keyOf(o) : 0;
                }
                h = Variable.mix(h ^ Variable.mix(value));
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        return h;
    }

    private static Field[] fields(Class<?> c) {
        List<Field> all = new ArrayList<>();
        for (Class<?> k = c; k != null && k.getName().startsWith("io.pendula."); k = k.getSuperclass()) {
            for (Field f : k.getDeclaredFields()) {
                boolean plain = !Modifier.isStatic(f.getModifiers()) && !Modifier.isVolatile(f.getModifiers())
                        && !FIGURES.contains(f.getName()) && !f.getName().matches("p\\d\\d");
                Class<?> t = f.getType();
                boolean primitive = t == long.class || t == int.class || t == boolean.class;
                if (plain && (primitive ? !Modifier.isFinal(f.getModifiers()) : !f.getType().isPrimitive())) {
                    f.setAccessible(true);
                    all.add(f);
                }
            }
        }
        return all.toArray(new Field[0]);
    }

    /** Puts a number behind another. */
    public static long mix(long h, long value) {
        return Variable.mix(h ^ Variable.mix(value));
    }
}
