package io.pendula;

import static io.pendula.LifeFixtures.block;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.inParallel;
import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Loops come and go, hand their timers over or back, are late, help each other and are closed by their own callbacks,
 * while others arm, stop, reset and cancel on them: in the end each arming has come to exactly one end.
 */
@Tag("stress")
@Timeout(60)
class LoopStormTest {
    private static final int LOOPS = 3;
    private static final int ARMERS = 2;
    private static final int SHARED = 48;
    private static final int MAX_PENDING = 3_000;
    private static final long STORM_NANOS = Scale.of(400_000_000, 1_200_000_000);
    private static final long LONGEST_NANOS = 10_000_000_000L;
    private static final long HOUR_NANOS = HOUR.toNanos();

    private final AtomicReferenceArray<Place> places = new AtomicReferenceArray<>(LOOPS);
    private final AtomicReferenceArray<Shot> shared = new AtomicReferenceArray<>(SHARED);
    private final Queue<Shot> all = new ConcurrentLinkedQueue<>();
    private final Queue<Timer> returned = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<Place> mine = new ThreadLocal<>();
    private final AtomicBoolean overlapped = new AtomicBoolean();
    private final AtomicBoolean escaped = new AtomicBoolean();
    private final AtomicInteger attached = new AtomicInteger();
    private final AtomicInteger closedInCallbacks = new AtomicInteger();
    private volatile boolean ending;

    /** A loop and its thread. */
    private record Place(TimerLoop loop, Thread thread) {}

    /** A timer with its account. */
    private final class Shot implements Runnable {
        final AtomicInteger armed = new AtomicInteger(1);
        final AtomicInteger fired = new AtomicInteger();
        final AtomicInteger stopped = new AtomicInteger();
        final AtomicInteger reset = new AtomicInteger();
        final AtomicInteger rejected = new AtomicInteger();
        final AtomicBoolean running = new AtomicBoolean();
        final Thread confinedTo;
        int returned;
        volatile Timer timer;

        Shot(Thread confinedTo) {
            this.confinedTo = confinedTo;
        }

        @Override
        public void run() {
            overlapped.compareAndSet(false, !running.compareAndSet(false, true));
            escaped.compareAndSet(false, confinedTo != null && confinedTo != Thread.currentThread());
            fired.incrementAndGet();
            ThreadLocalRandom r = ThreadLocalRandom.current();
            if (!ending) {
                if (r.nextInt(4) == 0 && timer != null) {
                    mutate(r, this);
                }
                Shot other = shared.get(r.nextInt(SHARED));
                if (r.nextInt(4) == 0 && other != null) {
                    mutate(r, other);
                }
                Place here = mine.get();
                if (r.nextInt(500) == 0 && here != null) {
                    returned(here.loop().detach());
                    closedInCallbacks.incrementAndGet();
                }
            }
            running.set(false);
        }

        int open() {
            return armed.get() - fired.get() - stopped.get() - reset.get() - returned;
        }
    }

    private void returned(List<TimerHandle> unfired) {
        unfired.forEach(t -> returned.add((Timer) t));
    }

    /** Hears of the loops that were found to have no thread any more, before another thread could detach them. */
    private final TimerListener listener = new TimerListener() {
        @Override
        public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
            unfired.forEach(t -> returned.add((Timer) t));
        }
    };

    // ---- those who arm ----

    /** Null if nobody would have it. */
    private Shot create(TimerScheduler s, ThreadLocalRandom r, long delay) {
        Place p = r.nextInt(3) == 0 ? null : places.get(r.nextInt(LOOPS));
        Place home = p != null ? p : mine.get(); // where a timer of the scheduler goes, if this is a loop's thread
        Shot shot = new Shot(home != null ? home.thread() : null);
        try {
            shot.timer = p == null ? s.after(delay, TimeUnit.NANOSECONDS, shot)
                    : p.loop().after(delay, TimeUnit.NANOSECONDS, shot);
        } catch (RejectedExecutionException e) {
            return null;
        }
        all.add(shot);
        return shot;
    }

    /** One random operation; true if it was a cancel. */
    private static boolean mutate(ThreadLocalRandom r, Shot shot) {
        Timer t = shot.timer;
        int dice = r.nextInt(1_000);
        if (dice < 200) {
            if (t.stop()) {
                shot.stopped.incrementAndGet();
            }
            return false;
        }
        if (dice < 210) {
            if (t.cancel()) {
                shot.stopped.incrementAndGet();
            }
            return true;
        }
        long delay = dice < 350 ? 0 : dice < 550 ? HOUR_NANOS : r.nextLong(dice < 800 ? 50_000 : 2_000_000);
        try {
            if (t.reset(delay, TimeUnit.NANOSECONDS)) {
                shot.reset.incrementAndGet();
            }
            shot.armed.incrementAndGet();
            return false;
        } catch (RejectedExecutionException e) {
            shot.rejected.incrementAndGet();
            return true;
        } catch (IllegalStateException cancelled) {
            return true;
        }
    }

    /** Until its time is over, and there was something of each kind, which takes a busy machine longer. */
    private static boolean isStorming(TimerScheduler s, long end) {
        long over = System.nanoTime() - end;
        return over < 0 || over < LONGEST_NANOS && !hasAllKinds(s.stats());
    }

    private static boolean hasAllKinds(TimerStats stats) {
        return stats.fired() > 0 && stats.stopped() > 0 && stats.resets() > 0 && stats.unfired() > 0;
    }

    private void armAndMutate(TimerScheduler s, long end) {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        for (int i = 0; isStorming(s, end); i++) {
            int index = r.nextInt(SHARED);
            Shot shot = shared.get(index);
            if (shot == null || mutate(r, shot)) {
                shared.set(index, create(s, r, r.nextLong(100_000)));
            }
            if (i % 64 == 0) {
                Shot garbage = create(s, r, r.nextLong(HOUR_NANOS));
                if (garbage != null && garbage.timer.stop()) {
                    garbage.stopped.incrementAndGet();
                }
                Thread.yield();
            }
        }
    }

    // ---- those who have loops ----

    private void comeAndGo(TimerScheduler s, int number, long end) throws Exception {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        while (isStorming(s, end)) {
            if (r.nextInt(8) == 0) {
                Thread mortal = new Thread(() -> live(s, number, end));
                mortal.start();
                mortal.join();
                detach(number); // in its place
            } else {
                live(s, number, end);
                detach(number);
            }
            if (r.nextBoolean()) {
                block(r.nextLong(500_000)); // so that there is no loop at all now and then
            }
        }
    }

    private void live(TimerScheduler s, int number, long end) {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        Thread me = Thread.currentThread();
        Runnable wakeup = () -> LockSupport.unpark(me);
        TimerLoop loop = s.attach(wakeup);
        attached.incrementAndGet();
        Place place = new Place(loop, me);
        mine.set(place);
        places.set(number, place);
        for (int visits = r.nextInt(200); visits > 0 && isStorming(s, end); visits--) {
            try {
                visit(loop, r);
            } catch (IllegalStateException closedByCallback) {
                assertTrue(closedByCallback.getMessage().endsWith("after the loop was closed"),
                        closedByCallback::getMessage);
                break;
            }
        }
        mine.remove();
    }

    private static void visit(TimerLoop loop, ThreadLocalRandom r) {
        switch (r.nextInt(12)) {
            case 0 -> block(r.nextLong(4_000_000)); // late
            case 1 -> loop.runDue(1 + r.nextInt(3));
            default -> {
                long nanos = loop.nanosUntilNext();
                if (nanos > 0) {
                    LockSupport.parkNanos(Math.min(nanos, 300_000));
                }
                loop.runDue();
            }
        }
    }

    private void detach(int number) {
        Place place = places.getAndSet(number, null);
        returned(place.loop().detach());
    }

    // ---- the test ----

    /** Whether it is armed for a time in the storm, and not for an hour later. */
    private static boolean isSoon(Timer t) {
        return t.isPending() && t.remaining().toNanos() < HOUR_NANOS / 2;
    }

    @ParameterizedTest
    @CsvSource({"0, false", "1, true", "2, true", "2, false"})
    void loopsComeAndGo_eachArmingEndsExactlyOnce(int workers, boolean monitor) throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().name("loop-storm").workers(workers).monitor(monitor)
                .maxPending(MAX_PENDING).listener(listener).build()) {
            long end = System.nanoTime() + STORM_NANOS;
            inParallel(LOOPS + ARMERS, n -> {
                if (n < LOOPS) {
                    comeAndGo(s, n, end);
                } else {
                    armAndMutate(s, end);
                }
            });
            ending = true;
            // A callback that does not know yet may still arm a timer.
            all.forEach(x -> eventually("its callback has returned", () -> !x.running.get()));
            // Before any stop: a stop of a timer that is due hides that it would never have fired.
            eventually("all that is due has fired", () -> all.stream().noneMatch(x -> isSoon(x.timer)));
            for (Shot shot : all) {
                if (shot.timer.stop()) {
                    shot.stopped.incrementAndGet();
                }
            }
            eventually("nothing is pending",
                    () -> s.pending() == 0 && all.stream().noneMatch(x -> x.running.get()));
            // What was claimed is not pending, and perhaps does not run yet.
            eventually("all that was claimed has run", () -> sum(x -> x.fired.get()) == s.stats().fired());
            assertEquals(0, s.engine.loops.all().length);
            assertTrue(!overlapped.get(), "a timer overlapped itself");
            assertTrue(!escaped.get(), "a confined timer ran elsewhere");
            assertAccounts(s, workers, monitor);
            assertQueuesLeave(s, workers);
            assertAllPermitsAreBack(s);
        }
    }

    private void assertAccounts(TimerScheduler s, int workers, boolean monitor) {
        Map<Timer, Shot> shots = new IdentityHashMap<>();
        all.forEach(x -> shots.put(x.timer, x));
        returned.forEach(t -> shots.get(t).returned++);
        TimerStats stats = s.stats();
        figure("loop storm: workers %d, monitor %s: %d loops, %d closed by callbacks; armed %d, fired %d, stopped %d, "
                + "reset %d, returned %d, resets rejected %d; stolen %d, rescues %d", workers, monitor,
                attached.get(), closedInCallbacks.get(), stats.armed(), stats.fired(), stats.stopped(), stats.resets(),
                stats.unfired(), sum(x -> x.rejected.get()), stats.stolen(), stats.overdueWakes());
        List<Shot> wrong = new ArrayList<>(all);
        wrong.removeIf(x -> x.open() == 0);
        assertEquals(0, wrong.size(), () -> "open: " + wrong.get(0).open() + ", rejected: " + wrong.get(0).rejected);
        assertEquals(sum(x -> x.fired.get()), stats.fired(), "fired");
        assertEquals(sum(x -> x.stopped.get()), stats.stopped(), "stopped");
        assertEquals(returned.size(), stats.unfired(), "returned");
        assertEquals(sum(x -> x.reset.get()), stats.resets(), "reset");
        assertEquals(sum(x -> x.armed.get()), stats.armed(), "armed");
        assertEquals(0, stats.pending());
        assertTrue(hasAllKinds(stats), stats::toString);
    }

    /** A round of any worker lets go of the queues that loops have left, in which all is stopped by now. */
    private static void assertQueuesLeave(TimerScheduler s, int workers) {
        eventually("there are as many queues as workers", () -> {
            if (workers > 0) {
                s.after(1, TimeUnit.MICROSECONDS, NOTHING);
            }
            return s.engine.queues.length == workers;
        });
        eventually("nothing is pending", () -> s.pending() == 0);
    }

    private static void assertAllPermitsAreBack(TimerScheduler s) {
        try (TimerLoop loop = s.attach(NOTHING)) {
            for (int i = 0; i < MAX_PENDING; i++) {
                loop.after(HOUR, NOTHING);
            }
            assertThrows(RejectedExecutionException.class, () -> loop.after(HOUR, NOTHING));
        }
    }

    private long sum(ToIntFunction<Shot> account) {
        return all.stream().mapToLong(account::applyAsInt).sum();
    }
}
