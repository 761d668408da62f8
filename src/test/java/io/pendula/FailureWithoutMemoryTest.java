package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A task throws while not even its exception can be wrapped: its future must not say that it succeeded. */
@Timeout(120)
@Tag("not-emulated") // without memory an emulated JVM collects for minutes
@Execution(ExecutionMode.CONCURRENT)
class FailureWithoutMemoryTest {
    static final class ThrowWithoutMemory {
        private static final RuntimeException THROWN = new RuntimeException("meant", null, false, false) {
            private static final long serialVersionUID = 1;
        };
        private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(LifeFixtures.LOST_SECONDS);
        private static volatile Object[] chain;
        private static volatile Cell cells;
        private static volatile int runs;
        /** With memory: what is called for the first time is linked, which takes some. */
        private static volatile boolean rehearsal = true;

        /** As small as an object with one reference can be. */
        private static final class Cell {
            final Cell next;

            Cell(Cell next) {
                this.next = next;
            }
        }

        private ThrowWithoutMemory() {}

        private static void takeAllMemory() {
            for (int size = 1 << 18; size >= 4; size >>= 1) {
                try {
                    for (;;) {
                        Object[] more = new Object[size];
                        more[0] = chain;
                        chain = more;
                    }
                } catch (OutOfMemoryError e) {
                    // A smaller one may fit.
                }
            }
            try {
                for (;;) {
                    cells = new Cell(cells);
                }
            } catch (OutOfMemoryError e) {
                // Nothing is left.
            }
        }

        private static void fail() {
            runs++;
            if (runs == 1) {
                if (!rehearsal) {
                    takeAllMemory();
                }
                throw THROWN;
            }
        }

        /** A periodic task that goes on is as wrong as one that has no end. */
        private static void awaitEnd(Future<?> future) {
            long start = System.nanoTime();
            while (!future.isDone() && runs < 2 && System.nanoTime() - start < LIMIT_NANOS) {
                Thread.onSpinWait(); // allocates nothing
            }
            chain = null;
            cells = null;
        }

        private static String outcome(Future<?> future) throws InterruptedException {
            try {
                return "returned " + future.get(1, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                return e.getCause() == THROWN ? "threw" : "threw " + e.getCause();
            } catch (TimeoutException e) {
                return "has no end";
            }
        }

        private static Future<?> submit(ScheduledExecutorService pool, String kind) {
            Runnable task = ThrowWithoutMemory::fail;
            return switch (kind) {
                case "once" -> pool.schedule(task, 1, TimeUnit.MILLISECONDS);
                case "fixed rate" -> pool.scheduleAtFixedRate(task, 1, 1, TimeUnit.MILLISECONDS);
                default -> pool.scheduleWithFixedDelay(task, 1, 1, TimeUnit.MILLISECONDS);
            };
        }

        public static void main(String[] args) throws InterruptedException {
            Thread.setDefaultUncaughtExceptionHandler((t, e) -> {});
            StringBuilder out = new StringBuilder();
            takeAllMemory();
            chain = null;
            cells = null;
            for (boolean first : new boolean[] {true, false}) {
                rehearsal = first;
                for (String kind : new String[] {"once", "fixed rate", "fixed delay"}) {
                    ScheduledExecutorService pool = args[0].equals("pool") ? TimerExecutors.newScheduledThreadPool(1)
                            : TimerScheduler.builder().workers(1).build().asScheduledExecutorService();
                    runs = 0;
                    Future<?> future = submit(pool, kind);
                    awaitEnd(future);
                    String outcome = outcome(future);
                    pool.shutdown();
                    boolean ended = pool.awaitTermination(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS);
                    if (!first) {
                        out.append(outcome).append(ended ? ";" : ", and the pool does not end;");
                    }
                }
            }
            System.out.println("outcomes: " + out);
            System.out.flush();
            Runtime.getRuntime().halt(0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pool", "view"})
    void get_taskThrewWithoutMemory_throwsThatAndItsPeriodEnds(String kind) throws Exception {
        String all = LifeFixtures.runInChild(ThrowWithoutMemory.class, List.of("-Xmx32m", "-XX:+UseSerialGC"), kind);
        assertEquals("outcomes: threw;threw;threw;", all.substring(Math.max(0, all.lastIndexOf("outcomes: "))), all);
    }
}
