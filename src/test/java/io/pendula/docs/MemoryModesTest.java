package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The tables of docs/internals/memory-modes.md name what the class files have, and nothing else. */
@Timeout(60)
class MemoryModesTest {
    private static final Path PAGE = Path.of("docs/internals/memory-modes.md");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Set<String> GUARDS =
            Set.of("lock", "monitor", "thread", "hand-over", "published", "copied", "concurrent", "race");
    /** These fill in options, on one thread, until a copy of them is given to an engine. */
    private static final Pattern OF_BUILDERS = Pattern.compile("(Options|Settings|Builder)\\.\\w+");

    private static SharedState code;

    @BeforeAll
    static void read() throws Exception {
        code = SharedState.ofTheLibrary();
    }

    /** The rows of the tables below a heading, without those at their heads. */
    private static List<String[]> rows(String heading) {
        List<String[]> rows = new ArrayList<>();
        boolean inside = false;
        for (String line : Pages.prose(PAGE)) {
            if (line.startsWith("## ")) {
                inside = line.equals("## " + heading);
            } else if (inside && line.startsWith("| ")) {
                rows.add(Stream.of(line.substring(1).split("\\|", -1)).map(String::strip).toArray(String[]::new));
            }
        }
        return rows;
    }

    static List<String> codeOf(String cell) {
        return CODE.matcher(cell).results().map(r -> r.group(1)).toList();
    }

    /** The one guard that a cell begins with. */
    static String guardOf(String cell) {
        return cell.replaceFirst("[ :,;].*", "");
    }

    /** The fields of each row about plain fields, which are named behind their class. */
    static Map<String, String[]> plainRows() {
        Map<String, String[]> byField = new HashMap<>();
        for (String[] row : rows("Plain fields")) {
            List<String> names = codeOf(row[0]);
            for (int i = 1; i < names.size(); i++) {
                String field = names.get(0) + "." + names.get(i);
                assertEquals(null, byField.put(field, row), () -> "in two rows: " + field);
            }
        }
        return byField;
    }

    private static void assertSame(Set<String> inTheCode, Set<String> inTheTable) {
        Set<String> missing = new TreeSet<>(inTheCode);
        missing.removeAll(inTheTable);
        Set<String> gone = new TreeSet<>(inTheTable);
        gone.removeAll(inTheCode);
        assertEquals("missing in the table: [], not in the code: []",
                "missing in the table: " + missing + ", not in the code: " + gone);
    }

    @Test
    void weakAccesses_ofTheLibrary_standInTheTable() {
        Set<String> told = new TreeSet<>();
        for (String[] row : rows("Accesses weaker than volatile")) {
            if (!codeOf(row[0]).isEmpty()) {
                told.add(String.join(" ", codeOf(row[0])) + " " + String.join(" ", codeOf(row[1])));
                assertTrue(!row[2].isEmpty() && row[3].length() > 7, () -> "no argument: " + row[0]);
            }
        }
        assertSame(code.weak, told);
    }

    @Test
    void fences_ofTheLibrary_standInTheTable() {
        Set<String> told = new TreeSet<>();
        for (String[] row : rows("Fences")) {
            List<String> names = codeOf(row[0]);
            if (names.size() == 2 && names.get(1).endsWith("Fence")) {
                told.add(String.join(" ", names));
            }
        }
        assertSame(code.fences, told);
    }

    @Test
    void plainFields_ofTheLibrary_standInATableWithTheirGuard() {
        Map<String, String[]> told = plainRows();
        assertTrue(told.size() > 100, told.keySet()::toString); // the tables were read
        assertSame(code.plain, told.keySet());
        told.forEach((field, row) -> assertTrue(GUARDS.contains(guardOf(row[1])), () -> field + ": " + row[1]));
    }

    /** What a guard means that can be seen in the class files. */
    @Test
    void guards_areWhatTheCodeShows() {
        List<String> wrong = new ArrayList<>();
        plainRows().forEach((field, row) -> {
            Set<String> writers = code.writers.getOrDefault(field, Set.of());
            switch (guardOf(row[1])) {
                case "published" -> writers.stream().filter(w -> !w.endsWith("init>") && !OF_BUILDERS.matcher(w).matches())
                        .forEach(w -> wrong.add(field + " is written by " + w));
                case "copied" -> {
                    if (!code.volatiles.contains(field)) {
                        wrong.add(field + " is not volatile");
                    }
                }
                case "monitor", "hand-over" -> {
                    if (guardOf(row[1]).equals(row[1])) {
                        wrong.add(field + ": " + row[1] + " of what?");
                    }
                }
                default -> { }
            }
        });
        assertEquals(List.of(), wrong);
    }

    /** Each reader without the guard is a method that uses the field, and each race has one. */
    @Test
    void readersWithoutTheGuard_areThere() {
        List<String> wrong = new ArrayList<>();
        plainRows().forEach((field, row) -> {
            Set<String> users = code.users.getOrDefault(field, Set.of());
            List<String> readers = codeOf(row[2]);
            boolean isRace = guardOf(row[1]).equals("race") && !users.isEmpty();
            if (isRace && readers.stream().noneMatch(users::contains) || !readers.isEmpty() && row[3].isEmpty()) {
                wrong.add(field + ": " + readers + ", and it is used by " + users);
            }
            for (String r : readers) {
                if (rowFields(row).noneMatch(f -> code.users.getOrDefault(f, Set.of()).contains(r))) {
                    wrong.add(r + " reads none of " + row[0]);
                }
            }
        });
        assertEquals(List.of(), wrong);
    }

    private static Stream<String> rowFields(String[] row) {
        List<String> names = codeOf(row[0]);
        return names.stream().skip(1).map(n -> names.get(0) + "." + n);
    }

    // ---- what is looked for is found ----

    /** A class with one of each. */
    @SuppressWarnings("unused")
    static final class Sample {
        private static final AtomicLongFieldUpdater<Sample> TICKET_NO =
                AtomicLongFieldUpdater.newUpdater(Sample.class, "ticketNo");
        private static final VarHandle OTHER;
        private final int[] table = new int[1];
        private final Map<String, String> map = new HashMap<>();
        private final long constant = System.nanoTime();
        private volatile long ticketNo;
        private int other;

        static {
            try {
                OTHER = MethodHandles.lookup().findVarHandle(Sample.class, "other", int.class);
            } catch (ReflectiveOperationException e) {
                throw new LinkageError("other", e);
            }
        }

        void access() {
            TICKET_NO.lazySet(this, constant);
            TICKET_NO.set(this, 1);
            OTHER.set(this, 2);
            OTHER.setVolatile(this, (int) OTHER.getAcquire(this));
            VarHandle.acquireFence();
        }
    }

    @Test
    void sample_withOneOfEach_isReadAsItIs() throws Exception {
        SharedState s = new SharedState(
                List.of(MemoryModesTest.class.getResourceAsStream("MemoryModesTest$Sample.class").readAllBytes()));
        String me = "Sample.access ";
        assertEquals(Set.of(me + "ticketNo lazySet", me + "other set", me + "other getAcquire"), s.weak);
        assertEquals(Set.of(me + "acquireFence"), s.fences);
        String fields = "Sample.";
        assertEquals(Set.of(fields + "table", fields + "map", fields + "other"), s.plain);
        assertEquals(Set.of(fields + "ticketNo"), s.volatiles);
    }
}
