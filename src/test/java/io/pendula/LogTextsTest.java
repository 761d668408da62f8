package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.pendula.internal.engine.Event;
import io.pendula.internal.engine.EventLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.ResourceBundle;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Each text that the library logs stands on docs/troubleshooting.md, so a search for it finds the page. */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT) // waits for the end of a window
class LogTextsTest {
    private static final long WINDOW_NANOS = 2_000_000_000;
    private static final int LINES = 10;
    private static final Pattern REFUSAL = Pattern.compile("new RejectedExecutionException\\(([^;]*);");
    private static final Pattern LITERAL = Pattern.compile("\"([^\"]*[a-z][^\"]*)\"");
    /** The singular of a text, and that of a queue which no scheduler has. */
    private static final Set<String> VARIANTS = Set.of("timer is pending", "the scheduler is closed");

    private record Line(String text, Throwable thrown) {}

    private static final class Log extends TestLog {
        final Queue<Line> lines = new ConcurrentLinkedQueue<>();

        @Override
        public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
            lines.add(new Line(text, thrown));
        }
    }

    /** The task of the page's examples. */
    private static final class Report implements Runnable {
        @Override
        public void run() {}

        @Override
        public String toString() {
            return "com.acme.Report";
        }
    }

    private final Log log = new Log();
    private final TimerListener listener = new Listeners.Logging(new EventLog(log, WINDOW_NANOS));
    private final TimerScheduler io = TimerScheduler.builder().name("io").clock(new ManualClock()).build();
    private final Timer timer = io.after(Duration.ofHours(1), new Report());
    private final TimerHandle task = TimerHandle.of(io.asScheduledExecutorService().schedule(new Report(), Duration.ofHours(1)));

    private static String page() throws IOException {
        return Files.readString(Path.of("docs/troubleshooting.md"));
    }

    private static <T> T on(String threadName, Callable<T> call) throws Exception {
        FutureTask<T> task = new FutureTask<>(call);
        new Thread(task, threadName).start();
        try {
            return task.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException aborted ? aborted : e; // by an assumption
        }
    }

    private void tellOfAll(TimerLoop loop, TimerLoop closed, long ranNanos) {
        listener.threw(timer, 94_000, new IllegalStateException("meant"));
        listener.slow(timer, 94_000, ranNanos);
        listener.stalled(timer, 94_000, 5_904_000_000L);
        listener.timedOut(task, 94_000, 30_000_000_000L);
        listener.allBlocked("io", 18, 5_118_000_000L);
        listener.loopStalled(loop, timer, 5_118_000_000L);
        listener.loopClosed(closed, List.of(timer, timer, timer));
        listener.wakeupThrew(loop, new IllegalStateException("meant"));
        listener.paused(3_400_000_000L);
    }

    private long tellElevenTimes(TimerLoop loop, TimerLoop closed) {
        long begun = System.nanoTime();
        listener.allBlocked("io", 1, 5_118_000_000L); // one of the ten of its kind
        for (int i = 0; i < LINES; i++) {
            tellOfAll(loop, closed, 61_400_000);
        }
        tellOfAll(loop, closed, 3_000_000_000L);
        return System.nanoTime() - begun;
    }

    /** With the page's names and times, each line is the page's. */
    @Test
    void events_eachLine_isOnThePage() throws Exception {
        int kinds = Event.values().length;
        TimerLoop closed = on("nio-1", () -> {
            TimerLoop loop = io.attach(() -> {});
            loop.close();
            return loop;
        });
        on("nio-1", () -> { // the loop is open while its thread is alive
            TimerLoop loop = io.attach(() -> {});
            long took = on("pendula-io-worker-0", () -> tellElevenTimes(loop, closed));
            assumeTrue(took < WINDOW_NANOS, "the machine was too busy");
            eventually("all lines, and the counts", () -> log.lines.size() == kinds * (LINES + 1));
            return loop;
        });

        String page = page();
        Set<String> texts = new TreeSet<>();
        for (Line line : log.lines) {
            Matcher count = Pattern.compile("\\d more (.*) within 2 s(.*)").matcher(line.text);
            if (!count.matches()) {
                texts.add(line.text);
            } else if (count.group(1).equals("callbacks were slow")) {
                texts.add("1,204 more callbacks were slow within 10 s" + count.group(2));
            } else {
                texts.add(count.group(1));
            }
            if (line.text.contains("has not run")) {
                texts.add(line.thrown.toString());
            }
        }
        List<String> missing = texts.stream().filter(text -> !page.contains("`" + text + "`")).toList();
        assertEquals(List.of(), missing);
        // two for each kind, the text for a single thread, that of a stack
        assertEquals(2 * kinds + 2, texts.size(), texts::toString);
    }

    @Test
    void refusals_eachText_isOnThePage() throws Exception {
        String page = page();
        List<String> missing = new ArrayList<>();
        int checked = 0;
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                Matcher refusal = REFUSAL.matcher(Files.readString(file));
                while (refusal.find()) {
                    Matcher literal = LITERAL.matcher(refusal.group(1));
                    while (literal.find()) {
                        checked++;
                        String text = literal.group(1).strip();
                        if (!page.contains(text) && !VARIANTS.contains(text)) {
                            missing.add(file.getFileName() + ": " + text);
                        }
                    }
                }
            }
        }
        assertEquals(List.of(), missing);
        assertTrue(checked > 10, "only " + checked + " texts were found");
    }
}
