package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.scheduler.SchedulerEngine;
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
            for (TimerQueue q : engine.queues) {
                if (q != queue) {
                    q.due.prepareToSleep(standby, NOW);
                }
            }
        }

        private Worker worker() {
            Worker d = new Worker(engine.workerPool, standby, queue, false);
            d.setThread(new Idle());
            return d;
        }

        final void arm(long when) {
            queue.arm(new OneShotTimer(queue, () -> {}), when);
        }

        final void publish(Worker d) {
            queue.due.prepareToSleep(standby, NOW);
            standby.published(d);
        }

        /** What is wrong, at rest, if something is armed for SOON: nobody who sleeps may sleep beyond that uncalled. */
        final String fault() {
            Worker p = (Worker) standby.poller();
            if (!p.asleep || p.isCalled() || !p.isCalled(Timeline.NEVER) && p.until <= SOON) {
                return "none";
            }
            if (p.isCalled(p.until)) { // it would see this before it parks, if it has not parked yet
                return "gate says " + (queue.gate.pollUntil() == WakeGate.AWAKE ? "awake" : "an instant");
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
            publish(poller);
            long next = queue.gate.pollUntil();
            isAsleep = next != WakeGate.AWAKE && standby.goToSleep(poller, true, next, NOW, 0)
                    && !poller.isCalled(next); // the look before the park
        }
        @Arbiter public void settle(L_Result r) { r.r1 = isAsleep ? fault() : "none"; }
    }

    /** 2. The poller hands over to the guard, which sleeps, while a timer is armed. */
    @JCStressTest @State
    @Outcome(id = "none", expect = ACCEPTABLE, desc = "The new poller is called, or sleeps until then.")
    public static class ArmVsHandOver extends Workers {
        public ArmVsHandOver() {
            queue.arm(new OneShotTimer(queue, () -> {}), LATER);
            publish(poller);
            guard.sleeps(LATER);
        }

        @Actor public void arm() { arm(SOON); }
        @Actor public void handOver() {
            long next = queue.gate.pollUntil();
            if (next != WakeGate.AWAKE) {
                standby.goToSleep(poller, true, next, NOW, 0);
            }
        }
        @Arbiter public void settle(L_Result r) {
            r.r1 = standby.poller() == guard ? fault() : "none"; // else the poller has seen the arming
        }
    }

    /** 3. A poller that has lost its role publishes an instant that it has taken from the inbox. */
    @JCStressTest @State
    @Outcome(id = "none", expect = ACCEPTABLE, desc = "The new poller is called, or sleeps until then.")
    public static class PublishVsTakeOver extends Workers {
        private boolean isAsleep;

        public PublishVsTakeOver() {
            queue.arm(new OneShotTimer(queue, () -> {}), LATER);
            publish(poller);
            // As if it were in a callback, and the guard had found it held up: the guard is the poller from now on.
            standby.begin(guard, null);
        }

        @Actor public void publishLate() {
            queue.arm(new OneShotTimer(queue, () -> {}), SOON); // its own arming, after which it publishes
            publish(poller);
        }
        @Actor public void sleep() {
            publish(guard);
            long next = queue.gate.pollUntil();
            isAsleep = next != WakeGate.AWAKE && standby.goToSleep(guard, true, next, NOW, 0) && !guard.isCalled(next);
        }
        @Arbiter public void settle(L_Result r) { r.r1 = isAsleep ? fault() : "none"; }
    }

    /** 4. The guard goes to sleep while the poller wakes up and begins a callback. */
    @JCStressTest @State
    @Outcome(id = "called", expect = ACCEPTABLE, desc = "The poller saw that it sleeps too long.")
    @Outcome(id = "soon", expect = ACCEPTABLE, desc = "It saw that the poller is up.")
    public static class GuardSleepsVsPollerWakesUp extends Workers {
        public GuardSleepsVsPollerWakesUp() {
            arm(SOON); // what would be late behind a callback that blocks
            publish(poller);
            poller.sleeps(Timeline.NEVER);
        }

        @Actor public void sleep() { standby.goToSleep(guard, false, Timeline.NEVER, NOW, 0); }
        @Actor public void wakeUp() { poller.asleep = false; standby.ensureGuard(poller, queue, NOW); }
        @Arbiter public void settle(L_Result r) {
            r.r1 = guard.isCalled() ? "called" : guard.until <= SOON ? "soon" : "too long";
        }
    }

    /** The poller takes the queue up and drains it, then runs a callback, while a timer is armed. */
    @JCStressTest @State
    @Outcome(id = "drained", expect = ACCEPTABLE, desc = "The poller has it: what it leaves behind the guard looks after.")
    @Outcome(id = "called", expect = ACCEPTABLE, desc = "The guard is called.")
    public static class ArmVsTakeUp extends Workers {
        public ArmVsTakeUp() {
            queue.arm(new OneShotTimer(queue, () -> {}), NOW - 1); // what it runs
            guard.sleeps(Timeline.NEVER);
        }

        @Actor public void arm() { arm(SOON); }
        @Actor public void takeUp() { queue.due.pollOne(poller, NOW, standby.helpBefore(poller)); }
        @Arbiter public void settle(L_Result r) {
            r.r1 = guard.isCalled() ? "called" : Inside.holdsTimers(queue) ? "left" : "drained";
        }
    }

    /** The first timer is armed while the guard ends its nap, to sleep for ever like the poller. */
    @JCStressTest @State
    @Outcome(id = "called", expect = ACCEPTABLE, desc = "The thread that arms has seen that the guard naps no more.")
    @Outcome(id = "naps", expect = ACCEPTABLE, desc = "The guard has seen the timer.")
    public static class FirstArmVsEndOfNap extends Workers {
        private final Worker napping = new Worker(engine.workerPool, standby, queue, false);

        public FirstArmVsEndOfNap() {
            napping.setThread(new Idle());
            publish(poller);
            poller.sleeps(Timeline.NEVER);
            standby.firstIsArmed();
            standby.begin(poller, napping);
            napping.sleeps(Timeline.NEVER); // stands for the guard that was called
            standby.goToSleep(napping, false, Timeline.NEVER, NOW, 0);
            napping.asleep = false;
        }

        @Actor public void endNap() { standby.goToSleep(napping, false, Timeline.NEVER, NOW + 2_000_000_000, 0); }
        @Actor public void arm() { queue.arm(new OneShotTimer(queue, () -> {}), LATER); }
        @Arbiter public void settle(L_Result r) {
            r.r1 = napping.isCalled() ? "called" : napping.until != Timeline.NEVER ? "naps" : "sleeps for ever";
        }
    }
}
