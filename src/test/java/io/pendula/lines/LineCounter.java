package io.pendula.lines;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.NumberFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/**
 * Counts which lines of 64 bytes each thread reads and writes. Each object and each array begins a line. In an object 16
 * bytes of header come first, then the fields of the superclass, and of one class the large ones first. What the JDK's own
 * objects consist of is one line: a lock, an atomic number.
 */
public final class LineCounter {
    private static final int LINE_BYTES = 64;
    private static final int HEADER_BYTES = 16;
    private static final int REFERENCE_BYTES = 4;
    private static final double FEW = 0.01;
    private static final int MOST_NAMES = 5;

    private static final class Line {
        private final String owner;
        private final Set<String> written = new TreeSet<>();
        private final Map<String, Variable> variables = new HashMap<>();
        private long writers;

        private Line(String owner) {
            this.owner = owner;
        }

        private boolean isWrittenByOthers(Operation than) {
            return (writers & ~than.thread) != 0;
        }

        /** Of an object that is written all over the class says enough. */
        private String name() {
            return written.size() > MOST_NAMES ? owner : owner + " (" + String.join(", ", written) + ")";
        }
    }

    /** What a compare-and-set changes. */
    private static final class Variable {
        private long writers;
    }

    /** What one thread has touched in one operation. */
    private static final class Window {
        private final Set<Line> read = new HashSet<>();
        private final Set<Line> written = new HashSet<>();
        private final List<Variable> compared = new ArrayList<>();
        private int unparks;
    }

    private record Operation(long thread, Window window) {}

    /** Of one line that threads share: how often an operation writes it, and how many threads do. */
    private record Shared(double perOperation, int writers) {}

    /**
     * Per operation: lines written; of these by others, too; lines that were only read, and that others write;
     * compare-and-sets of what others write; threads that were unparked. And the most threads that write one line; how
     * many threads have made such an operation.
     */
    record Figures(double written, double shared, double read, double contended, double unparks, int writers, int threads,
            Map<String, Shared> lines) {
        String text() {
            NumberFormat number = new DecimalFormat("0.##", DecimalFormatSymbols.getInstance(Locale.ROOT));
            return DoubleStream.of(written, shared, read, contended, unparks, writers, threads).mapToObj(number::format)
                    .collect(Collectors.joining(", "));
        }

        /** Of a table of the lines that others write, too; but for those that few operations write. */
        String rows(String operation) {
            return lines.entrySet().stream().filter(e -> e.getValue().perOperation >= FEW)
                    .map(e -> String.format(Locale.ROOT, "| %s | %s | %.2f | %d |%n", operation, e.getKey(),
                            e.getValue().perOperation, e.getValue().writers)).collect(Collectors.joining());
        }
    }

    private static final Map<Class<?>, Map<String, Integer>> LAYOUTS = new HashMap<>();
    private static final Map<Object, String> HANDLES = new IdentityHashMap<>();
    private static Map<Object, Map<Integer, Line>> lines = new IdentityHashMap<>();
    private static Map<String, List<Operation>> operations = new TreeMap<>();
    private static Window[] open = new Window[LineTurns.MOST_THREADS];
    private static boolean counts;

    private LineCounter() {}

    // ---- operations ----

    /** From now on; what was counted is forgotten. */
    static void begin() {
        lines = new IdentityHashMap<>();
        operations = new TreeMap<>();
        open = new Window[LineTurns.MOST_THREADS];
        counts = true;
    }

    static void end() {
        counts = false;
    }

    /** What the calling thread touches from now on is its next operation. */
    static void open() {
        open[LineTurns.me().index] = new Window();
    }

    /** The calling thread's operation ends, if it has begun one. */
    static void close(String name) {
        close(name, LineTurns.me().index);
    }

    private static void close(String name, int thread) {
        if (counts && open[thread] != null) {
            operations.computeIfAbsent(name, n -> new ArrayList<>()).add(new Operation(1L << thread, open[thread]));
            open[thread] = null;
        }
    }

    /** What all threads have touched since they were opened, for so many operations together. */
    static void closeAll(String name) {
        for (int i = 0; i < open.length; i++) {
            close(name, i);
        }
    }

    static void openAll() {
        Arrays.setAll(open, i -> new Window());
    }

    /** {@code count} operations, or as many as windows if 0. */
    static Figures figures(String operation, int count) {
        List<Operation> all = operations.get(operation);
        double n = count == 0 ? all.size() : count;
        double written = 0;
        double read = 0;
        double contended = 0;
        double unparks = 0;
        Map<String, List<Line>> shared = new TreeMap<>();
        for (Operation o : all) {
            written += o.window.written.size();
            unparks += o.window.unparks;
            contended += o.window.compared.stream().filter(v -> (v.writers & ~o.thread) != 0).count();
            read += o.window.read.stream().filter(l -> l.isWrittenByOthers(o) && !o.window.written.contains(l)).count();
            o.window.written.stream().filter(l -> l.isWrittenByOthers(o))
                    .forEach(l -> shared.computeIfAbsent(l.name(), k -> new ArrayList<>()).add(l));
        }
        Map<String, Shared> each = new TreeMap<>();
        shared.forEach((name, l) -> each.put(name, new Shared(l.size() / n,
                l.stream().mapToInt(i -> Long.bitCount(i.writers)).max().orElseThrow())));
        long threads = all.stream().mapToLong(Operation::thread).reduce(0, (a, b) -> a | b);
        return new Figures(written / n, shared.values().stream().mapToInt(List::size).sum() / n, read / n, contended / n,
                unparks / n, each.values().stream().mapToInt(Shared::writers).max().orElse(1),
                Long.bitCount(threads), each);
    }

    // ---- accesses ----

    public static void reads(Object o, String field) {
        if (counts) {
            touch(o, offset(o.getClass(), field), field, false);
        }
    }

    public static void writes(Object o, String field) {
        if (counts) {
            touch(o, offset(o.getClass(), field), field, true);
        }
    }

    public static void readsAt(Object array, int i) {
        atIndex(array, i, false);
    }

    public static void writesAt(Object array, int i) {
        atIndex(array, i, true);
    }

    private static void atIndex(Object array, int i, boolean writes) {
        if (counts) {
            touch(array, HEADER_BYTES + i * size(array.getClass().getComponentType()), "elements", writes);
        }
    }

    /** A constructor has ended: the memory was set to zero. */
    public static void created(Object o) {
        if (counts) {
            layout(o.getClass()).forEach((field, offset) -> touch(o, offset, field, true));
        }
    }

    public static void locks(Object monitor) {
        if (counts) {
            touch(monitor, 0, "monitor", true);
            compares(monitor, 0, "monitor");
        }
    }

    /** By a method of a handle or an updater; or of an object of the JDK, which is the handle itself then. */
    public static void accesses(Object handle, Object o, String operation) {
        if (!counts) {
            return;
        }
        boolean isJdk = handle == o;
        String field = isJdk ? "lock".equals(operation) || operation.endsWith("Lock") || "unlock".equals(operation) ? "lock"
                : "value" : HANDLES.get(handle);
        int offset = isJdk ? -1 : offset(o.getClass(), field);
        boolean reads = operation.startsWith("get") && !operation.startsWith("getAnd") || operation.equals("sum");
        touch(o, offset, field, !reads);
        if (operation.startsWith("compareAnd") || field.equals("lock") && !operation.equals("unlock")) {
            compares(o, offset, field);
        }
    }

    public static void made(Object handle, String field) {
        HANDLES.put(handle, field);
    }

    static void unparks() {
        Window w = open[LineTurns.me().index];
        if (counts && w != null) {
            w.unparks++;
        }
    }

    private static Line line(Object o, int offset) {
        return lines.computeIfAbsent(o, k -> new HashMap<>())
                .computeIfAbsent(Math.floorDiv(offset, LINE_BYTES), k -> new Line(o.getClass().getSimpleName()));
    }

    private static void touch(Object o, int offset, String field, boolean writes) {
        int me = LineTurns.me().index;
        Line l = line(o, offset);
        Window w = open[me];
        if (!writes) {
            if (w != null) {
                w.read.add(l);
            }
            return;
        }
        l.writers |= 1L << me;
        l.written.add(field);
        l.variables.computeIfAbsent(field, k -> new Variable()).writers |= 1L << me;
        if (w != null) {
            w.written.add(l);
        }
    }

    private static void compares(Object o, int offset, String field) {
        Window w = open[LineTurns.me().index];
        if (w != null) {
            w.compared.add(line(o, offset).variables.get(field));
        }
    }

    // ---- layout ----

    private static int offset(Class<?> c, String field) {
        return layout(c).get(field);
    }

    private static Map<String, Integer> layout(Class<?> c) {
        Map<String, Integer> known = LAYOUTS.get(c);
        if (known != null) {
            return known;
        }
        Map<String, Integer> layout = new HashMap<>();
        layOut(c, layout);
        LAYOUTS.put(c, layout);
        return layout;
    }

    private static int layOut(Class<?> c, Map<String, Integer> layout) {
        if (c == null) {
            return HEADER_BYTES;
        }
        int at = layOut(c.getSuperclass(), layout);
        Field[] own = Arrays.stream(c.getDeclaredFields()).filter(f -> !Modifier.isStatic(f.getModifiers()))
                .sorted(Comparator.comparing((Field f) -> f.getType().isPrimitive() ? -size(f.getType()) : 0))
                .toArray(Field[]::new);
        for (Field f : own) {
            int size = size(f.getType());
            at = (at + size - 1) / size * size;
            layout.put(f.getName(), at);
            at += size;
        }
        return at;
    }

    private static int size(Class<?> type) {
        return !type.isPrimitive() ? REFERENCE_BYTES : type == long.class || type == double.class ? 8
                : type == int.class || type == float.class ? 4 : type == short.class || type == char.class ? 2 : 1;
    }
}
