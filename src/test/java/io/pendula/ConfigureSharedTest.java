package io.pendula;

import static io.pendula.LifeFixtures.runInChild;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.engine.Options;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The shared scheduler before its first use; each case in a JVM of its own, as there is one such scheduler only. */
@Timeout(120)
class ConfigureSharedTest {
    static final class Child {
        public static void main(String[] args) throws InterruptedException {
            try {
                print(args[0]);
            } catch (RuntimeException e) {
                System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
            }
        }

        private static void print(String how) throws InterruptedException {
            switch (how) {
                case "twice":
                    TimerScheduler.configureShared(b -> b.workers(3).maxThreads(5));
                    TimerScheduler.configureShared(b -> b.name("ours").slowCallback(Duration.ofMillis(7)));
                    break;
                case "none":
                    TimerScheduler.configureShared(b -> b.workers(0));
                    break;
                case "few":
                    TimerScheduler.configureShared(b -> b.workers(3).maxThreads(2));
                    break;
                case "manualFew":
                    TimerScheduler.configureShared(b -> b.workers(4).clock(new ManualClock()));
                    break;
                case "late":
                    TimerScheduler.shared();
                    TimerScheduler.configureShared(b -> b.workers(3));
                    break;
                case "inside":
                    TimerScheduler.configureShared(b -> TimerScheduler.shared());
                    break;
                case "nested":
                    TimerScheduler.configureShared(b -> TimerScheduler.configureShared(c -> c.workers(3)));
                    break;
                case "overlap":
                    overlap();
                    break;
                case "broken":
                    boolean[] broken = {true};
                    TimerScheduler.configureShared(b -> b.name("mended").workers(2).maxThreads(3).clock(() -> {
                        if (broken[0]) {
                            throw new IllegalStateException("meant");
                        }
                        return System.nanoTime();
                    }));
                    try {
                        Timer.after(Duration.ZERO, () -> System.out.println("fired"));
                    } catch (IllegalStateException e) {
                        System.out.println(e.getMessage());
                    }
                    broken[0] = false;
                    break;
                case "manual":
                    ManualClock clock = new ManualClock();
                    TimerScheduler.configureShared(b -> b.clock(clock));
                    Timer t = Timer.after(Duration.ofHours(1), () -> System.out.println("fired"));
                    clock.advance(Duration.ofHours(1));
                    System.out.println(t.isPending());
                    return;
                case "timeout":
                    submitWithTimeout();
                    return;
                default:
                    break;
            }
            Options o = TimerScheduler.shared().engine.options;
            CountDownLatch fired = new CountDownLatch(1);
            Timer.after(Duration.ZERO, fired::countDown);
            System.out.println(!fired.await(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS) ? "nothing fired" :
                    o.name + " " + o.workers + " " + o.maxThreads + " " + o.slowNanos);
        }

        /** The other thread calls while the settings of this one run, after they have got their builder. */
        private static void overlap() throws InterruptedException {
            Thread other = new Thread(() -> TimerScheduler.configureShared(b -> b.workers(3).maxThreads(5)));
            TimerScheduler.configureShared(b -> {
                other.start();
                LifeFixtures.eventually("the other waits or has ended", () -> other.getState() == Thread.State.BLOCKED
                        || other.getState() == Thread.State.TERMINATED);
                b.name("ours").slowCallback(Duration.ofMillis(7));
            });
            other.join();
        }

        private static void submitWithTimeout() {
            try (TimerScheduler own = TimerScheduler.builder().workers(0).build(); TimerLoop loop = own.attach(() -> {})) {
                try {
                    own.asScheduledExecutorService().submitWithTimeout(() -> "x", 1, TimeUnit.HOURS, null);
                } catch (IllegalArgumentException e) {
                    System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
                }
                System.out.println(loop.runDue());
            }
        }
    }

    private static String run(String how, String... options) throws Exception {
        return runInChild(Child.class, List.of(options), how);
    }

    @Test
    void configureShared_severalCalls_addUp() throws Exception {
        assertEquals("ours 3 5 7000000", run("twice"));
    }

    @Test
    void configureShared_twoThreadsAtOnce_addUp() throws Exception {
        assertEquals("ours 3 5 7000000", run("overlap"));
    }

    @Test
    void configureShared_byItsOwnSettings_throws() throws Exception {
        assertEquals("IllegalStateException: settings of configureShared must not call configureShared", run("nested"));
    }

    @Test
    void systemProperties_comeLast() throws Exception {
        assertEquals("ours 2 4 9000000", run("twice", "-Dio.pendula.shared.workers=2",
                "-Dio.pendula.shared.maxThreads=4", "-Dio.pendula.shared.slowCallbackMillis=9"));
        assertEquals("shared 5 21 " + Long.MAX_VALUE, run("default", "-Dio.pendula.shared.workers=5"));
    }

    @ParameterizedTest
    @CsvSource({"workers, many, 1, 1024", "workers, 0, 1, 1024", "workers, 2000, 1, 1024", "maxThreads, -1, 1, 32767",
        "slowCallbackMillis, 1s, 0, 2147483647"})
    void systemProperty_badValue_isNamedWithItsLimits(String name, String value, int min, int max) throws Exception {
        assertEquals("IllegalArgumentException: system property io.pendula.shared." + name + " must be a number from "
                + min + " to " + max + ", but is '" + value + "'", run("default", "-Dio.pendula.shared." + name + "=" + value));
    }

    @Test
    void systemProperties_doNotGoTogether_areNamed() throws Exception {
        assertEquals("IllegalArgumentException: system properties io.pendula.shared.*: maxThreads must be at least the number"
                + " of workers, 8, but is 5", run("twice", "-Dio.pendula.shared.workers=8"));
    }

    @Test
    void submitWithTimeout_sharedCannotBeMade_submitsNothing() throws Exception {
        assertEquals("IllegalArgumentException: system property io.pendula.shared.workers must be a number from 1 to 1024,"
                + " but is '0'\n0", run("timeout", "-Dio.pendula.shared.workers=0").replace("\r", ""));
    }

    @Test
    void configureShared_badSettings_throw() throws Exception {
        assertEquals("IllegalArgumentException: workers of the shared scheduler must be at least 1, but is 0",
                run("none"));
        assertTrue(run("few").startsWith("IllegalArgumentException: maxThreads must be at least the number of workers"));
        assertEquals("IllegalArgumentException: a scheduler with a ManualClock has one worker at most, but workers is 4",
                run("manualFew"));
    }

    @Test
    void configureShared_inUse_throws() throws Exception {
        String late = "IllegalStateException: the shared scheduler is in use already, so it cannot be configured";
        assertEquals(late, run("late"));
        assertEquals(late, run("inside"));
    }

    @Test
    void shared_couldNotBeMade_theNextUseMakesIt() throws Exception {
        assertEquals("meant\nmended 2 3 " + Long.MAX_VALUE, run("broken").replace("\r", ""));
    }

    @Test
    void configureShared_manualClock_drivesTimerAfter() throws Exception {
        assertEquals("fired\nfalse", run("manual").replace("\r", ""));
    }
}
