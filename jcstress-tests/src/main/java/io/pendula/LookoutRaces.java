package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.util.concurrent.locks.LockSupport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;

/**
 * The lookout of a pool: drivers that begin tasks, appoint and lend, against those that go to sleep or get up. All
 * drivers are there, but their threads never run; actors make their steps. What Driver does around Lookout is done here
 * by the same fields in the same order; LookoutModelTest has the whole of it.
 */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class LookoutRaces {
    private static final long NOW = 1;
    private static final long SOON = 50_000_000;

    /** A thread that is never started: it holds a driver, and does nothing. */
    private static final class Idle extends Thread {
        @Override
        public synchronized void start() {
            // The actors are the threads.
        }
    }

    /** A pool of three, all up; nobody holds the lookout. Each of the first two keeps a queue if there are two. */
    abstract static class Pool {
        final TimerScheduler scheduler = TimerExecutors.newScheduledThreadPool(3, r -> new Idle()).scheduler;
        final Lookout lookout = scheduler.lookout;
        final Driver a;
        final Driver b;
        final Driver c;

        Pool() {
            scheduler.crew.ensureStarted();
            scheduler.crew.startAnother();
            a = scheduler.crew.drivers()[0];
            b = scheduler.crew.drivers()[1];
            lookout.startFailed(b);
            scheduler.crew.startAnother();
            c = scheduler.crew.drivers()[2];
            lookout.startFailed(c);
            for (TimerQueue q : scheduler.queues) {
                keep(q, q.index == 0 ? a : b);
            }
            if (second().gate.keeper() == b) {
                second().gate.setPollUntil(Timeline.NEVER); // it has nothing to do, and is about to sleep
            }
        }

        final TimerQueue first() {
            return scheduler.queues[0];
        }

        private TimerQueue second() {
            return scheduler.queues[scheduler.queues.length - 1];
        }

        private static void keep(TimerQueue q, Driver d) {
            q.lock();
            try {
                q.keep(d);
            } finally {
                q.unlock();
            }
        }

        final void begin(Driver d) {
            d.busy = true;
            lookout.begins(d, NOW);
        }

        /** Says that the driver is asleep; then whether it may be so, as Driver.sleepUntil finds. */
        final boolean fallAsleep(Driver d, long until, boolean held) {
            d.until = until;
            d.asleep = true;
            for (TimerQueue q : scheduler.queues) {
                if (q.gate.keeper() == d && q.gate.pollUntil() < until) {
                    return false;
                }
            }
            return !lookout.isNeeded(d, held);
        }

        final void sleepAsHolder(Driver d, long until) {
            lookout.starts(d);
            d.until = until;
            d.asleep = true;
        }

        final void getUp(Driver d) {
            d.asleep = false;
        }

        final String holder() {
            return lookout.isHeldBy(a) ? "a" : lookout.isHeldBy(b) ? "b" : lookout.isHeldBy(c) ? "c" : "nobody";
        }

        final String keeper(TimerQueue q) {
            return q.gate.keeper() == a ? "a" : q.gate.keeper() == b ? "b" : "c";
        }
    }

    /** The holder goes to sleep while a begins a task: either it is up for a's queue, or that is lent to it. */
    @JCStressTest
    @Outcome(id = "up, [ac]", expect = ACCEPTABLE, desc = "The holder looks around once more.")
    @Outcome(id = "asleep, c", expect = ACCEPTABLE, desc = "It was lent the queue.")
    @State
    public static class BeginVsSleepOfHolder extends Pool {
        public BeginVsSleepOfHolder() {
            lookout.starts(c);
        }

        @Actor
        public void begin() {
            begin(a);
        }

        @Actor
        public void sleep(LL_Result r) {
            Rig.jitter(5_000);
            r.r1 = fallAsleep(c, Timeline.NEVER, true) ? "asleep" : "up";
        }

        @Arbiter
        public void settle(LL_Result r) {
            r.r2 = keeper(first());
        }
    }

    /** The same where nobody holds the lookout: the sleeper takes it and is up, or was appointed and lent the queue. */
    @JCStressTest
    @Outcome(id = "up, c", expect = ACCEPTABLE, desc = "It took over, or was appointed in time.")
    @Outcome(id = "asleep, c lent", expect = ACCEPTABLE, desc = "It was appointed in its sleep.")
    @State
    public static class BeginVsSleep extends Pool {
        @Actor
        public void begin() {
            begin(a);
        }

        @Actor
        public void sleep(LL_Result r) {
            Rig.jitter(5_000);
            r.r1 = fallAsleep(c, Timeline.NEVER, false) ? "asleep" : "up";
        }

        @Arbiter
        public void settle(LL_Result r) {
            r.r2 = holder() + ("asleep".equals(r.r1) && first().gate.keeper() == c ? " lent" : "");
        }
    }

    /** Who gets up and begins a task while it is being appointed does not stay the holder. */
    @JCStressTest
    @Outcome(id = "nobody", expect = ACCEPTABLE, desc = "All are busy or up.")
    @State
    public static class AppointVsBegin extends Pool {
        public AppointVsBegin() {
            c.until = Timeline.NEVER;
            c.asleep = true;
        }

        @Actor
        public void appoint() {
            begin(a);
        }

        @Actor
        public void getUp() {
            Rig.jitter(5_000);
            getUp(c);
            begin(c);
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = holder();
        }
    }

    /** The same when a third goes to sleep just then: it takes over, or is appointed in its place. */
    @JCStressTest
    @Outcome(id = "(true|false), b", expect = ACCEPTABLE, desc = "The only one that is idle.")
    @State
    public static class AppointVsBeginVsSleep extends Pool {
        public AppointVsBeginVsSleep() {
            c.until = Timeline.NEVER;
            c.asleep = true;
        }

        @Actor
        public void appoint() {
            begin(a);
        }

        @Actor
        public void getUpThenSleep(ZL_Result r) {
            Rig.jitter(5_000);
            getUp(c);
            begin(c);
            r.r1 = fallAsleep(b, Timeline.NEVER, false);
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = holder();
        }
    }

    /** Two that begin tasks appoint one holder between them, which is lent the queues of both, or woken. */
    @JCStressTest
    @Outcome(id = "c", expect = ACCEPTABLE, desc = "One of them did.")
    @State
    public static class TwoAppoint extends Pool {
        public TwoAppoint() {
            c.until = Timeline.NEVER;
            c.asleep = true;
        }

        @Actor
        public void begin() {
            begin(a);
        }

        @Actor
        public void beginToo() {
            begin(b);
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = holder();
        }
    }

    /**
     * A loan for a sleep that ends meanwhile, and is followed by a longer one: whoever arms a task between the two ends
     * would wake nobody, so the holder must have seen the loan, or be woken by the lender.
     */
    @JCStressTest
    @Outcome(id = "up", expect = ACCEPTABLE, desc = "It has seen the loan, or that a is busy.")
    @Outcome(id = "lent for as long as it sleeps", expect = ACCEPTABLE, desc = "The lender saw the longer sleep.")
    @Outcome(id = "woken", expect = ACCEPTABLE, desc = "By the lender.")
    @State
    public static class LoanVsLongerSleep extends Pool {
        private volatile boolean ready;
        private volatile boolean done;

        public LoanVsLongerSleep() {
            sleepAsHolder(c, SOON);
        }

        @Actor
        public void begin() {
            while (!ready) {
                Thread.onSpinWait();
            }
            begin(a);
            done = true;
        }

        @Actor
        public void sleep(L_Result r) {
            c.setThread(Thread.currentThread());
            LockSupport.unpark(Thread.currentThread()); // so that the next park returns at once and leaves no permit
            LockSupport.park();
            ready = true;
            Rig.jitter(5_000);
            getUp(c);
            if (!fallAsleep(c, Timeline.NEVER, true)) {
                r.r1 = "up";
                return;
            }
            while (!done) {
                Thread.onSpinWait();
            }
            if (first().gate.keeper() == c && first().gate.pollUntil() == Timeline.NEVER) {
                r.r1 = "lent for as long as it sleeps";
                return;
            }
            long start = System.nanoTime();
            LockSupport.parkNanos(10_000_000_000L);
            r.r1 = System.nanoTime() - start < 5_000_000_000L ? "woken" : "overslept";
        }
    }
}
