package io.pendula;

import static io.pendula.Figures.figure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerHeap;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.standby.Standby;
import io.pendula.internal.workers.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Standby without threads: sleepers that are records of what the test makes them do, queues without a scheduler, and
 * instants that the test chooses. A round of a sleeper, and a call by a thread that arms, is one step here; what lies
 * between two accesses of a step is for the search.
 */
@Timeout(300)
class StandbyModelTest {
    private static final long US = 1_000;
    private static final long MS = 1_000_000;
    private static final long SPACING = 100 * US;
    /** How much later than planned the guard may wake up in the poller's place. */
    private static final long SLACK = 20 * US;
    /** A system wakes a thread so late. */
    private static final long MOST_LAG = 20 * US;
    private static final int MOST_SLEEPERS = 6;

    /** What a worker does of its own accord, without a thread. */
    private static final class Fake extends Sleeper {
        private final String name;
        boolean startsItsThread = true;
        int wakes;
        /** While it sleeps and was called: when it makes its round. */
        long comesAt;
        /** While it is in a callback that blocks: until when. */
        long busyUntil;
        TimerNode runs;
        long wokeAt;
        boolean hasRun;
        long idleSince;

        Fake(String name, TimerQueue home, boolean temporary) {
            super(home, temporary);
            this.name = name;
        }

        @Override
        public boolean wakeThread() {
            wakes++;
            return startsItsThread;
        }

        @Override
        public void tell(Throwable thrown) {
            throw new AssertionError(thrown);
        }

        /** The test is every thread. */
        @Override
        public Thread runner() {
            return startsItsThread ? Thread.currentThread() : null;
        }

        boolean isBusy() {
            return runs != null;
        }

        @Override
        public String toString() {
            return name + (isBusy() ? " busy until " + busyUntil : asleep ? " asleep until " + until : " up")
                    + (isCalled() ? ", called" : "");
        }
    }

    private static final class Timed extends TimerNode {
        private final TimerQueue queue;

        Timed(TimerQueue queue) {
            super(() -> {});
            this.queue = queue;
        }

        boolean isArmed() {
            return isArmed(state(wordVolatile()));
        }

        long deadline() {
            return deadline(wordVolatile());
        }
    }

    // ---- the model ----

    /** Sleepers, queues, and what happens next. */
    private static final class Model {
        final SplittableRandom random;
        long now = 1000 * MS;
        final TimerQueue[] queues;
        final Standby standby;
        final List<Fake> all = new ArrayList<>();
        final List<Timed> armed = new ArrayList<>();
        /** When a sleeper has gone to sleep at last, which is when it has rationed its wakes. */
        private long lastSleepAt;
        private int spares;
        int mostSleepers = MOST_SLEEPERS;
        boolean mayBlock;
        long latest;
        int ran;
        int rounds;

        Model(long seed, int workers, int queueCount, long spacing) {
            random = new SplittableRandom(seed);
            Timeline timeline = new Timeline(() -> now);
            queues = new TimerQueue[queueCount];
            WakeGate gate = new WakeGate();
            standby = new Standby(queues, gate, spacing);
            for (int i = 0; i < queueCount; i++) {
                queues[i] = new TimerQueue(i, timeline, null, new TimerHeap(), null, false, gate);
            }
            for (int i = 0; i < workers; i++) {
                all.add(new Fake("worker " + i, i < queueCount ? queues[i] : null, false));
            }
            tellOfAll();
            standby.begin(all.get(0), workers > 1 ? all.get(1) : null);
        }

        private void tellOfAll() {
            standby.knows(all.toArray(new Sleeper[0]));
        }

        Timed arm(TimerQueue q, long when) {
            Timed t = new Timed(q);
            armed.add(t);
            q.arm(t, when);
            return t;
        }

        private long lag() {
            return random.nextLong(MOST_LAG);
        }

        // ---- a sleeper's steps ----

        /** Until it sleeps, or is in a callback that blocks. */
        void run(Fake me) {
            if (me.asleep) {
                me.wakesUp();
                me.wokeAt = now;
                me.hasRun = false;
            }
            for (int i = 0; ; i++) {
                assertTrue(i < 1000, () -> me + " makes round after round");
                rounds++;
                if (me.isTemporary && now - me.idleSince >= Worker.SPARE_IDLE_NANOS && standby.leave(me)) {
                    all.remove(me);
                    tellOfAll();
                    return;
                }
                boolean polls = standby.poller() == me;
                Boolean ran = runDue(me, polls);
                if (ran == null) {
                    return;
                }
                if (ran) {
                    me.hasRun = true;
                    me.idleSince = now;
                    if (!polls) {
                        continue;
                    }
                }
                long next = polls ? standby.settle(me, now, false) : Timeline.NEVER;
                if (next <= now || !standby.goToSleep(me, polls, next, now, me.hasRun ? me.wokeAt : 0)) {
                    continue;
                }
                lastSleepAt = now;
                if (!me.isCalled() && !(standby.poller() == me && standby.needsLookBefore(next))) {
                    me.comesAt = 0;
                    return;
                }
                me.wakesUp();
                me.wokeAt = now;
                me.hasRun = false;
            }
        }

        /** Null if a callback blocks. */
        private Boolean runDue(Fake me, boolean polls) {
            boolean ran = false;
            Sleeper p = standby.poller();
            if (!polls && me.isTemporary) {
                return false;
            }
            for (TimerQueue q : queues) {
                boolean mayRun = q == me.home || polls || p.asleep || !p.getsOn(now);
                while (mayRun && q.due.lookAt() <= now && !(q != me.home && standby.isServed(q, now))) {
                    int step = polls ? q.due.pollOne(me, now)
                            : q == me.home ? q.due.claimNext(me, now) : q.due.helpOne(me, now);
                    if (step != DueTimers.CLAIMED) {
                        break;
                    }
                    ran = true;
                    begin(me, q);
                    if (me.isBusy()) {
                        return null;
                    }
                }
            }
            return ran;
        }

        private void begin(Fake me, TimerQueue q) {
            Timed t = (Timed) me.node();
            latest = Math.max(latest, me.lateness());
            assertTrue(me.lateness() >= 0, "early");
            this.ran++;
            me.enterCallback();
            me.runs = t;
            if (me.hasBegun) {
                standby.callIfTooLate(me, q, now);
            } else {
                me.hasBegun = true;
                if (!standby.ensureGuard(me, q, now) && isNoneFree() && all.size() < mostSleepers) {
                    Fake spare = new Fake("spare " + spares++, null, true);
                    spare.idleSince = now;
                    spare.comesAt = now + lag();
                    all.add(spare);
                    tellOfAll();
                }
            }
            int kind = mayBlock ? random.nextInt(8) : 7;
            me.busyUntil = now + (kind == 0 ? random.nextLong(20 * MS) : kind == 1 ? random.nextLong(400 * US) : 0);
            if (random.nextInt(4) == 0) { // as a callback does that arms its next one
                arm(q, now + random.nextLong(3 * MS));
            }
            if (me.busyUntil == now) {
                end(me);
            }
        }

        private boolean isNoneFree() {
            return all.stream().noneMatch(s -> s.asleep || !s.hasBegun);
        }

        private void end(Fake me) {
            Timed t = (Timed) me.runs;
            me.runs = null;
            me.leaveCallback();
            t.queue.endRun(t);
            armed.remove(t);
            me.end();
        }

        // ---- what happens next ----

        /** When a sleeper gets on by itself; NEVER if it does not. */
        private long nextOf(Fake s) {
            if (s.isBusy()) {
                return s.busyUntil;
            }
            if (!s.asleep) {
                return s.comesAt; // it was started
            }
            if (s.isCalled() && s.comesAt == 0) {
                s.comesAt = now + lag();
            }
            long planned = s.isTemporary ? Math.min(s.until, s.idleSince + Worker.SPARE_IDLE_NANOS) : s.until;
            return s.isCalled() ? Math.min(s.comesAt, Math.max(planned, now)) : planned;
        }

        long nextInstant() {
            return all.stream().mapToLong(this::nextOf).min().orElse(Timeline.NEVER);
        }

        /** Lets time pass until {@code until}, and all sleepers do what they have to. */
        void pass(long until) {
            int stepsAtOnce = 0;
            for (long next = nextInstant(); next <= until; next = nextInstant()) {
                long at = next;
                stepsAtOnce = next <= now ? stepsAtOnce + 1 : 0;
                assertTrue(stepsAtOnce < 1000, () -> "no time passes at " + now + ": " + all);
                List<Fake> due = all.stream().filter(s -> nextOf(s) == at).toList();
                now = Math.max(now, at);
                Fake s = due.get(random.nextInt(due.size()));
                if (s.isBusy()) {
                    end(s);
                }
                run(s);
                check();
            }
            now = Math.max(now, until);
        }

        // ---- what must hold ----

        void check() {
            Sleeper p = standby.poller();
            assertNotSame(p, standby.guard(), "one worker has both roles");
            if (armed.stream().noneMatch(Timed::isArmed)) {
                return;
            }
            long deadline = armed.stream().filter(Timed::isArmed).mapToLong(Timed::deadline).min().getAsLong();
            long from = Math.max(deadline, lastSleepAt);
            if (p.asleep) {
                assertTrue(p.isCalled() || p.until <= from + 2 * SPACING + SLACK,
                        () -> "the poller sleeps beyond " + deadline + ": " + all);
                assertTrue(p.isCalled() || p.until <= lastSleepAt + 1_000_000 * US + Standby.GRACE_NANOS + 2 * SPACING, "not capped");
                return;
            }
            boolean isAnyFree = all.stream().anyMatch(s -> !s.isBusy());
            long latest = Math.max(deadline, now) + 2 * Standby.GRACE_NANOS + Standby.PAIR_NANOS;
            assertTrue(!isAnyFree || all.stream().anyMatch(s -> !s.isBusy()
                            && (!s.asleep || s.isCalled() || s.until <= latest)),
                    () -> "the poller is up, and no other worker looks before " + deadline + " at " + now + ": " + all);
        }
    }

    /** An event is an arming, or time that passes, after which all that sleepers do is done. */
    private static void drawn(Model m, int events) {
        for (int i = 0; i < events; i++) {
            TimerQueue q = m.queues[m.random.nextInt(m.queues.length)];
            switch (m.random.nextInt(6)) {
                case 0 -> m.arm(q, m.now + m.random.nextLong(500 * US));
                case 1 -> m.arm(q, m.now + m.random.nextLong(30 * MS));
                case 2 -> m.arm(q, m.now + m.random.nextLong(5000 * MS));
                case 3 -> {
                    if (!m.armed.isEmpty()) {
                        Timed t = m.armed.get(m.random.nextInt(m.armed.size()));
                        if (t.queue.stop(t)) {
                            m.armed.remove(t);
                        }
                    }
                }
                case 4 -> m.pass(m.now + m.random.nextLong(2 * MS));
                default -> m.pass(m.now + m.random.nextLong(60 * MS));
            }
            m.check();
        }
    }

    /** Until nothing is armed and all sleep for ever. */
    private static void settle(Model m) {
        m.mayBlock = false;
        m.pass(m.now + 30_000 * MS);
        assertEquals(0, m.armed.size(), () -> m.now + ": " + m.armed.get(0).deadline() + " left, " + m.all);
        assertEquals(Timeline.NEVER, m.nextInstant(), () -> "not all sleep for ever: " + m.all);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void drawnEvents_callbacksAreShort_eachTimerRunsInTime(int workers) {
        for (long seed = 0; seed < Scale.of(200, 5000); seed++) {
            long s = seed;
            Model m = new Model(seed, workers, Math.max(1, workers - 1), SPACING);
            m.all.forEach(m::run);
            drawn(m, 500);
            settle(m);
            assertTrue(m.latest <= 2 * SPACING + SLACK + MOST_LAG, () -> "seed " + s + ": late by " + m.latest);
        }
    }

    /** A timer behind a callback that blocks waits for the guard, while any worker is free or may be made. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void drawnEvents_callbacksBlock_noDeadlineIsLeftToNobody(int workers) {
        int ran = 0;
        int rounds = 0;
        for (long seed = 0; seed < Scale.of(200, 5000); seed++) {
            Model m = new Model(seed, workers, Math.max(1, workers - 1), SPACING);
            m.all.forEach(m::run);
            m.mayBlock = true;
            drawn(m, 500);
            settle(m);
            ran += m.ran;
            rounds += m.rounds;
        }
        assertTrue(ran > 1000, ran + " ran");
        figure("%d workers: %d callbacks in %d rounds", workers, ran, rounds);
    }

    // ---- single steps ----

    private final Model model = new Model(0, 3, 2, SPACING);
    private final Fake first = model.all.get(0);
    private final Fake second = model.all.get(1);
    private final Fake third = model.all.get(2);
    private final Standby standby = model.standby;

    private void sleepAll() {
        model.all.forEach(model::run);
    }

    private static void holdUp(Fake s, long since) {
        s.claimedAt = since;
        s.enterCallback();
    }

    @Test
    void allSleep_nothingArmed_firstPollsAndSecondGuards() {
        sleepAll();
        assertSame(first, standby.poller());
        assertSame(second, standby.guard());
        assertEquals(List.of(Timeline.NEVER, Timeline.NEVER, Timeline.NEVER), List.of(first.until, second.until, third.until));
    }

    @Test
    void firstIsArmed_pollerAloneIsCalled() {
        sleepAll();
        model.arm(model.queues[0], model.now + MS);
        assertEquals(List.of(1, 0, 0), List.of(first.wakes, second.wakes, third.wakes));
        model.pass(model.now + MS / 2);
        assertEquals(model.now + MS / 2, standby.poller().until);
    }

    /** All queues have one gate, whichever worker is at home there. */
    @Test
    void armedEarlier_onAnyQueue_pollerIsCalledOnce() {
        model.arm(model.queues[0], model.now + 50 * MS);
        model.arm(model.queues[1], model.now + 50 * MS);
        sleepAll();
        int before = first.wakes;
        model.arm(model.queues[1], model.now + 60 * MS);
        assertEquals(before, first.wakes);
        model.arm(model.queues[1], model.now + 20 * MS);
        model.arm(model.queues[1], model.now + 10 * MS);
        assertEquals(before + 1, first.wakes);
    }

    /** See 5. */
    @Test
    void pollerGoesToSleep_anotherIsLoaded_thatPollsAndMakesAnotherRound() {
        second.isLoaded = true;
        second.claimedAt = model.now;
        assertTrue(standby.goToSleep(first, true, Timeline.NEVER, model.now, 0));
        assertSame(second, standby.poller());
        assertSame(first, standby.guard());
        assertEquals(model.now + Standby.GRACE_NANOS, first.until);
        assertFalse(standby.goToSleep(second, false, Timeline.NEVER, model.now, 0), "it has a round to make, after which it publishes");
        second.isLoaded = false;
        model.run(second);
        assertTrue(second.asleep);
    }

    /** Else the two would give each other the role, and one wake up after each GRACE, for as long as the callback lasts. */
    @Test
    void pollerGoesToSleep_anotherIsLoadedAndHeldUp_keepsTheRole() {
        second.isLoaded = true;
        holdUp(second, model.now);
        model.now += Worker.HELD_UP_NANOS + 1;
        long next = standby.settle(first, model.now, false);
        assertTrue(standby.goToSleep(first, true, next, model.now, 0));
        assertSame(first, standby.poller());
        assertFalse(standby.needsLookBefore(next), "no round to make");
        assertEquals(Timeline.NEVER, first.until);
    }

    /** The loaded worker runs it, and becomes the poller before this one sleeps. */
    @Test
    void settle_anotherServesItsQueue_leavesItOut() {
        model.arm(model.queues[1], model.now);
        second.isLoaded = true;
        second.claimedAt = model.now;
        assertEquals(Timeline.NEVER, standby.settle(first, model.now, false));
        model.now += Worker.HELD_UP_NANOS + 1; // it does not get on
        assertTrue(standby.settle(first, model.now, false) <= model.now);
    }

    /** Once a second: else nothing would plan the sweep of what is stopped there. */
    @Test
    void settle_aLook_settlesAQueueThatAnotherServes() {
        model.arm(model.queues[1], model.now);
        second.isLoaded = true;
        second.claimedAt = model.now;
        assertEquals(model.now, standby.settle(first, model.now, true));
    }

    @Test
    void guard_findsThePollerInOneCallback_takesItsRole() {
        first.hasBegun = true;
        holdUp(first, model.now);
        assertTrue(standby.goToSleep(second, false, Timeline.NEVER, model.now + Worker.HELD_UP_NANOS, 0));
        assertEquals(model.now + Worker.HELD_UP_NANOS + Standby.GRACE_NANOS, second.until);
        second.wakesUp();
        assertFalse(standby.goToSleep(second, false, Timeline.NEVER, second.until, 0));
        assertSame(second, standby.poller());
    }

    @Test
    void newPoller_hasNoGuard_oneInReserveBecomesItAndIsCalled() {
        third.sleeps(Timeline.NEVER);
        holdUp(first, model.now);
        assertFalse(standby.goToSleep(second, false, Timeline.NEVER, model.now + MS, 0));
        assertSame(third, standby.guard());
        assertTrue(third.isCalled());
    }

    @Test
    void pollerGoesToSleep_guardWakesUpThenAnyway_theyChangeRoles() {
        model.arm(model.queues[0], model.now + 10 * MS);
        second.sleeps(model.now + 10 * MS);
        model.run(first);
        assertSame(second, standby.poller());
        assertSame(first, standby.guard());
        assertFalse(second.isCalled());
        assertTrue(first.until > second.until);
    }

    /** As with a thread that cannot be started: the next thread that arms tries again. */
    @Test
    void pollerCannotBeStarted_theGateSaysAgainThatItSleeps() {
        sleepAll();
        first.startsItsThread = false;
        model.arm(model.queues[1], model.now + 5 * MS);
        standby.startFailed();
        assertEquals(Timeline.NEVER, model.queues[1].gate.lookAt());
        int before = first.wakes;
        model.arm(model.queues[1], model.now + 5 * MS);
        assertEquals(before + 1, first.wakes);
    }

    @Test
    void spare_leavesUnlessItPolls() {
        Fake spare = new Fake("spare", null, true);
        standby.knows(first, second, spare);
        standby.begin(spare, second);
        first.sleeps(Timeline.NEVER);
        assertFalse(standby.leave(spare));
        standby.begin(first, spare);
        assertTrue(standby.leave(spare));
        assertSame(null, standby.guard());
    }
}
