package io.pendula.lines;

import static io.pendula.Figures.figure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The tables of docs/internals/scaling.md are what a count finds: up to four threads and workers in each build, all with
 * {@code -Dpendula.full=true}. With {@code -Dfigures=true} it prints the rows.
 */
@Timeout(300)
class LineModelTest {
    private static final Path PAGE = Path.of("docs/internals/scaling.md");
    private static final int MOST = Boolean.getBoolean("pendula.full") ? 16 : 4;
    private static final int[] NUMBERS = IntStream.of(1, 2, 4, 8, 16).filter(n -> n <= MOST).toArray();

    /** Places of figures in a text of {@link LineCounter.Figures}. */
    private static final int WRITTEN = 0;
    private static final int SHARED = 1;
    private static final int READ = 2;
    private static final int CONTENDED = 3;
    private static final int UNPARKS = 4;
    private static final int WRITERS = 5;
    private static final int THREADS = 6;

    private record Cell(int threads, int workers) {}

    private static Map<Cell, Map<String, String>> counted;
    private static List<String> page;

    @BeforeAll
    static void count() throws IOException {
        page = Files.readAllLines(PAGE);
        counted = Arrays.stream(NUMBERS).boxed().flatMap(t -> Arrays.stream(NUMBERS).mapToObj(w -> new Cell(t, w)))
                .collect(Collectors.toMap(c -> c, LineModelTest::count));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> count(Cell c) {
        try {
            return ((BiFunction<Integer, Integer, Map<String, String>>) new LineLoader()
                    .loadClass(LineWorkload.class.getName()).getConstructor().newInstance()).apply(c.threads, c.workers);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String figures(Cell c, String operation, int... which) {
        String[] all = counted.get(c).get(operation).split(", ");
        return Arrays.stream(which).mapToObj(i -> all[i]).collect(Collectors.joining(" | "));
    }

    private static void assertOnPage(Iterable<String> rows) {
        rows.forEach(row -> figure("%s", row));
        List<String> missing = new ArrayList<>();
        rows.forEach(row -> {
            if (!page.contains(row)) {
                missing.add(row);
            }
        });
        assertEquals(List.of(), missing, "rows that are not on " + PAGE);
    }

    /** How many threads share a queue decides, whatever the number of queues. */
    @Test
    void armAndStop_threadsForEachWorker_areAsThePageSays() {
        Set<String> rows = new LinkedHashSet<>();
        counted.keySet().forEach(c -> rows.add("| " + Math.max(1, c.threads / c.workers) + " | "
                + figures(c, "arm", WRITTEN, SHARED, CONTENDED) + " | " + figures(c, "stop", WRITTEN, SHARED, CONTENDED) + " | "
                + figures(c, "filed", WRITTEN, SHARED, CONTENDED) + " | " + figures(c, "arm", WRITERS) + " |"));
        assertEquals(NUMBERS.length, rows.size(), rows::toString);
        assertOnPage(rows);
    }

    @Test
    void fire_byWorkers_isAsThePageSays() {
        List<String> rows = new ArrayList<>();
        for (int n : NUMBERS) {
            Cell c = new Cell(n, n);
            assertEquals(n + "", figures(c, "fire", THREADS)); // each worker fires those of its own queue
            rows.add("| " + n + " | " + figures(c, "fire", WRITTEN, SHARED, READ, CONTENDED) + " |");
        }
        assertOnPage(rows);
    }

    @Test
    void timersThatAreAlone_areAsThePageSays() {
        List<String> rows = new ArrayList<>();
        for (int t : NUMBERS) {
            for (int w : Set.of(1, 4, 16).contains(t) ? NUMBERS : new int[] {t}) {
                rows.add("| " + t + " | " + w + " | "
                        + figures(new Cell(t, w), "alone", WRITTEN, SHARED, READ, CONTENDED, UNPARKS) + " |");
            }
        }
        assertOnPage(rows);
    }

    @Test
    void sharedLines_areAsThePageSays() {
        Map<String, String> of = counted.get(new Cell(4, 2));
        List<String> rows = of.keySet().stream().filter(k -> k.startsWith("lines of ")).flatMap(k -> of.get(k).lines()).toList();
        assertTrue(rows.size() > 5, rows::toString);
        assertOnPage(rows);
    }
}
