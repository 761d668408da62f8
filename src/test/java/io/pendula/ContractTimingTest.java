package io.pendula;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing runs before its time, whoever schedules it and in whatever unit. */
class ContractTimingTest extends ContractCase {
    private static final TimeUnit[] UNITS = {TimeUnit.NANOSECONDS, TimeUnit.MICROSECONDS, TimeUnit.MILLISECONDS};

    private final AtomicLong least = new AtomicLong(Long.MAX_VALUE);
    private final AtomicInteger runs = new AtomicInteger();

    private Runnable noting(long due) {
        return () -> {
            least.accumulateAndGet(System.nanoTime() - due, Math::min);
            runs.incrementAndGet();
        };
    }

    private void scheduleOne(ScheduledExecutorService pool, int most) {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        TimeUnit unit = UNITS[r.nextInt(UNITS.length)];
        long delay = unit.convert(r.nextInt(most), NANOSECONDS);
        pool.schedule(noting(System.nanoTime() + unit.toNanos(delay)), delay, unit);
    }

    private void assertNoneEarly(int count) {
        assertEquals(count, runs.get());
        assertTrue(least.get() >= 0, () -> "early by " + -least.get() + " ns");
    }

    @Test
    void schedule_thousandsOfRandomDelays_neverEarly() throws Exception {
        ScheduledExecutorService pool = pool();
        LifeFixtures.inParallel(3, n -> {
            for (int i = 0; i < 2_000; i++) {
                scheduleOne(pool, 30_000_000);
                if (i % 100 == 0) {
                    LifeFixtures.block(300_000);
                }
            }
        });
        finish(pool);
        assertNoneEarly(6_000);
    }

    @Test
    void schedule_insideTasks_neverEarly() throws Exception {
        ScheduledExecutorService pool = pool();
        int chains = 20;
        int length = 50;
        AtomicInteger open = new AtomicInteger(chains);
        class Link implements Runnable {
            private final int left;
            private final long due;

            Link(int left, long due) {
                this.left = left;
                this.due = due;
            }

            @Override
            public void run() {
                noting(due).run();
                if (left > 1) {
                    long delay = ThreadLocalRandom.current().nextInt(1_000_000);
                    pool.schedule(new Link(left - 1, System.nanoTime() + delay), delay, NANOSECONDS);
                } else {
                    open.decrementAndGet();
                }
            }
        }
        for (int i = 0; i < chains; i++) {
            pool.execute(new Link(length, System.nanoTime()));
        }
        eventually("all chains end", () -> open.get() == 0);
        finish(pool);
        assertNoneEarly(chains * length);
    }

    /** One at a time, so that each is waited for by an idle pool. */
    @Test
    void schedule_oneByOne_neverEarly() throws Exception {
        ScheduledExecutorService pool = pool();
        for (int i = 0; i < 300; i++) {
            long delay = i * 5_000L;
            long due = System.nanoTime() + delay;
            get(pool.schedule(noting(due), delay, NANOSECONDS));
            assertTrue(System.nanoTime() - due >= 0, "its future was done early");
        }
        assertNoneEarly(300);
    }

    /** An earlier task is not kept waiting by a later one that was there first. */
    @ParameterizedTest
    @ValueSource(longs = {1_000_000_000_000L, Long.MAX_VALUE})
    void schedule_earlierThanWhatIsAwaited_comesInTime(long later) throws Exception {
        ScheduledExecutorService pool = pool();
        pool.schedule(NOTHING, later, NANOSECONDS);
        for (int i = 0; i < 200; i++) {
            pool.schedule(NOTHING, later - 1_000_000_000L * (i + 1), NANOSECONDS);
            get(pool.schedule(noting(System.nanoTime() + 100_000), 100_000, NANOSECONDS));
            get(pool.submit(noting(System.nanoTime())));
        }
        assertNoneEarly(400);
    }

    /** An upper bound that only what is lost, or waits for the next poll of something, will miss. */
    @Test
    void schedule_quietPool_comesSoon() throws Exception {
        ScheduledExecutorService pool = pool();
        inTimeAtLeastOnce(() -> {
            int inTime = 0;
            for (int i = 0; i < 20; i++) {
                long due = System.nanoTime() + 500_000;
                Future<Long> ran = pool.schedule(System::nanoTime, 500_000, NANOSECONDS);
                inTime += get(ran) - due < 20_000_000 ? 1 : 0;
            }
            return inTime > 10;
        });
    }

    /** Neither those for now nor those for later can keep the others from running. */
    @Test
    void schedule_whileTasksResubmitThemselves_allComesSoon() throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger open = new AtomicInteger(2 * subject.workers());
        for (int i = 0; i < 2 * subject.workers(); i++) {
            boolean later = i % 2 == 0;
            pool.execute(new Runnable() {
                @Override
                public void run() {
                    if (!over.get()) {
                        if (later) {
                            pool.schedule(this, 1, NANOSECONDS);
                        } else {
                            pool.execute(this);
                        }
                    } else {
                        open.decrementAndGet();
                    }
                }
            });
        }
        for (int i = 0; i < 200; i++) {
            get(pool.submit(noting(System.nanoTime())));
            get(pool.schedule(noting(System.nanoTime() + 100_000), 100_000, NANOSECONDS));
        }
        over.set(true);
        eventually("none resubmits itself", () -> open.get() == 0);
        assertNoneEarly(400);
    }
}
