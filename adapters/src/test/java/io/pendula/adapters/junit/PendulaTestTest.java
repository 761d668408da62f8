package io.pendula.adapters.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** Runs classes of tests, some of which must fail, in JUnit within JUnit. */
@Timeout(60)
class PendulaTestTest {
    /** Not the clocks and schedulers of the tests: those that the tests below have seen. */
    private static final Set<Object> SEEN = Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
    private static final RuntimeException FIRST = new IllegalStateException("first");
    private static final Error SECOND = new AssertionError("second");

    private static Events run(Class<?> tests, String... configuration) {
        SEEN.clear();
        EngineTestKit.Builder kit = EngineTestKit.engine("junit-jupiter").selectors(selectClass(tests));
        for (int i = 0; i < configuration.length; i += 2) {
            kit.configurationParameter(configuration[i], configuration[i + 1]);
        }
        return kit.execute().allEvents();
    }

    /** By the name of the test or class what it has thrown. */
    private static Map<String, Optional<Throwable>> outcomes(Class<?> tests) {
        Map<String, Optional<Throwable>> outcomes = new TreeMap<>();
        run(tests).finished().stream().forEach(e -> outcomes.put(
                e.getTestDescriptor().getDisplayName().replaceFirst("\\(.*", ""),
                e.getRequiredPayload(TestExecutionResult.class).getThrowable()));
        return outcomes;
    }

    private static void throwFirst() {
        throw FIRST;
    }

    private static void throwSecond() {
        throw SECOND;
    }

    private static void nothing() {}

    @PendulaTest
    static class Parameters {
        private final ManualClock clock;
        private final TimerScheduler timers;

        Parameters(ManualClock clock, TimerScheduler timers) {
            this.clock = clock;
            this.timers = timers;
            SEEN.addAll(List.of(clock, timers));
        }

        @BeforeEach
        void before(TimerScheduler other) {
            assertSame(timers, other);
        }

        @Test
        void test(ManualClock otherClock, TimerScheduler other) {
            assertSame(clock, otherClock);
            assertSame(timers, other);
            timers.after(Duration.ofHours(1), PendulaTestTest::nothing);
            assertEquals(1, clock.advance(Duration.ofHours(1)));
        }

        @RepeatedTest(2)
        void repeated(ManualClock otherClock) {
            assertSame(clock, otherClock);
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void parameterized(int n, TimerScheduler other) {
            assertTrue(n > 0);
            assertSame(timers, other);
        }

        @AfterEach
        void after(ManualClock otherClock) {
            assertSame(clock, otherClock);
        }
    }

    @Test
    void parameters_withinATest_areTheSame_andDifferFromThoseOfOthers() {
        run(Parameters.class).assertStatistics(s -> s.failed(0));
        assertEquals(5 * 2, SEEN.size());
        SEEN.forEach(o -> assertTrue(!(o instanceof TimerScheduler timers) || timers.isClosed(), o::toString));
    }

    @PendulaTest
    static class InParallel {
        private static final CountDownLatch BOTH = new CountDownLatch(2);

        @RepeatedTest(2)
        void test(ManualClock clock, TimerScheduler timers) throws InterruptedException {
            SEEN.addAll(List.of(clock, timers));
            timers.after(Duration.ofSeconds(1), PendulaTestTest::nothing);
            BOTH.countDown();
            assertTrue(BOTH.await(30, TimeUnit.SECONDS), "the tests do not run at the same time");
            assertEquals(1, clock.advance(Duration.ofSeconds(1)));
        }
    }

    @Test
    void tests_inParallel_haveTheirOwn() {
        run(InParallel.class, "junit.jupiter.execution.parallel.enabled", "true",
                "junit.jupiter.execution.parallel.mode.default", "concurrent",
                "junit.jupiter.execution.parallel.config.strategy", "fixed",
                "junit.jupiter.execution.parallel.config.fixed.parallelism", "2").assertStatistics(s -> s.failed(0));
        assertEquals(2 * 2, SEEN.size());
    }

    @PendulaTest
    static class Leaks {
        @Test
        void timer(TimerScheduler timers) {
            SEEN.add(timers);
            timers.after(Duration.ofMinutes(5), new Runnable() {
                @Override
                public void run() {}

                @Override
                public String toString() {
                    return "idle timeout";
                }
            });
        }

        @Test
        void tickerAndTask(TimerScheduler timers) {
            timers.every(Duration.ofMinutes(5), PendulaTestTest::nothing);
            timers.asScheduledExecutorService().schedule(PendulaTestTest::nothing, 1, TimeUnit.HOURS);
        }

        @Test
        void many(TimerScheduler timers) {
            for (int i = 0; i < 1000; i++) {
                timers.after(Duration.ofMinutes(5), PendulaTestTest::nothing);
            }
        }

        @Test
        @PendulaTest(allowThrowing = true)
        void thoughItMayThrow(TimerScheduler timers) {
            timers.every(Duration.ofMinutes(5), PendulaTestTest::nothing);
        }

        @Test
        @PendulaTest(allowPending = true)
        void allowed(TimerScheduler timers) {
            timers.every(Duration.ofMinutes(5), PendulaTestTest::nothing);
        }

        @Test
        void failedBefore(TimerScheduler timers) {
            timers.every(Duration.ofMinutes(5), PendulaTestTest::nothing);
            throwFirst();
        }
    }

    private static void assertLeft(int pending, String named, Optional<Throwable> outcome) {
        AssertionError error = assertInstanceOf(AssertionError.class, outcome.orElse(null));
        assertTrue(error.getMessage().startsWith("the test left " + pending + " pending: ["), error::getMessage);
        assertTrue(error.getMessage().contains(named), error::getMessage);
        assertTrue(error.getMessage().length() < 2000, error::getMessage);
    }

    @Test
    void leak_failsTheTest_andIsNamed() {
        Map<String, Optional<Throwable>> outcomes = outcomes(Leaks.class);
        assertLeft(1, "idle timeout", outcomes.get("timer"));
        assertLeft(2, "period 5 min", outcomes.get("tickerAndTask"));
        assertLeft(1000, "and others", outcomes.get("many"));
        assertLeft(1, "period", outcomes.get("thoughItMayThrow"));
        assertEquals(Optional.empty(), outcomes.get("allowed"));
        SEEN.forEach(o -> assertTrue(((TimerScheduler) o).isClosed()));
    }

    @Test
    void leak_ofATestThatFailed_isNotReported() {
        Throwable thrown = outcomes(Leaks.class).get("failedBefore").orElseThrow();
        assertSame(FIRST, thrown);
        assertEquals(0, thrown.getSuppressed().length);
    }

    @PendulaTest
    static class Throws {
        @Test
        void twiceAndLeaks(ManualClock clock, TimerScheduler timers) {
            timers.after(Duration.ofSeconds(1), PendulaTestTest::throwFirst);
            timers.after(Duration.ofSeconds(2), PendulaTestTest::throwSecond);
            timers.after(Duration.ofSeconds(3), PendulaTestTest::nothing);
            clock.advance(Duration.ofSeconds(2));
        }

        @Test
        void failedBefore(ManualClock clock, TimerScheduler timers) {
            timers.after(Duration.ofSeconds(1), PendulaTestTest::throwFirst);
            clock.advance(Duration.ofSeconds(1));
            throw new IllegalArgumentException("of the test");
        }

        @Test
        @PendulaTest(allowPending = true)
        void thoughItMayLeak(ManualClock clock, TimerScheduler timers) {
            timers.after(Duration.ofSeconds(1), PendulaTestTest::throwFirst);
            clock.advance(Duration.ofSeconds(1));
        }

        @Test
        @PendulaTest(allowThrowing = true)
        void allowed(ManualClock clock, TimerScheduler timers) {
            timers.after(Duration.ofSeconds(1), PendulaTestTest::throwFirst);
            clock.advance(Duration.ofSeconds(1));
        }
    }

    private static void assertThrew(Throwable expected, Throwable thrown) {
        assertTrue(thrown.getMessage().startsWith("a callback threw: "), thrown::getMessage);
        assertSame(expected, thrown.getCause());
    }

    @Test
    void callbackThatThrows_failsTheTest() {
        Map<String, Optional<Throwable>> outcomes = outcomes(Throws.class);
        assertThrew(FIRST, outcomes.get("thoughItMayLeak").orElseThrow());
        assertEquals(Optional.empty(), outcomes.get("allowed"));

        Throwable thrown = outcomes.get("twiceAndLeaks").orElseThrow();
        assertThrew(FIRST, thrown);
        assertThrew(SECOND, thrown.getSuppressed()[0]);
        assertLeft(1, "in 1 s", Optional.of(thrown.getSuppressed()[1]));
        assertEquals(2, thrown.getSuppressed().length);

        Throwable ofTheTest = outcomes.get("failedBefore").orElseThrow();
        assertEquals("of the test", ofTheTest.getMessage());
        assertThrew(FIRST, ofTheTest.getSuppressed()[0]);
    }

    @PendulaTest(allowPending = true, allowThrowing = true)
    static class Lenient {
        void leakAndThrow(ManualClock clock, TimerScheduler timers) {
            timers.every(Duration.ofSeconds(1), PendulaTestTest::throwFirst);
            clock.advance(Duration.ofSeconds(1));
        }

        @Test
        void allowed(ManualClock clock, TimerScheduler timers) {
            leakAndThrow(clock, timers);
        }

        @Nested
        class Inner {
            @Test
            void allowedAround(ManualClock clock, TimerScheduler timers) {
                leakAndThrow(clock, timers);
            }
        }

        @Test
        @PendulaTest
        void strict(ManualClock clock, TimerScheduler timers) {
            leakAndThrow(clock, timers);
        }
    }

    @Test
    void permission_ofAClass_isThatOfItsTests_butForAMethodWithItsOwn() {
        Map<String, Optional<Throwable>> outcomes = outcomes(Lenient.class);
        assertEquals(Optional.empty(), outcomes.get("allowed"));
        assertEquals(Optional.empty(), outcomes.get("allowedAround"));
        assertThrew(FIRST, outcomes.get("strict").orElseThrow());
    }

    @PendulaTest
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class OneInstance {
        OneInstance(ManualClock clock) {
            assertEquals(0, clock.nanoTime());
        }

        @Test
        void test() {}
    }

    @PendulaTest
    static class BeforeAllTests {
        @BeforeAll
        static void before(TimerScheduler timers) {
            timers.close();
        }

        @Test
        void test() {}
    }

    @ParameterizedTest
    @ValueSource(classes = {OneInstance.class, BeforeAllTests.class})
    void parameter_forAllTestsOfAClass_isRefused(Class<?> tests) {
        Throwable refused = outcomes(tests).get("PendulaTestTest$" + tests.getSimpleName()).orElseThrow();
        assertInstanceOf(ParameterResolutionException.class, refused);
        assertTrue(refused.getMessage().startsWith("each test has a clock and a scheduler of its own"), refused::getMessage);
    }
}
