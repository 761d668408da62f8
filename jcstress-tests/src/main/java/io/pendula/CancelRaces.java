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
    @JCStressTest @State
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Cancelled before the claim.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Claimed before the cancel.")
    public static class CancelVsRun extends Given.Waiting {
        @Actor public void cancel(ZIL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void run(ZIL_Result r) { r.r2 = worker.runDue(queue, DUE); }
        @Arbiter public void settle(ZIL_Result r) {
            r.r3 = timer.work() != null ? "task kept" : audit(1, one(r.r1), 0);
        }
    }

    /** A cancel in a run prevents the next firing, whether that run has ended or not. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Prevented.")
    public static class CancelVsEndOfRun extends Given.RunningArmed {
        @Actor public void cancel(ZL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void end(ZL_Result r) { worker.finish(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 1, 0); }
    }

    /** Of a cancel and a stop exactly one prevents the firing. */
    @JCStressTest @State
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    public static class CancelVsStop extends Given.Waiting {
        @Actor public void cancel(ZZL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void stop(ZZL_Result r) { r.r2 = queue.stop(timer); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(1, 1, 0); }
    }

    /** The same for a timer that is still in the inbox. */
    @JCStressTest @State
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    public static class CancelVsStopOfQueued extends Given.Moving {
        @Actor public void cancel(ZZL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void stop(ZZL_Result r) { r.r2 = queue.stop(timer); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(1, 1, 0); }
    }

    /** Of two cancels exactly one prevents the firing. */
    @JCStressTest @State
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    public static class CancelVsCancel extends Given.Waiting {
        @Actor public void cancel(ZZL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void cancelToo(ZZL_Result r) { r.r2 = queue.cancel(timer); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(1, 1, 0); }
    }

    /** A cancel ends a timer for good, whether a reset came just before it or is refused. */
    @JCStressTest @State
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Reset, then cancelled.")
    @Outcome(id = "true, refused, ok", expect = ACCEPTABLE, desc = "Cancelled before the reset.")
    public static class CancelVsReset extends Given.Waiting {
        @Actor public void cancel(ZLL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void reset(ZLL_Result r) { r.r2 = tryReset(LATE); }
        @Arbiter public void settle(ZLL_Result r) { r.r3 = auditResets(1, 1, r.r2); }
    }

    /** The same for a stopped timer: the cancel prevents what the reset has armed, if anything. */
    @JCStressTest @State
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Armed, then cancelled.")
    @Outcome(id = "false, refused, ok", expect = ACCEPTABLE, desc = "Cancelled before the reset.")
    public static class CancelVsResetOfStopped extends Given.Deleted {
        @Actor public void cancel(ZLL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void reset(ZLL_Result r) { r.r2 = tryReset(LATE); }
        @Arbiter public void settle(ZLL_Result r) { int armed = one(r.r1); r.r3 = audit(1 + armed, 1 + armed, 0); }
    }

    /** The same for a timer that was stopped while in the inbox, where it still is. */
    @JCStressTest @State
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Armed, then cancelled.")
    @Outcome(id = "false, refused, ok", expect = ACCEPTABLE, desc = "Cancelled before the reset.")
    public static class CancelVsResetOfStoppedInInbox extends Given.DeletedQueued {
        @Actor public void cancel(ZLL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void reset(ZLL_Result r) { r.r2 = tryReset(LATE); }
        @Arbiter public void settle(ZLL_Result r) { int armed = one(r.r1); r.r3 = audit(1 + armed, 1 + armed, 0); }
    }

    /** A firing that waits for a receiver is either received or taken away. */
    @JCStressTest @State
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "Taken away.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "Received.")
    public static class CancelVsReceive extends Given.Kept {
        @Actor public void cancel(ZZL_Result r) { r.r1 = queue.cancel(received); }
        @Actor public void receive(ZZL_Result r) { r.r2 = receive(received); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(1, 0, 0); }
    }

    /** Of two cancels exactly one takes away the firing that waits for a receiver. */
    @JCStressTest @State
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    public static class CancelVsCancelOfFiring extends Given.Kept {
        @Actor public void cancel(ZZL_Result r) { r.r1 = queue.cancel(received); }
        @Actor public void cancelToo(ZZL_Result r) { r.r2 = queue.cancel(received); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(1, 0, 0); }
    }

    /** A reset says whether it took away the firing that waits for a receiver, and so does a cancel after it. */
    @JCStressTest @State
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Taken away by the reset; its arming is cancelled.")
    @Outcome(id = "true, refused, ok", expect = ACCEPTABLE, desc = "Taken away by the cancel.")
    public static class CancelVsResetOfFiring extends Given.Kept {
        @Actor public void cancel(ZLL_Result r) { r.r1 = queue.cancel(received); }
        @Actor public void reset(ZLL_Result r) { r.r2 = tryReset(received, LATE); }
        @Arbiter public void settle(ZLL_Result r) {
            int armed = one("replaced".equals(r.r2));
            r.r3 = audit(1 + armed, armed, 0);
        }
    }
}
