package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZIL_Result;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** A reset against a claim and against another reset, in each state that a timer may be in. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class ResetRaces {

    /** A timer that is put off while it falls due runs once if the reset was in time, else twice. */
    @JCStressTest @State
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Put off before the claim.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Claimed before the reset, which armed it again.")
    public static class ResetLaterVsRun extends Given.Waiting {
        @Actor public void reset(ZIL_Result r) { r.r1 = queue.reset(timer, LATE); }
        @Actor public void run(ZIL_Result r) { r.r2 = worker.runDue(queue, DUE); }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(2, 0, one(r.r1)); }
    }

    /** A timer that is brought forward while it falls due runs once if the reset was in time, else twice. */
    @JCStressTest @State
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Brought forward, and still on its way to the heap.")
    @Outcome(id = "true, 1, ok", expect = ACCEPTABLE, desc = "Brought forward, then run.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Claimed before the reset.")
    @Outcome(id = "false, 2, ok", expect = ACCEPTABLE, desc = "Claimed before the reset, and again after it.")
    public static class ResetEarlierVsRun extends Given.Waiting {
        @Actor public void reset(ZIL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void run(ZIL_Result r) { r.r2 = worker.runDue(queue, DUE); }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(2, 0, one(r.r1)); }
    }

    /** A reset of a stopped timer, whose entry is about to surface, arms it once. */
    @JCStressTest @State
    @Outcome(id = "false, 0, ok", expect = ACCEPTABLE, desc = "Its new deadline is still to come.")
    public static class ResetOfStoppedVsRun extends Given.Deleted {
        @Actor public void reset(ZIL_Result r) { r.r1 = queue.reset(timer, LATE); }
        @Actor public void run(ZIL_Result r) { r.r2 = worker.runDue(queue, DUE); }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(2, 1, 0); }
    }

    /** Both resets of a waiting timer replace a firing, though one puts it off and one brings it forward. */
    @JCStressTest @State
    @Outcome(id = "true, true, ok", expect = ACCEPTABLE, desc = "Three armings, one run.")
    public static class ResetVsReset extends Given.Waiting {
        @Actor public void bringForward(ZZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void putOff(ZZL_Result r) { r.r2 = queue.reset(timer, LATE); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(3, 0, 2); }
    }

    /** Nor is a run lost or doubled when the timer comes back to the key of the entry that it left behind. */
    @JCStressTest @State
    @Outcome(id = "true, true, ok", expect = ACCEPTABLE, desc = "Three armings, one run.")
    public static class ResetEarlierVsResetBack extends Given.Waiting {
        @Actor public void bringForward(ZZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void bringBack(ZZL_Result r) { r.r2 = queue.reset(timer, DUE); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(3, 0, 2); }
    }

    /** Of two resets of a stopped timer exactly one arms it, the other replaces that. */
    @JCStressTest @State
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "Armed by the first.")
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "Armed by the second.")
    public static class ResetVsResetOfStopped extends Given.Deleted {
        @Actor public void reset(ZZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void resetToo(ZZL_Result r) { r.r2 = queue.reset(timer, LATE); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(3, 1, 1); }
    }

    /** The same for a timer that was stopped while in the inbox, where it still is. */
    @JCStressTest @State
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "Armed by the first.")
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "Armed by the second.")
    public static class ResetVsResetOfStoppedInInbox extends Given.DeletedQueued {
        @Actor public void reset(ZZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void resetToo(ZZL_Result r) { r.r2 = queue.reset(timer, LATE); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(3, 1, 1); }
    }

    /** The same for a timer that has fired: it is pushed once. */
    @JCStressTest @State
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "Armed by the first.")
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "Armed by the second.")
    public static class ResetVsResetOfFired extends Given.Fired {
        @Actor public void reset(ZZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void resetToo(ZZL_Result r) { r.r2 = queue.reset(timer, LATE); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(3, 0, 1); }
    }

    /** The same for a timer that runs: it fires once more. */
    @JCStressTest @State
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "Armed by the first.")
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "Armed by the second.")
    public static class ResetVsResetInRun extends Given.Running {
        @Actor public void reset(ZZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void resetToo(ZZL_Result r) { r.r2 = queue.reset(timer, LATE); }
        @Arbiter public void settle(ZZL_Result r) { worker.finish(); r.r3 = audit(3, 0, 1); }
    }

    /** A firing that waits for a receiver is either received or replaced. */
    @JCStressTest @State
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "Replaced.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "Received.")
    public static class ResetVsReceive extends Given.Kept {
        @Actor public void reset(ZZL_Result r) { r.r1 = queue.reset(received, LATE); }
        @Actor public void receive(ZZL_Result r) { r.r2 = receive(received); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(2, 0, 0); }
    }
}
