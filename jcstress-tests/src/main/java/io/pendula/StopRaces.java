package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZIL_Result;
import org.openjdk.jcstress.infra.results.ZLL_Result;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** A stop against a claim, another stop, a reset and a receiver. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class StopRaces {

    /** A due timer is either stopped or run. */
    @JCStressTest
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Stopped before the claim.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Claimed before the stop.")
    @State
    public static class StopVsRun extends Rig {
        public StopVsRun() {
            file(timer, DUE);
        }

        @Actor
        public void stop(ZIL_Result r) {
            r.r1 = queue.stop(timer);
        }

        @Actor
        public void run(ZIL_Result r) {
            r.r2 = worker.runDue(queue, DUE);
        }

        @Arbiter
        public void settle(ZIL_Result r) {
            r.r3 = audit(1, one(r.r1), 0);
        }
    }

    /** A timer that is still in the inbox is either stopped or run, too. */
    @JCStressTest
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Stopped before the claim.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Claimed before the stop.")
    @State
    public static class StopOfQueuedVsRun extends Rig {
        public StopOfQueuedVsRun() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void stop(ZIL_Result r) {
            r.r1 = queue.stop(timer);
        }

        @Actor
        public void run(ZIL_Result r) {
            r.r2 = worker.runDue(queue, DUE);
        }

        @Arbiter
        public void settle(ZIL_Result r) {
            r.r3 = audit(1, one(r.r1), 0);
        }
    }

    /** Of two stops exactly one prevents the firing. */
    @JCStressTest
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    @State
    public static class StopVsStop extends Rig {
        public StopVsStop() {
            file(timer, DUE);
        }

        @Actor
        public void stop(ZZL_Result r) {
            r.r1 = queue.stop(timer);
        }

        @Actor
        public void stopToo(ZZL_Result r) {
            r.r2 = queue.stop(timer);
        }

        @Arbiter
        public void settle(ZZL_Result r) {
            r.r3 = audit(1, 1, 0);
        }
    }

    /** Of two stops of a timer that is still in the inbox exactly one prevents the firing, too. */
    @JCStressTest
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    @State
    public static class StopVsStopOfQueued extends Rig {
        public StopVsStopOfQueued() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void stop(ZZL_Result r) {
            r.r1 = queue.stop(timer);
        }

        @Actor
        public void stopToo(ZZL_Result r) {
            r.r2 = queue.stop(timer);
        }

        @Arbiter
        public void settle(ZZL_Result r) {
            r.r3 = audit(1, 1, 0);
        }
    }

    /** A stop takes either the old firing or the one that a reset put in its place, never none and never both. */
    @JCStressTest
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Put off, then stopped.")
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Stopped, then armed again: its entry lives again.")
    @State
    public static class StopVsResetLater extends Rig {
        public StopVsResetLater() {
            file(timer, DUE);
        }

        @Actor
        public void stop(ZLL_Result r) {
            r.r1 = queue.stop(timer);
        }

        @Actor
        public void reset(ZLL_Result r) {
            r.r2 = tryReset(LATE);
        }

        @Arbiter
        public void settle(ZLL_Result r) {
            r.r3 = audit(2, 1, one("replaced".equals(r.r2)));
        }
    }

    /** The same for a reset that brings the timer forward, which leaves a stale entry behind. */
    @JCStressTest
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Brought forward, then stopped.")
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Stopped, then armed again.")
    @State
    public static class StopVsResetEarlier extends Rig {
        public StopVsResetEarlier() {
            file(timer, DUE);
        }

        @Actor
        public void stop(ZLL_Result r) {
            r.r1 = queue.stop(timer);
        }

        @Actor
        public void reset(ZLL_Result r) {
            r.r2 = tryReset(EARLY);
        }

        @Arbiter
        public void settle(ZLL_Result r) {
            r.r3 = audit(2, 1, one("replaced".equals(r.r2)));
        }
    }

    /** The same for a timer that is still in the inbox. */
    @JCStressTest
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Reset, then stopped.")
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Stopped, then armed again without a push.")
    @State
    public static class StopVsResetOfQueued extends Rig {
        public StopVsResetOfQueued() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void stop(ZLL_Result r) {
            r.r1 = queue.stop(timer);
        }

        @Actor
        public void reset(ZLL_Result r) {
            r.r2 = tryReset(EARLY);
        }

        @Arbiter
        public void settle(ZLL_Result r) {
            r.r3 = audit(2, 1, one("replaced".equals(r.r2)));
        }
    }

    /** A firing that waits for a receiver is either received or taken away. */
    @JCStressTest
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "Taken away.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "Received.")
    @State
    public static class StopVsReceive extends Rig {
        private final OneShotTimer received = new OneShotTimer.Received(queue);

        public StopVsReceive() {
            file(received, DUE);
            worker.runDue(queue, DUE);
        }

        @Actor
        public void stop(ZZL_Result r) {
            r.r1 = queue.stop(received);
        }

        @Actor
        public void receive(ZZL_Result r) {
            r.r2 = receive(received);
        }

        @Arbiter
        public void settle(ZZL_Result r) {
            r.r3 = audit(1, 0, 0);
        }
    }
}
