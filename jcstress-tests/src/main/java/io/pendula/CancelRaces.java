package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZIL_Result;
import org.openjdk.jcstress.infra.results.ZLL_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** A cancel against a claim, the end of a run, a stop, a reset, a receiver and another cancel. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class CancelRaces {

    /** A due timer is either cancelled or run with its task; then the task is dropped. */
    @JCStressTest
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Cancelled before the claim.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Claimed before the cancel.")
    @State
    public static class CancelVsRun extends Rig {
        public CancelVsRun() {
            file(timer, DUE);
        }

        @Actor
        public void cancel(ZIL_Result r) {
            r.r1 = queue.cancel(timer);
        }

        @Actor
        public void run(ZIL_Result r) {
            r.r2 = worker.runDue(queue, DUE);
        }

        @Arbiter
        public void settle(ZIL_Result r) {
            r.r3 = timer.work() != null ? "task kept" : audit(1, one(r.r1), 0);
        }
    }

    /** A cancel in a run prevents the next firing, whether that run has ended or not. */
    @JCStressTest
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Prevented.")
    @State
    public static class CancelVsEndOfRun extends Rig {
        public CancelVsEndOfRun() {
            file(timer, DUE);
            worker.claim(queue, DUE);
            queue.reset(timer, LATE);
        }

        @Actor
        public void cancel(ZL_Result r) {
            r.r1 = queue.cancel(timer);
        }

        @Actor
        public void end(ZL_Result r) {
            worker.finish();
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = audit(2, 1, 0);
        }
    }

    /** Of a cancel and a stop exactly one prevents the firing. */
    @JCStressTest
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    @State
    public static class CancelVsStop extends Rig {
        public CancelVsStop() {
            file(timer, DUE);
        }

        @Actor
        public void cancel(ZZL_Result r) {
            r.r1 = queue.cancel(timer);
        }

        @Actor
        public void stop(ZZL_Result r) {
            r.r2 = queue.stop(timer);
        }

        @Arbiter
        public void settle(ZZL_Result r) {
            r.r3 = audit(1, 1, 0);
        }
    }

    /** The same for a timer that is still in the inbox. */
    @JCStressTest
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    @State
    public static class CancelVsStopOfQueued extends Rig {
        public CancelVsStopOfQueued() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void cancel(ZZL_Result r) {
            r.r1 = queue.cancel(timer);
        }

        @Actor
        public void stop(ZZL_Result r) {
            r.r2 = queue.stop(timer);
        }

        @Arbiter
        public void settle(ZZL_Result r) {
            r.r3 = audit(1, 1, 0);
        }
    }

    /** Of two cancels exactly one prevents the firing. */
    @JCStressTest
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    @State
    public static class CancelVsCancel extends Rig {
        public CancelVsCancel() {
            file(timer, DUE);
        }

        @Actor
        public void cancel(ZZL_Result r) {
            r.r1 = queue.cancel(timer);
        }

        @Actor
        public void cancelToo(ZZL_Result r) {
            r.r2 = queue.cancel(timer);
        }

        @Arbiter
        public void settle(ZZL_Result r) {
            r.r3 = audit(1, 1, 0);
        }
    }

    /** A cancel ends a timer for good, whether a reset came just before it or is refused. */
    @JCStressTest
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Reset, then cancelled.")
    @Outcome(id = "true, refused, ok", expect = ACCEPTABLE, desc = "Cancelled before the reset.")
    @State
    public static class CancelVsReset extends Rig {
        public CancelVsReset() {
            file(timer, DUE);
        }

        @Actor
        public void cancel(ZLL_Result r) {
            r.r1 = queue.cancel(timer);
        }

        @Actor
        public void reset(ZLL_Result r) {
            r.r2 = tryReset(LATE);
        }

        @Arbiter
        public void settle(ZLL_Result r) {
            int reset = one("replaced".equals(r.r2));
            r.r3 = audit(1 + reset, 1, reset);
        }
    }

    /** The same for a stopped timer: the cancel prevents what the reset has armed, if anything. */
    @JCStressTest
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Armed, then cancelled.")
    @Outcome(id = "false, refused, ok", expect = ACCEPTABLE, desc = "Cancelled before the reset.")
    @State
    public static class CancelVsResetOfStopped extends Rig {
        public CancelVsResetOfStopped() {
            file(timer, DUE);
            queue.stop(timer);
        }

        @Actor
        public void cancel(ZLL_Result r) {
            r.r1 = queue.cancel(timer);
        }

        @Actor
        public void reset(ZLL_Result r) {
            r.r2 = tryReset(LATE);
        }

        @Arbiter
        public void settle(ZLL_Result r) {
            int armed = one(r.r1);
            r.r3 = audit(1 + armed, 1 + armed, 0);
        }
    }

    /** The same for a timer that was stopped while in the inbox, where it still is. */
    @JCStressTest
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Armed, then cancelled.")
    @Outcome(id = "false, refused, ok", expect = ACCEPTABLE, desc = "Cancelled before the reset.")
    @State
    public static class CancelVsResetOfStoppedInInbox extends Rig {
        public CancelVsResetOfStoppedInInbox() {
            queue.arm(timer, DUE);
            queue.stop(timer);
        }

        @Actor
        public void cancel(ZLL_Result r) {
            r.r1 = queue.cancel(timer);
        }

        @Actor
        public void reset(ZLL_Result r) {
            r.r2 = tryReset(LATE);
        }

        @Arbiter
        public void settle(ZLL_Result r) {
            int armed = one(r.r1);
            r.r3 = audit(1 + armed, 1 + armed, 0);
        }
    }

    /** A firing that waits for a receiver is either received or taken away. */
    @JCStressTest
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "Taken away.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "Received.")
    @State
    public static class CancelVsReceive extends Rig {
        private final OneShotTimer received = new OneShotTimer.Received(queue);

        public CancelVsReceive() {
            file(received, DUE);
            worker.runDue(queue, DUE);
        }

        @Actor
        public void cancel(ZZL_Result r) {
            r.r1 = queue.cancel(received);
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

    /** Of two cancels exactly one takes away the firing that waits for a receiver. */
    @JCStressTest
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    @State
    public static class CancelVsCancelOfFiring extends Rig {
        private final OneShotTimer received = new OneShotTimer.Received(queue);

        public CancelVsCancelOfFiring() {
            file(received, DUE);
            worker.runDue(queue, DUE);
        }

        @Actor
        public void cancel(ZZL_Result r) {
            r.r1 = queue.cancel(received);
        }

        @Actor
        public void cancelToo(ZZL_Result r) {
            r.r2 = queue.cancel(received);
        }

        @Arbiter
        public void settle(ZZL_Result r) {
            r.r3 = audit(1, 0, 0);
        }
    }

    /** A reset says whether it took away the firing that waits for a receiver, and so does a cancel after it. */
    @JCStressTest
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Taken away by the reset; its arming is cancelled.")
    @Outcome(id = "true, refused, ok", expect = ACCEPTABLE, desc = "Taken away by the cancel.")
    @State
    public static class CancelVsResetOfFiring extends Rig {
        private final OneShotTimer received = new OneShotTimer.Received(queue);

        public CancelVsResetOfFiring() {
            file(received, DUE);
            worker.runDue(queue, DUE);
        }

        @Actor
        public void cancel(ZLL_Result r) {
            r.r1 = queue.cancel(received);
        }

        @Actor
        public void reset(ZLL_Result r) {
            r.r2 = tryReset(received, LATE);
        }

        @Arbiter
        public void settle(ZLL_Result r) {
            int armed = one("replaced".equals(r.r2));
            r.r3 = audit(1 + armed, armed, 0);
        }
    }
}
