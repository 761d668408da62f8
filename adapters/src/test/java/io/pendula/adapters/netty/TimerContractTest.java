package io.pendula.adapters.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.pendula.adapters.Patience;
import io.pendula.adapters.netty.TimerKind.Subject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What users of Netty's timer rely on, with real threads. */
@org.junit.jupiter.api.Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class TimerContractTest {
    @ParameterizedTest
    @EnumSource
    void timeouts_runOnce_notEarly(TimerKind kind) throws InterruptedException {
        try (Subject subject = kind.open()) {
            int count = 200;
            CountDownLatch ran = new CountDownLatch(count);
            ConcurrentLinkedQueue<Timeout> runs = new ConcurrentLinkedQueue<>();
            Set<Timeout> armed = new HashSet<>();
            ConcurrentLinkedQueue<Long> early = new ConcurrentLinkedQueue<>();
            Random random = new Random(7);
            for (int i = 0; i < count; i++) {
                long delay = TimeUnit.MILLISECONDS.toNanos(random.nextInt(100));
                long start = System.nanoTime();
                armed.add(subject.timer().newTimeout(timeout -> {
                    long ahead = start + delay - System.nanoTime();
                    if (ahead > 0) {
                        early.add(ahead);
                    }
                    runs.add(timeout);
                    ran.countDown();
                }, delay, TimeUnit.NANOSECONDS));
            }
            Patience.await(ran);
            assertEquals(List.of(), List.copyOf(early));
            assertEquals(Set.of(), subject.timer().stop()); // nothing runs any more
            assertEquals(count, runs.size());
            assertEquals(armed, Set.copyOf(runs));
        }
    }

    /** How often each timeout has run, and has been told of a cancel. */
    private static final class Ends implements TimerTask {
        final Map<Timeout, AtomicInteger> runs = new ConcurrentHashMap<>();
        final Map<Timeout, AtomicInteger> hooks = new ConcurrentHashMap<>();

        @Override
        public void run(Timeout timeout) {
            runs.computeIfAbsent(timeout, t -> new AtomicInteger()).incrementAndGet();
        }

        @Override
        public void cancelled(Timeout timeout) {
            hooks.computeIfAbsent(timeout, t -> new AtomicInteger()).incrementAndGet();
        }

        static int of(Map<Timeout, AtomicInteger> ends, Timeout timeout) {
            AtomicInteger count = ends.get(timeout);
            return count == null ? 0 : count.get();
        }
    }

    /** Each timeout ends in exactly one way, in every race; and there are races, as each side wins some. */
    @ParameterizedTest
    @EnumSource
    void cancelAgainstExpiry_exactlyOneWins(TimerKind kind) throws InterruptedException {
        try (Subject subject = kind.open()) {
            int count = 20_000;
            Ends ends = new Ends();
            List<Timeout> all = new ArrayList<>();
            Set<Timeout> cancelled = new HashSet<>();
            Random random = new Random(8);
            long begin = System.nanoTime();
            for (int i = 0; i < count; i++) {
                all.add(subject.timer().newTimeout(ends, random.nextInt(5_000_000), TimeUnit.NANOSECONDS));
                if (i % 1_000 == 999) {
                    long due = begin + 2_500_000; // of about half of them
                    Patience.until("some are due", () -> System.nanoTime() - due > 0);
                    for (Timeout timeout : all.subList(i - 999, i + 1)) {
                        if (timeout.cancel()) {
                            cancelled.add(timeout);
                        }
                    }
                    begin = System.nanoTime();
                }
            }
            Patience.until("all ended", () -> ends.runs.size() + cancelled.size() == count);
            Patience.until("told", () -> ends.hooks.size() == (TimerKind.HAS_HOOK ? cancelled.size() : 0));
            subject.timer().stop(); // nothing runs any more
            for (Timeout timeout : all) {
                int cancels = cancelled.contains(timeout) ? 1 : 0;
                assertEquals(1 - cancels, Ends.of(ends.runs, timeout), timeout::toString);
                assertEquals(TimerKind.HAS_HOOK ? cancels : 0, Ends.of(ends.hooks, timeout), timeout::toString);
            }
            assertTrue(cancelled.size() > 0 && ends.runs.size() > 0, cancelled.size() + " of " + count);
        }
    }

    @ParameterizedTest
    @EnumSource
    void stop_interruptsTheTaskInProgress_waitsForIt_andReturnsTheRest(TimerKind kind) {
        try (Subject subject = kind.open()) {
            Timer timer = subject.timer();
            CountDownLatch begun = new CountDownLatch(1);
            AtomicReference<Throwable> end = new AtomicReference<>();
            timer.newTimeout(timeout -> {
                begun.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    end.set(e);
                }
            }, 0, TimeUnit.SECONDS);
            Patience.await(begun);
            Set<Timeout> pending = new HashSet<>();
            for (int i = 0; i < 100; i++) {
                pending.add(timer.newTimeout(timeout -> {}, 1, TimeUnit.HOURS));
            }
            Set<Timeout> stopped = timer.stop();
            assertInstanceOf(InterruptedException.class, end.get());
            assertEquals(pending, stopped);
            assertTrue(stopped.stream().allMatch(Timeout::isCancelled));
            assertEquals(Set.of(), timer.stop());
            assertThrows(IllegalStateException.class, () -> timer.newTimeout(timeout -> {}, 1, TimeUnit.HOURS));
        }
    }

    @ParameterizedTest
    @EnumSource
    void stop_callerIsInterruptedAndTheTaskIgnoresAnInterrupt_waitsForTheTask(TimerKind kind) {
        try (Subject subject = kind.open()) {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch stopped = new CountDownLatch(1);
            AtomicInteger interrupts = new AtomicInteger();
            AtomicBoolean ended = new AtomicBoolean();
            subject.timer().newTimeout(timeout -> {
                begun.countDown();
                while (interrupts.get() < 2 && stopped.getCount() > 0) {
                    try {
                        stopped.await();
                    } catch (InterruptedException e) {
                        interrupts.incrementAndGet();
                    }
                }
                ended.set(true);
            }, 0, TimeUnit.SECONDS);
            Patience.await(begun);
            Thread.currentThread().interrupt();
            subject.timer().stop();
            boolean hasEnded = ended.get();
            stopped.countDown();
            assertTrue(Thread.interrupted(), "the caller's flag is set");
            assertTrue(hasEnded, "the task had ended when stop returned");
            assertEquals(2, interrupts.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void stop_byItsOwnTask_throws(TimerKind kind) throws InterruptedException {
        try (Subject subject = kind.open()) {
            CountDownLatch thrown = new CountDownLatch(1);
            subject.timer().newTimeout(timeout -> {
                assertThrows(IllegalStateException.class, timeout.timer()::stop);
                thrown.countDown();
            }, 1, TimeUnit.MILLISECONDS);
            Patience.await(thrown);
        }
    }

    /** Every timeout that newTimeout returned ran, was returned by stop, or was cancelled before. */
    @ParameterizedTest
    @EnumSource
    void stop_whileOthersArm_losesNone(TimerKind kind) throws InterruptedException {
        for (int round = 0; round < 20; round++) {
            try (Subject subject = kind.open()) {
                Set<Timeout> ran = ConcurrentHashMap.newKeySet();
                List<Timeout> armed = new ArrayList<>();
                CountDownLatch going = new CountDownLatch(1);
                Thread armer = new Thread(() -> {
                    Random random = new Random(9);
                    try {
                        for (int i = 0; i < 1_000_000; i++) {
                            armed.add(subject.timer().newTimeout(ran::add, random.nextInt(2_000), TimeUnit.MICROSECONDS));
                            if (i == 100) {
                                going.countDown();
                            }
                        }
                    } catch (IllegalStateException e) {
                        // stopped
                    }
                });
                armer.start();
                Patience.await(going);
                Set<Timeout> stopped = subject.timer().stop();
                armer.join();
                if (kind != TimerKind.WHEEL) { // the wheel may lose those that are armed while it stops
                    for (Timeout timeout : armed) {
                        assertTrue(ran.contains(timeout) ^ stopped.contains(timeout), timeout::toString);
                    }
                }
            }
        }
    }
}
