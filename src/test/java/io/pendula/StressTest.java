package io.pendula;

import static io.pendula.LifeFixtures.block;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.inParallel;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Compactor;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Many threads use the same timers in every way; in the end each arming must have come to exactly one end, by each
 * timer's own account and by the scheduler's.
 */
@Tag("stress")
@Timeout(60)
class StressTest {
    private static final int SHARED = 48;
    private static final int FEWEST_OPERATIONS = 10_000;
    private static final long STORM_NANOS = Scale.of(300_000_000, 900_000_000);
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private final AtomicReferenceArray<Subject> shared = new AtomicReferenceArray<>(SHARED);
    private final Queue<Subject> all = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean overlapped = new AtomicBoolean();
    private volatile boolean ending;
    private boolean callbacksMutate;
    private boolean callbacksBlock;

    /** A timer with its account. */
    private final class Subject implements Runnable {
        final AtomicLong armed = new AtomicLong();
        final AtomicLong fired = new AtomicLong();
        final AtomicLong stopped = new AtomicLong();
        final AtomicLong reset = new AtomicLong();
        final AtomicBoolean running = new AtomicBoolean();
        volatile Timer timer;

        @Override
        public void run() {
            overlapped.compareAndSet(false, !running.compareAndSet(false, true));
            fired.incrementAndGet();
            ThreadLocalRandom r = ThreadLocalRandom.current();
            if (callbacksMutate && !ending && timer != null) {
                if (r.nextInt(4) == 0) {
                    mutate(r, this);
                }
                Subject other = shared.get(r.nextInt(SHARED));
                if (r.nextInt(4) == 0 && other != null) { // the first ones may fire before the last is made
                    mutate(r, other);
                }
            }
            if (callbacksBlock && r.nextInt(2_000) == 0) {
                block(4_000_000);
            }
            running.set(false);
        }

        long open() {
            return armed.get() - fired.get() - stopped.get() - reset.get();
        }
    }

    private Subject create(TimerScheduler s, long delay) {
        Subject subject = new Subject();
        subject.armed.incrementAndGet();
        subject.timer = s.after(delay, TimeUnit.NANOSECONDS, subject);
        all.add(subject);
        return subject;
    }

    /** One random operation; true if it was a cancel. */
    private boolean mutate(ThreadLocalRandom r, Subject subject) {
        Timer t = subject.timer;
        int dice = r.nextInt(1_000);
        if (dice < 250) {
            if (t.stop()) {
                subject.stopped.incrementAndGet();
            }
            return false;
        }
        if (dice < 252) {
            if (t.cancel()) {
                subject.stopped.incrementAndGet();
            }
            return true;
        }
        long delay = dice < 400 ? 0 : dice < 550 ? HOUR : dice < 600 ? -1 : r.nextLong(dice < 800 ? 50_000 : 2_000_000);
        try {
            if (t.reset(delay, TimeUnit.NANOSECONDS)) {
                subject.reset.incrementAndGet();
            }
            subject.armed.incrementAndGet();
        } catch (IllegalStateException cancelled) {
            assertEquals("the timer was cancelled, so it cannot be reset", cancelled.getMessage());
        }
        return false;
    }

    /** Whether it is armed for a time in the storm, and not for an hour later. */
    private static boolean isSoon(Timer t) {
        return t.isPending() && t.remaining().toNanos() < HOUR / 2;
    }

    @ParameterizedTest
    @CsvSource({
        "1, 2, false, false, false",
        "2, 3, true, false, false",
        "4, 4, true, false, false",
        "2, 2, true, true, false",
        "4, 3, true, true, true",
        "2, 3, true, false, true",
    })
    void armStopReset_anyInterleaving_eachArmingEndsExactlyOnce(
            int workers, int threads, boolean callbacksMutate, boolean callbacksBlock, boolean handOff)
            throws Exception {
        this.callbacksMutate = callbacksMutate;
        this.callbacksBlock = callbacksBlock;
        ExecutorService executor = handOff ? Executors.newFixedThreadPool(2) : null;
        TimerScheduler.Builder b = TimerScheduler.builder().workers(workers);
        if (handOff) {
            b.executor(executor);
        }
        try (TimerScheduler s = b.build()) {
            for (int i = 0; i < SHARED; i++) {
                shared.set(i, create(s, 1_000_000));
            }
            long end = System.nanoTime() + STORM_NANOS;
            inParallel(threads, n -> {
                ThreadLocalRandom r = ThreadLocalRandom.current();
                for (int i = 0; i < FEWEST_OPERATIONS || System.nanoTime() - end < 0; i++) {
                    int index = r.nextInt(SHARED);
                    if (mutate(r, shared.get(index))) {
                        shared.set(index, create(s, r.nextLong(100_000)));
                    }
                    if (i % 64 == 0) {
                        Subject garbage = create(s, r.nextLong(HOUR));
                        if (garbage.timer.stop()) {
                            garbage.stopped.incrementAndGet();
                        }
                    }
                    if (i % 4096 == 0) {
                        Thread.yield();
                    }
                }
            });
            ending = true;
            // A callback that does not know yet may still arm a timer.
            all.forEach(x -> eventually("its callback has returned", () -> !x.running.get()));
            // Before any stop: a stop of a timer that is due hides that it would never have fired.
            eventually("all that is due has fired", () -> all.stream().noneMatch(x -> isSoon(x.timer)));
            for (Subject subject : all) {
                if (subject.timer.stop()) {
                    subject.stopped.incrementAndGet();
                }
            }
            eventually("each arming has come to an end",
                    () -> s.pending() == 0 && all.stream().noneMatch(x -> x.open() != 0 || x.running.get()));

            TimerStats stats = s.stats();
            figure("stress: workers %d, threads %d, callbacks mutate %s, block %s, executor %s: armed %d, fired %d, "
                    + "stopped %d, reset %d; stolen %d, spares %d, rescues %d", workers, threads,
                    callbacksMutate, callbacksBlock, handOff, stats.armed(), stats.fired(), stats.stopped(),
                    stats.resets(), stats.stolen(), stats.spareThreads(),
                    stats.overdueWakes());
            assertEquals(sum(x -> x.fired), stats.fired(), "fired");
            assertEquals(sum(x -> x.stopped), stats.stopped(), "stopped");
            assertEquals(sum(x -> x.reset), stats.resets(), "reset");
            assertEquals(sum(x -> x.armed), stats.armed(), "armed");
            assertEquals(0, stats.pending());
            assertTrue(stats.fired() > 0 && stats.stopped() > 0 && stats.resets() > 0);
            assertTrue(!overlapped.get(), "a timer overlapped itself");
            stats.queues().forEach(w -> assertTrue(w.staleEntries() >= 0 && w.staleEntries() <= Compactor.STALE_FLOOR,
                    () -> "stale: " + w.staleEntries()));
        } finally {
            if (executor != null) {
                executor.shutdown();
            }
        }
    }

    private long sum(java.util.function.Function<Subject, AtomicLong> account) {
        return all.stream().mapToLong(x -> account.apply(x).get()).sum();
    }
}
