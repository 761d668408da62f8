package io.pendula;

import static io.pendula.internal.queue.Inside.verify;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.InsideCompactor;

import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.Rig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Random sequences of operations on one queue, each compared with what a plain list of deadlines says. */
class TimerQueueModelTest {
    private static final int SEQUENCES = Scale.of(1_000, 3_000);
    private static final int STEPS = 100;
    private static final int TIMERS = 24;

    private static final long NONE = -1;

    /** What the model knows of one timer. */
    private static final class Known {
        final TimerNode timer;
        /** Zero if it fires once. */
        final long period;
        final boolean withTask;

        long when = NONE;
        long order;
        /** Armed by arm and not touched since: then the order among equals is promised even without keepOrder. */
        boolean untouched;
        boolean running;
        boolean kept;
        boolean cancelled;

        Known(TimerNode timer, long period, boolean withTask) {
            this.timer = timer;
            this.period = period;
            this.withTask = withTask;
        }

        boolean isArmed() {
            return when != NONE;
        }

        boolean canFire() {
            return isArmed() && !running;
        }

        void disarm() {
            when = NONE;
            kept = false;
            untouched = false;
        }
    }

    /** A queue, its model, and the random choices of one sequence. */
    private static final class Sequence {
        final Random rnd;
        final boolean keepOrder;
        final Rig rig;
        final TimerQueue queue;
        final List<Known> all = new ArrayList<>();
        final Map<TimerNode, Known> byTimer = new HashMap<>();

        long now = 1_000;
        long order;
        /** Until when the owner sleeps, or NONE while it is up. */
        long asleepUntil = NONE;
        long armed;
        long fired;
        long stopped;
        long resets;
        long wakes;
        int depth;

        Sequence(long seed) {
            this.rnd = new Random(seed);
            this.keepOrder = rnd.nextInt(3) == 0;
            this.rig = new Rig(keepOrder);
            this.queue = rig.queue;
        }

        void play() {
            for (int i = 0; i < STEPS; i++) {
                step();
                check();
                verify(queue);
            }
            close();
        }

        private void step() {
            switch (rnd.nextInt(16)) {
                case 0, 1, 2 -> arm();
                case 3, 4 -> stop(any());
                case 5, 6, 7, 8 -> reset(any());
                case 9 -> {
                    if (rnd.nextInt(3) == 0) {
                        cancel(any());
                    }
                }
                case 10 -> receive(any());
                case 11 -> rig.drain();
                case 12 -> sweep();
                case 13 -> {
                    if (!keepOrder) { // with a manual clock no thread sleeps, and no sweep is planned for one that does
                        sleep();
                    }
                }
                default -> {
                    now += rnd.nextInt(12);
                    runDue();
                }
            }
        }

        private Known any() {
            return all.isEmpty() ? arm() : all.get(rnd.nextInt(all.size()));
        }

        /** Few distinct values, so that equal deadlines and returns to an old deadline are common. */
        private long someDeadline() {
            return rnd.nextInt(50) == 0 ? Timeline.NEVER : Math.max(1, now - 4 + rnd.nextInt(24));
        }

        // ---- operations ----

        private Known arm() {
            if (all.size() == TIMERS) {
                Known gone = all.remove(rnd.nextInt(TIMERS));
                cancel(gone); // it stays in byTimer: its entry may still be there, but must not fire
            }
            Known k = switch (rnd.nextInt(4)) {
                case 0 -> {
                    long period = 1 + rnd.nextInt(9);
                    yield new Known(new PeriodicTimer(queue, () -> {}, period, MissedTicks.SKIP), period, true);
                }
                case 1 -> new Known(new OneShotAlarm(queue), 0, false);
                default -> new Known(new OneShotTimer(queue, () -> {}), 0, true);
            };
            all.add(k);
            byTimer.put(k.timer, k);
            long when = someDeadline();
            queue.arm(k.timer, when);
            setArmed(k, when);
            k.untouched = true;
            wokenIfBefore(when);
            return k;
        }

        private void setArmed(Known k, long when) {
            k.disarm();
            k.when = when;
            k.order = order++;
            armed++;
        }

        private void stop(Known k) {
            boolean expected = k.isArmed() || k.kept;
            countStop(k);
            assertEquals(expected, queue.stop(k.timer), "stop");
        }

        /** One block holds all entries here. */
        private void sweep() {
            InsideCompactor.startFullSweep(queue);
            queue.compactor.sweepStep();
            assertEquals(0, rig.dead(), "entries that are counted stale and were not dropped");
        }

        private void cancel(Known k) {
            boolean expected = k.isArmed() || k.kept;
            countStop(k);
            k.cancelled = true;
            assertEquals(expected, queue.cancel(k.timer), "cancel");
        }

        private void countStop(Known k) {
            if (k.isArmed()) {
                stopped++;
                if (k.when == Timeline.NEVER) {
                    wokenFromNever();
                }
            }
            k.disarm();
        }

        private void reset(Known k) {
            if (k.cancelled) {
                assertThrows(IllegalStateException.class, () -> queue.reset(k.timer, now));
                return;
            }
            long when = k.isArmed() && rnd.nextInt(4) == 0 ? k.when : someDeadline();
            boolean expected = k.isArmed() || k.kept;
            if (k.isArmed()) {
                resets++;
            }
            int before = rig.state(k.timer);
            boolean isPushed = keepOrder
                    || !TimerNode.isQueued(before) && !TimerNode.isFiled(before) && before != TimerNode.DELETED;
            setArmed(k, when);
            assertEquals(expected, queue.reset(k.timer, when), "reset");
            if (!k.running) {
                wokenIfBefore(when);
                if (isPushed) {
                    wokenFromNever();
                }
            }
        }

        private void receive(Known k) {
            if (k.kept) {
                assertTrue(k.timer.tryReceive(k.timer.wordVolatile()));
                k.disarm();
            }
        }

        private void sleep() {
            asleepUntil = rig.sleep(now);
            if (asleepUntil == earliest()) {
                assertTrue(asleepUntil < Timeline.NEVER || rig.dead() == 0, "stale entries are kept for ever");
            } else {
                assertEquals(Timeline.NEVER, earliest(), "sleeps until the earliest deadline");
                assertTrue(asleepUntil <= now + 1_000_000_000 && asleepUntil > now, "as long as a sleep may last");
            }
        }

        private void runDue() {
            if (rnd.nextBoolean()) { // as the owner; else as a thief, while the owner sleeps on
                rig.keepWith(rig.owner);
                asleepUntil = NONE;
            }
            while (runOne()) {
                check();
            }
            assertTrue(earliest() > now, "nothing due is left");
        }

        private boolean runOne() {
            Claim run = rig.claim(now);
            if (run == null) {
                return false;
            }
            Known k = byTimer.get(run.node());
            checkClaim(k, run);
            fired++;
            k.disarm();
            if (!k.withTask) {
                k.kept = true;
                return true;
            }
            k.running = true;
            if (k.period > 0) {
                long next = run.deadline;
                do {
                    next += k.period;
                } while (next <= now);
                setArmed(k, next);
            }
            callback(k);
            k.running = false;
            queue.endRun(k.timer);
            if (k.isArmed()) {
                k.order = order++;
                wokenIfBefore(k.when);
                wokenFromNever();
            }
            return true;
        }

        /** A callback uses timers, its own included; meanwhile other workers may run other callbacks. */
        private void callback(Known own) {
            depth++;
            for (int n = rnd.nextInt(4); n > 0; n--) {
                switch (rnd.nextInt(8)) {
                    case 0 -> stop(own);
                    case 1, 2 -> reset(own);
                    case 3 -> arm();
                    case 4 -> stop(any());
                    case 5 -> reset(any());
                    case 6 -> {
                        if (rnd.nextInt(4) == 0) {
                            cancel(own);
                        }
                    }
                    default -> {
                        if (depth < 3) {
                            runOne();
                        }
                    }
                }
                check();
            }
            depth--;
        }

        // ---- expectations ----

        private long earliest() {
            return byTimer.values().stream().filter(Known::canFire).mapToLong(k -> k.when).min()
                    .orElse(Timeline.NEVER);
        }

        private void checkClaim(Known k, Claim run) {
            assertFalse(k.running, "overlaps itself");
            assertEquals(k.when, run.deadline, "fired under its deadline");
            assertTrue(run.deadline <= now, "early");
            assertEquals(earliest(), run.deadline, "order of deadlines");
            for (Known other : byTimer.values()) {
                if (other.canFire() && other.when == k.when && (keepOrder || other.untouched && k.untouched)) {
                    assertTrue(other.order >= k.order, "first in, first out among equals");
                }
            }
        }

        /** An owner that sleeps for ever would keep what is never due and stopped. */
        private void wokenFromNever() {
            wokenIfBefore(Timeline.NEVER - 1);
        }

        private void wokenIfBefore(long when) {
            if (asleepUntil != NONE && when < asleepUntil) {
                asleepUntil = NONE;
                wakes++;
            }
        }

        private void check() {
            assertEquals(wakes, rig.owner.wakes, "wakes");
            assertEquals(asleepUntil != NONE, rig.isAsleep(), "asleep");
            for (Known k : all) {
                assertEquals(k.isArmed(), TimerNode.isArmed(rig.state(k.timer)), "armed");
                if (k.isArmed()) {
                    assertEquals(k.when, rig.deadline(k.timer), "deadline");
                }
            }
            if (rnd.nextInt(8) == 0) {
                checkStats();
            }
        }

        private void checkStats() {
            QueueView.Snapshot s = queue.view().stats();
            long pending = byTimer.values().stream().filter(Known::canFire).count();
            long inOwnRun = byTimer.values().stream().filter(k -> k.isArmed() && k.running).count();
            assertEquals(pending, s.get(QueueView.Count.PENDING), "pending");
            assertEquals(fired, s.get(QueueView.Count.FIRED), "fired");
            assertEquals(stopped, s.get(QueueView.Count.STOPPED), "stopped");
            assertEquals(resets, s.get(QueueView.Count.RESETS), "reset");
            assertEquals(armed - inOwnRun, s.get(QueueView.Count.ARMED), "armed");
            assertEquals(rig.entries() - pending, s.get(QueueView.Count.STALE_ENTRIES), "stale entries");
        }

        private void close() {
            checkStats();
            Known running = null;
            Claim run = rig.claim(now + 30);
            if (run != null) {
                running = byTimer.get(run.node());
                running.running = true;
                running.when = NONE;
                fired++;
            }
            Set<TimerNode> expected = new HashSet<>();
            for (Known k : byTimer.values()) {
                if (k.canFire()) {
                    expected.add(k.timer);
                }
            }
            List<TimerNode> unfired = new ArrayList<>();
            queue.closer.close(unfired);
            if (running != null && running.withTask) {
                queue.closer.collectRunning(running.timer, unfired);
                if (running.period > 0) {
                    expected.add(running.timer);
                    armed++;
                }
                queue.endRun(running.timer);
            }
            assertEquals(expected, new HashSet<>(unfired), "unfired");
            assertEquals(expected.size(), unfired.size());
            for (Known k : byTimer.values()) {
                assertFalse(TimerNode.isArmed(rig.state(k.timer)));
                if (!k.cancelled) {
                    assertThrows(RejectedExecutionException.class, () -> queue.reset(k.timer, now));
                    assertFalse(TimerNode.isArmed(rig.state(k.timer)));
                }
            }
            QueueView.Snapshot s = queue.view().stats();
            assertEquals(unfired.size(), s.get(QueueView.Count.UNFIRED));
            assertEquals(0, s.get(QueueView.Count.PENDING));
            assertEquals(0, s.get(QueueView.Count.STALE_ENTRIES));
            assertEquals(0, rig.entries());
            assertEquals(fired, s.get(QueueView.Count.FIRED));
            assertEquals(stopped, s.get(QueueView.Count.STOPPED));
            assertEquals(armed, s.get(QueueView.Count.ARMED));
            assertSame(null, rig.claim(Timeline.NEVER - 1));
        }
    }

    private static void play(long seed) {
        try {
            new Sequence(seed).play();
        } catch (Throwable e) {
            throw new AssertionError("with seed " + seed, e);
        }
    }

    @Test
    void randomOperations_fixedSeeds_matchTheModel() {
        for (long seed = 0; seed < SEQUENCES; seed++) {
            play(seed);
        }
    }

    @Test
    void randomOperations_freshSeed_matchTheModel() {
        long seed = System.nanoTime();
        for (int i = 0; i < SEQUENCES / 5; i++) {
            play(seed + i);
        }
    }
}
