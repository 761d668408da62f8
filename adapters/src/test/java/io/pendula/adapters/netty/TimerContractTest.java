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
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
            ConcurrentLinkedQueue<Long> early = new ConcurrentLinkedQueue<>();
            Random random = new Random(7);
            for (int i = 0; i < count; i++) {
                long delay = TimeUnit.MILLISECONDS.toNanos(random.nextInt(100));
                long start = System.nanoTime();
                subject.timer().newTimeout(timeout -> {
                    long ahead = start + delay - System.nanoTime();
                    if (ahead > 0) {
                        early.add(ahead);
                    }
                    ran.countDown();
                }, delay, TimeUnit.NANOSECONDS);
            }
            Patience.await(ran);
            assertEquals(List.of(), List.copyOf(early));
        }
    }

    /** Each timeout ends in exactly one way, in every race. */
    @ParameterizedTest
    @EnumSource
    void cancelAgainstExpiry_exactlyOneWins(TimerKind kind) throws InterruptedException {
        try (Subject subject = kind.open()) {
            int count = 20_000;
            AtomicInteger runs = new AtomicInteger();
            AtomicInteger hooks = new AtomicInteger();
            TimerTask task = new TimerTask() {
                @Override
                public void run(Timeout timeout) {
                    runs.incrementAndGet();
                }

                @Override
                public void cancelled(Timeout timeout) {
                    hooks.incrementAndGet();
                }
            };
            List<Timeout> timeouts = new ArrayList<>();
            AtomicInteger cancels = new AtomicInteger();
            Random random = new Random(8);
            for (int i = 0; i < count; i++) {
                timeouts.add(subject.timer().newTimeout(task, random.nextInt(5_000_000), TimeUnit.NANOSECONDS));
                if (i % 50 == 49) {
                    timeouts.forEach(timeout -> cancels.addAndGet(timeout.cancel() ? 1 : 0));
                    timeouts.clear();
                }
            }
            Patience.until("all ended", () -> runs.get() + cancels.get() == count);
            Patience.until("hooked", () -> hooks.get() == (TimerKind.HAS_HOOK ? cancels.get() : 0));
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
