package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.standby.Standby;
import io.pendula.internal.workers.Worker;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * The roles of the workers: a poller and a guard that go to sleep, wake up and change roles, against threads that arm.
 * The workers are there, but their threads never run; actors make their steps, by the production methods. The numbers
 * are those of the argument in Standby.
 */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class StandbyRaces {
    private static final long NOW = 1_000_000;
    private static final long SOON = 50_000_000;
    private static final long LATER = 90_000_000;

    /** A thread that is never started: it sits in a worker's seat. */
    private static final class Idle extends Thread {
        @Override
        public synchronized void start() {
            // The actors are the threads.
        }
    }

    /** Two workers, one queue that is not published. */
    abstract static class Workers {
        final SchedulerEngine engine = TimerExecutors.newScheduledThreadPool(2, r -> new Idle()).engine;
        final Standby standby = engine.standby;
        final TimerQueue queue = engine.queues[0];
        final Worker poller = worker();
        final Worker guard = worker();

        Workers() {
            standby.begin(poller, guard);
        }

        private Worker worker() {
            Worker d = new Worker(engine.workerPool, standby, queue, false);
            d.setThread(new Idle());
            return d;
        }

        final void arm(long when) {
            queue.arm(new OneShotTimer(queue, () -> {}), when);
        }

        /** When the poller must look next. */
        final long settle(Worker d) {
            long next = standby.settle(d, NOW, false);
            while (next == DueTimers.RETRY) {
                next = standby.settle(d, NOW, false);
            }
            return next;
        }

        /** Whether it sleeps: it has looked once more before it parks. */
        final boolean sleepAsPoller(Worker d) {
            long next = settle(d);
            return standby.goToSleep(d, true, next, NOW, 0) && !d.isCalled(next);
        }

        /** What is wrong, at rest, if something is armed for SOON: nobody who sleeps may sleep beyond that uncalled. */
        final String fault() {
            Worker p = (Worker) standby.poller();
            if (!p.asleep || p.isCalled() || !p.isCalled(Timeline.NEVER) && p.until <= SOON) {
                return "none";
            }
            if (p.isCalled(p.until)) { // it would see this before it parks, if it has not parked yet
                return "gate says " + (queue.gate.lookAt() == WakeGate.AWAKE ? "awake" : "an instant");
            }
            return p.until <= SOON ? "none" : "overslept";
        }
    }

    /** 1. The poller goes to sleep while a timer is armed. */
    @JCStressTest @State
    @Outcome(id = "none", expect = ACCEPTABLE, desc = "It is up, or called, or sleeps until then.")
    public static class ArmVsSleep extends Workers {
        private boolean isAsleep;
        @Actor public void arm() { arm(SOON); }
        @Actor public void sleep() {
            isAsleep = sleepAsPoller(poller);
        }
        @Arbiter public void settle(L_Result r) { r.r1 = isAsleep ? fault() : "none"; }
    }

    /** 2. The poller hands over to the guard, which sleeps, while a timer is armed. */
    @JCStressTest @State
    @Outcome(id = "none", expect = ACCEPTABLE, desc = "The new poller is called, or sleeps until then.")
    public static class ArmVsHandOver extends Workers {
        private final long next;

        public ArmVsHandOver() {
            arm(LATER);
            next = settle(poller);
            guard.sleeps(LATER);
        }

        @Actor public void arm() { arm(SOON); }
        @Actor public void handOver() { standby.goToSleep(poller, true, next, NOW, 0); }
        @Arbiter public void settle(L_Result r) {
            r.r1 = standby.poller() == guard ? fault() : "none"; // else the poller has seen the arming
        }
    }

    /** 4. A worker that has lost its role drains a timer while the new poller goes to sleep. */
    @JCStressTest @State
    @Outcome(id = "none", expect = ACCEPTABLE, desc = "The new poller is called, or sleeps until then.")
    public static class DrainVsSleep extends Workers {
        private boolean isAsleep;

        public DrainVsSleep() {
            arm(LATER);
            // As if it were in a callback, and the guard had found it held up: the guard is the poller from now on.
            standby.begin(guard, null);
        }

        @Actor public void drain() {
            arm(SOON);
            Inside.drain(queue);
        }
        @Actor public void sleep() { isAsleep = sleepAsPoller(guard); }
        @Arbiter public void settle(L_Result r) { r.r1 = isAsleep ? fault() : "none"; }
    }

    /** A drain moves what has arrived into nextWhen, and a look reads arrivals first, then nextWhen: it sees the timer. */
    @JCStressTest @State
    @Outcome(id = "soon", expect = ACCEPTABLE, desc = "The timer is seen, in arrivals or in nextWhen.")
    public static class DrainVsLook extends Workers {
        private long seen;

        public DrainVsLook() {
            arm(LATER);
            queue.due.settle(NOW);
            arm(SOON);
        }

        @Actor public void drain() { queue.due.settle(NOW); }
        @Actor public void look() { seen = queue.due.lookAt(); }
        @Arbiter public void settle(L_Result r) { r.r1 = seen <= SOON ? "soon" : "missed"; }
    }

    /** The same for a timer that is armed meanwhile: whatever the drain has taken, one of the two words tells it. */
    @JCStressTest @State
    @Outcome(id = "soon", expect = ACCEPTABLE, desc = "The timer is seen, in arrivals or in nextWhen.")
    public static class ArmVsDrain extends Workers {
        public ArmVsDrain() {
            arm(LATER);
        }

        @Actor public void arm() { arm(SOON); }
        @Actor public void drain() { queue.due.settle(NOW); }
        @Arbiter public void settle(L_Result r) { r.r1 = queue.due.lookAt() <= SOON ? "soon" : "missed"; }
    }

    /** 3. The guard goes to sleep while the poller wakes up and begins a callback. */
    @JCStressTest @State
    @Outcome(id = "called", expect = ACCEPTABLE, desc = "The poller saw that it sleeps too long.")
    @Outcome(id = "soon", expect = ACCEPTABLE, desc = "It saw that the poller is up.")
    public static class GuardSleepsVsPollerWakesUp extends Workers {
        public GuardSleepsVsPollerWakesUp() {
            arm(SOON); // what would be late behind a callback that blocks
            settle(poller);
            poller.sleeps(LATER);
        }

        @Actor public void sleep() { standby.goToSleep(guard, false, Timeline.NEVER, NOW, 0); }
        @Actor public void wakeUp() { poller.asleep = false; standby.ensureGuard(poller, queue, NOW); }
        @Arbiter public void settle(L_Result r) {
            r.r1 = guard.isCalled() ? "called" : guard.until <= SOON ? "soon" : "too long";
        }
    }

    /** 3. The poller begins its first callback, and says when the guard looks, while a timer is armed. */
    @JCStressTest @State
    @Outcome(id = "called", expect = ACCEPTABLE, desc = "The guard is called, by the one or the other.")
    public static class ArmVsFirstCallback extends Workers {
        public ArmVsFirstCallback() {
            arm(NOW - 1); // what it runs
            guard.sleeps(Timeline.NEVER);
        }

        @Actor public void arm() { arm(SOON); }
        @Actor public void begin() {
            queue.due.pollOne(poller, NOW);
            standby.ensureGuard(poller, queue, NOW);
        }
        @Arbiter public void settle(L_Result r) { r.r1 = guard.isCalled() ? "called" : "not called"; }
    }

    /** A worker whose thread cannot be started. */
    private static final class Threadless extends Sleeper {
        Threadless() {
            super(null, false);
        }

        @Override
        public boolean wakeThread() {
            return false;
        }

        @Override
        public void tell(Throwable thrown) {}
    }

    /** The first timer is armed, and the poller's thread cannot be started, while the guard goes to sleep for ever. */
    @JCStressTest @State
    @Outcome(id = "called", expect = ACCEPTABLE, desc = "The thread that arms has seen that the guard sleeps.")
    @Outcome(id = "looks again", expect = ACCEPTABLE, desc = "The guard has seen the timer.")
    public static class FirstArmVsGuardSleeps extends Workers {
        public FirstArmVsGuardSleeps() {
            Threadless dead = new Threadless();
            dead.sleeps(Timeline.NEVER);
            standby.begin(dead, guard);
        }

        @Actor public void sleep() { standby.goToSleep(guard, false, Timeline.NEVER, NOW, 0); }
        @Actor public void arm() { arm(LATER); }
        @Arbiter public void settle(L_Result r) {
            r.r1 = guard.isCalled() ? "called" : guard.until != Timeline.NEVER ? "looks again" : "sleeps for ever";
        }
    }
}
