package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs a class of tests as the build does, and looks at what became of them. */
@Tag("oracle")
@Timeout(60)
class UncaughtExceptionsTest {
    private static void inThread(String name, Throwable thrown) {
        Thread t = new Thread(() -> UncaughtExceptionsTest.<RuntimeException>sneak(thrown), name);
        t.start();
        try {
            Fixtures.join(t);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable e) throws T {
        throw (T) e;
    }

    /** Its name keeps it from being run by the build itself. */
    static class Thrower {
        static boolean throwsBetween;

        @BeforeAll
        static void between() {
            if (throwsBetween) {
                inThread("early", new Error("before all"));
            }
        }

        @AfterEach
        void afterwards(TestInfo test) {
            if (test.getDisplayName().equals("after()")) {
                inThread("last", new Error("after each"));
            }
        }

        @Test
        void after() {}

        @Test
        void callback() {
            ManualClock clock = new ManualClock();
            TimerScheduler s = TimerScheduler.builder().clock(clock).build();
            s.after(LoopFixtures.NOW, () -> assertEquals(1, 2));
            clock.advance(LoopFixtures.HOUR);
            s.close();
        }

        @Test
        void meant() {
            inThread("quiet", new Error("meant"));
        }

        @Test
        void none() {}

        @Test
        void taken() {
            Error thrown = new Error("taken");
            inThread("looked at", thrown);
            assertSame(thrown, UncaughtExceptions.take().get(0));
        }

        @Test
        void two() {
            inThread("first", new Error("one"));
            inThread("second", new Error("another"));
        }
    }

    /** Two tests that run at once: each waits for the other before its thread throws. */
    @Execution(ExecutionMode.CONCURRENT)
    static class Together {
        static CountDownLatch both;

        private static void throwBesideTheOther(String name) throws InterruptedException {
            both.countDown();
            Fixtures.await(both);
            inThread(name, new Error(name));
        }

        @Test
        void one() throws InterruptedException {
            throwBesideTheOther("of one");
        }

        @Test
        void other() throws InterruptedException {
            throwBesideTheOther("of other");
        }

        @Test
        void taker() {
            inThread("taken", new Error("taken"));
            assertEquals(1, UncaughtExceptions.take().size());
        }
    }

    @Test
    void uncaught_whileTwoTestsRun_failsTheOneThatHasStartedTheThread() {
        Together.both = new CountDownLatch(2);
        List<String> failures = failures(Together.class, 3, Map.of(
                "junit.jupiter.execution.parallel.enabled", "true",
                "junit.jupiter.execution.parallel.config.strategy", "fixed",
                "junit.jupiter.execution.parallel.config.fixed.parallelism", "3"));
        assertEquals(List.of("one() uncaught in thread of one: java.lang.Error: of one",
                "other() uncaught in thread of other: java.lang.Error: of other"), failures);
    }

    private static List<String> failures() {
        return failures(Thrower.class, 6, Map.of());
    }

    /** Each failure of a run, with what is suppressed. */
    private static List<String> failures(Class<?> type, int count, Map<String, String> settings) {
        List<String> failures = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger tests = new AtomicInteger();
        TestExecutionListener listener = new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier id, TestExecutionResult result) {
                tests.addAndGet(id.isTest() ? 1 : 0);
                result.getThrowable().ifPresent(e -> {
                    failures.add(id.getDisplayName() + " " + e.getMessage());
                    for (Throwable s : e.getSuppressed()) {
                        failures.add(id.getDisplayName() + " " + s.getMessage());
                    }
                });
            }
        };
        LauncherFactory.create().execute(
                LauncherDiscoveryRequestBuilder.request().selectors(selectClass(type)).configurationParameters(settings)
                        .build(), listener);
        assertEquals(count, tests.get());
        failures.sort(null);
        return failures;
    }

    @Test
    void uncaught_duringATest_failsThatTest() {
        Thrower.throwsBetween = false;
        String me = Thread.currentThread().getName();
        List<String> failures = failures();
        assertEquals(4, failures.size(), failures::toString);
        assertEquals("after() uncaught in thread last: java.lang.Error: after each", failures.get(0));
        assertTrue(failures.get(1).startsWith("callback() uncaught in thread " + me + ": org.opentest4j.Assertion"),
                failures.get(1));
        assertEquals("two() uncaught in thread first: java.lang.Error: one", failures.get(2));
        assertEquals("two() uncaught in thread second: java.lang.Error: another", failures.get(3));
    }

    @Test
    void uncaught_betweenTests_failsTheClass() {
        Thrower.throwsBetween = true;
        assertTrue(failures().contains(
                "UncaughtExceptionsTest$Thrower uncaught in thread early: java.lang.Error: before all"));
    }
}
