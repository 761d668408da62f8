package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each row of the table has its method, and its row on the page; there is no other. The adapters' tests ask for the rest. */
class FigureTableTest {
    private static final Path PAGE = Path.of("docs/observability.md");

    private static Set<String> methods(Class<?> type) {
        return Stream.of(type.getMethods()).filter(m -> !Modifier.isStatic(m.getModifiers()) && m.getParameterCount() == 0
                && (m.getReturnType() == long.class || m.getReturnType() == int.class) && m.getDeclaringClass() != Object.class)
                .map(Method::getName).filter(name -> !name.equals("maxLatenessNanos") && !name.equals("hashCode"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void rows_areTheMethods() {
        Set<String> all = TimerStats.Figure.all().stream().map(TimerStats.Figure::id).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(all, methods(TimerStats.class));
        Set<String> byQueue = TimerStats.Figure.all().stream().filter(TimerStats.Figure::isByQueue).map(TimerStats.Figure::id)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(byQueue, methods(TimerStats.Queue.class));
    }

    /** Of two schedulers, one of which has done something of everything that needs no blocked thread. */
    @Test
    void get_isWhatTheMethodTells() throws Exception {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).slowCallback(Duration.ofDays(1)).maxPending(1_000).build()) {
            for (int i = 0; i < 10; i++) {
                s.after(Duration.ofSeconds(i), () -> {});
            }
            Timer last = s.after(Duration.ofSeconds(20), () -> {});
            last.reset(Duration.ofSeconds(30));
            s.after(Duration.ofSeconds(40), () -> {}).cancel();
            clock.advance(Duration.ofMillis(4_500));
            TimerStats stats = s.stats();
            for (TimerStats.Figure f : TimerStats.Figure.all()) {
                Number told = (Number) TimerStats.class.getMethod(f.id()).invoke(stats);
                assertEquals(told.longValue(), stats.get(f), f.id());
                TimerStats.Queue queue = stats.queues().get(0);
                assertEquals(f.isByQueue() ? told.longValue() : 0, queue.get(f), f.id() + " of the only queue");
            }
            assertEquals(List.of(13L, 5L, 1L, 1L, 6L, 5L), List.of(stats.armed(), stats.fired(), stats.stopped(), stats.resets(),
                    stats.pending(), stats.callbacksMeasured()));
            assertTrue(stats.toString().startsWith("timers: armed 13, fired 5, "), stats.toString());
        }
    }

    /** {@code -Dpage.write=true} writes it. */
    @Test
    void page_hasTheTable() throws Exception {
        String page = Files.readString(PAGE);
        int from = page.indexOf("| figure | ");
        int to = page.indexOf("\n\n", from) + 1;
        StringBuilder table = new StringBuilder("| figure | unit | counter | by queue | what it tells |\n|---|---|:-:|:-:|---|\n");
        for (TimerStats.Figure f : TimerStats.Figure.all()) {
            table.append(String.format("| `%s` | %s | %s | %s | %s |%n", f.id(), f.unit(), f.isCounter() ? "x" : "",
                    f.isByQueue() ? "x" : "", f.text()));
        }
        if (Boolean.getBoolean("page.write")) {
            Files.writeString(PAGE, page.substring(0, from) + table + page.substring(to));
        } else {
            assertEquals(table.toString(), page.substring(from, to));
        }
    }
}
