package io.pendula;

import static io.pendula.LoopRaces.B;
import static io.pendula.LoopRaces.C;
import static io.pendula.LoopRaces.DUE;
import static io.pendula.LoopRaces.EARLY;
import static io.pendula.LoopRaces.LATE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.util.Arrays;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.LII_Result;
import org.openjdk.jcstress.infra.results.LI_Result;
import org.openjdk.jcstress.infra.results.LLI_Result;

/**
 * A queue whose loop has gone, and in which nothing is armed: the loop that owns it now retires it, and its timers are
 * armed again meanwhile. GoneQueues has the argument.
 */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class GoneRaces {
    /** The loop has gone. Its timers rest in a queue that is retired, or that the next look of its owner retires. */
    abstract static class Gone extends LoopRaces.Looped {
        final LoopWorker successor = attach(B);

        Gone(boolean retired) {
            super(0);
            if (!retired) {
                other.queue.arm(other, LATE);
            }
            detach(loop);
            if (!retired) {
                other.queue.stop(other);
                scheduler.pending(); // files it no more
            }
        }

        /** How often the queue is among the scheduler's. */
        final int listed() {
            return (int) Arrays.stream(scheduler.engine.queues).filter(q -> q == timer.queue).count();
        }
    }

    /** A timer that is armed while its queue retires is seen by the owner, or calls it. */
    @JCStressTest
    @Outcome(id = "armed, in time, 1", expect = ACCEPTABLE, desc = "The owner saw it, and the queue stays.")
    @Outcome(id = "armed, polls, 1", expect = ACCEPTABLE, desc = "It saw the call after publishing.")
    @Outcome(id = "armed, rung, 1", expect = ACCEPTABLE, desc = "It waits, and was called.")
    @State
    public static class ResetVsRetire extends Gone {
        public ResetVsRetire() {
            super(false);
        }

        @Actor
        public void reset(LLI_Result r) {
            r.r1 = tryReset(timer, EARLY);
        }

        @Actor
        public void retire(LLI_Result r) {
            r.r2 = successor.nanosUntilNext();
        }

        @Arbiter
        public void settle(LLI_Result r) {
            r.r2 = waits((long) r.r2, EARLY);
            r.r3 = listed();
        }
    }

    /** A queue that is already retired comes back, while its next owner goes to wait. */
    @JCStressTest
    @Outcome(id = "armed, in time, 1", expect = ACCEPTABLE, desc = "The owner saw it.")
    @Outcome(id = "armed, polls, 1", expect = ACCEPTABLE, desc = "It saw the call after publishing.")
    @Outcome(id = "armed, rung, 1", expect = ACCEPTABLE, desc = "It waits, and was called.")
    @State
    public static class ResetVsWaitOfOwner extends Gone {
        public ResetVsWaitOfOwner() {
            super(true);
        }

        @Actor
        public void reset(LLI_Result r) {
            r.r1 = tryReset(timer, EARLY);
        }

        @Actor
        public void sleep(LLI_Result r) {
            r.r2 = successor.nanosUntilNext();
        }

        @Arbiter
        public void settle(LLI_Result r) {
            r.r2 = waits((long) r.r2, EARLY);
            r.r3 = listed();
        }
    }

    /** Two threads that arm on a retired queue bring it back once. */
    @JCStressTest
    @Outcome(id = "armed, armed, 21", expect = ACCEPTABLE, desc = "Both are pending in a queue that is listed once.")
    @State
    public static class ResetVsReset extends Gone {
        public ResetVsReset() {
            super(true);
        }

        @Actor
        public void one(LLI_Result r) {
            r.r1 = tryReset(timer, EARLY);
        }

        @Actor
        public void two(LLI_Result r) {
            r.r2 = tryReset(other, LATE);
        }

        @Arbiter
        public void settle(LLI_Result r) {
            r.r3 = (int) scheduler.pending() * 10 + listed();
        }
    }

    /** One timer is armed on a retired queue and stopped at once: afterwards the queue retires again. */
    @JCStressTest
    @Outcome(id = "armed, 1, 0", expect = ACCEPTABLE, desc = "Stopped after it was armed.")
    @Outcome(id = "armed, 0, 1", expect = ACCEPTABLE, desc = "The stop came first.")
    @State
    public static class ResetVsStop extends Gone {
        public ResetVsStop() {
            super(true);
        }

        @Actor
        public void reset(LII_Result r) {
            r.r1 = tryReset(timer, EARLY);
        }

        @Actor
        public void stop(LII_Result r) {
            r.r2 = Rig.one(timer.queue.stop(timer));
        }

        @Arbiter
        public void settle(LII_Result r) {
            int pending = (int) scheduler.pending(); // drops what was stopped in the inbox
            successor.nanosUntilNext();
            r.r3 = pending == listed() ? pending : -1;
        }
    }

    /** A timer of a retired queue is armed and returned by the scheduler that closes, or refused. */
    @JCStressTest
    @Outcome(id = "armed, 1", expect = ACCEPTABLE, desc = "Returned.")
    @Outcome(id = "refused, 0", expect = ACCEPTABLE, desc = "The scheduler was closed.")
    @State
    public static class ResetVsShutdown extends Gone {
        public ResetVsShutdown() {
            super(true);
        }

        @Actor
        public void reset(LI_Result r) {
            r.r1 = tryReset(timer, EARLY);
        }

        @Actor
        public void shutdown(LI_Result r) {
            r.r2 = scheduler.shutdownNow().size();
        }
    }

    /** The same when the last loop goes. */
    @JCStressTest
    @Outcome(id = "armed, 1", expect = ACCEPTABLE, desc = "Returned by the loop.")
    @Outcome(id = "refused, 0", expect = ACCEPTABLE, desc = "There was no loop any more.")
    @State
    public static class ResetVsLastDetach extends Gone {
        public ResetVsLastDetach() {
            super(true);
        }

        @Actor
        public void reset(LI_Result r) {
            r.r1 = tryReset(timer, EARLY);
        }

        @Actor
        public void detach(LI_Result r) {
            r.r2 = detach(successor).size();
        }
    }

    /** A timer at rest is armed while its loop goes: the queue never retires with it inside. */
    @JCStressTest
    @Outcome(id = "armed, in time, 1", expect = ACCEPTABLE, desc = "Before, or after a come-back.")
    @State
    public static class ResetVsDetach extends LoopRaces.Looped {
        private final LoopWorker successor = attach(B);

        public ResetVsDetach() {
            super(0);
        }

        @Actor
        public void reset(LLI_Result r) {
            r.r1 = tryReset(timer, EARLY);
        }

        @Actor
        public void detach() {
            detach(loop);
        }

        @Arbiter
        public void settle(LLI_Result r) {
            r.r2 = waits(successor.nanosUntilNext(), EARLY);
            r.r3 = (int) scheduler.pending();
        }
    }

    /** The figures of a queue that retires are counted once. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Before or after.")
    @State
    public static class StatsVsRetire extends Gone {
        public StatsVsRetire() {
            super(false);
        }

        @Actor
        public void retire() {
            successor.nanosUntilNext();
        }

        @Actor
        public void stats(II_Result r) {
            TimerStats s = scheduler.stats();
            r.r1 = (int) s.armed();
            r.r2 = (int) s.stopped();
        }
    }

    /** The same when it comes back. */
    @JCStressTest
    @Outcome(id = "armed, 0, 0", expect = ACCEPTABLE, desc = "Before.")
    @Outcome(id = "armed, 1, 1", expect = ACCEPTABLE, desc = "After.")
    @State
    public static class StatsVsReset extends Gone {
        public StatsVsReset() {
            super(true);
        }

        @Actor
        public void reset(LII_Result r) {
            r.r1 = tryReset(timer, EARLY);
        }

        @Actor
        public void stats(LII_Result r) {
            TimerStats s = scheduler.stats();
            r.r2 = (int) s.armed();
            r.r3 = (int) s.pending();
        }
    }

    /** The loop has gone with a timer that is due, and that another loop may help with. */
    abstract static class Late extends LoopRaces.Looped {
        final LoopWorker successor = attach(B);
        final LoopWorker helper = attach(C);

        Late() {
            super(0);
            timer.queue.arm(timer, DUE);
            detach(loop);
        }
    }

    /**
     * A timer that arms itself in a helper's run, while the owner would retire its queue and the scheduler closes: the
     * next run is returned or refused, since a queue with a running timer does not retire.
     */
    @JCStressTest
    @Outcome(id = "armed, 1", expect = ACCEPTABLE, desc = "Run, armed, returned.")
    @Outcome(id = "refused, 0", expect = ACCEPTABLE, desc = "Run; the scheduler was closed.")
    @Outcome(id = "never ran, 1", expect = ACCEPTABLE, desc = "Returned.")
    @State
    public static class RunThatRearmsVsRetireAndShutdown extends Late {
        private volatile String rearmed = "never ran";

        @Override
        void run() {
            super.run();
            rearmed = tryReset(timer, LATE);
        }

        @Actor
        public void help() {
            helper.helpOthers();
        }

        @Actor
        public void retireAndShutdown(LI_Result r) {
            successor.nanosUntilNext();
            r.r2 = scheduler.shutdownNow().size();
        }

        @Arbiter
        public void settle(LI_Result r) {
            r.r1 = rearmed;
        }
    }

    /** A one-shot that ends in a helper's run is armed meanwhile: it is pending in a listed queue. */
    @JCStressTest
    @Outcome(id = "armed, 11", expect = ACCEPTABLE, desc = "Armed while it ran, or afterwards.")
    @Outcome(id = "replaced, 11", expect = ACCEPTABLE, desc = "Put off before it ran.")
    @State
    public static class RunVsRetireAndReset extends Late {
        @Actor
        public void help() {
            helper.helpOthers();
        }

        @Actor
        public void retireAndReset(LI_Result r) {
            successor.nanosUntilNext();
            r.r1 = tryReset(timer, LATE);
        }

        @Arbiter
        public void settle(LI_Result r) {
            r.r2 = (int) scheduler.pending() * 10 + (int) Arrays.stream(scheduler.engine.queues)
                    .filter(q -> q == timer.queue).count();
        }
    }
}
