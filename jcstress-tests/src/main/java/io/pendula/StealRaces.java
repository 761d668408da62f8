package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIL_Result;

/** A helper against the worker of the queue. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class StealRaces {

    /** A due timer is run by exactly one of two claimers. */
    @JCStressTest @State
    @Outcome(id = "1, 0, ok", expect = ACCEPTABLE, desc = "Run by the worker.")
    @Outcome(id = "0, 1, ok", expect = ACCEPTABLE, desc = "Run by the helper.")
    public static class StealVsRun extends Given.Waiting {
        @Actor public void run(IIL_Result r) { r.r1 = worker.runDue(queue, DUE); }
        @Actor public void steal(IIL_Result r) { r.r2 = helper.runDue(queue, DUE); }
        @Arbiter public void settle(IIL_Result r) { r.r3 = audit(1, 0, 0); }
    }

    /** Each of two due timers, one filed and one still in the inbox, is run by exactly one of two claimers. */
    @JCStressTest @State
    @Outcome(id = "2, 0, ok", expect = ACCEPTABLE, desc = "The worker ran both.")
    @Outcome(id = "1, 1, ok", expect = ACCEPTABLE, desc = "Each ran one.")
    @Outcome(id = "0, 2, ok", expect = ACCEPTABLE, desc = "The helper ran both.")
    public static class StealVsRunOfTwo extends Rig {
        public StealVsRunOfTwo() { file(timer, DUE); queue.arm(other, EARLY); }
        @Actor public void run(IIL_Result r) { r.r1 = worker.runDue(queue, DUE); }
        @Actor public void steal(IIL_Result r) { r.r2 = helper.runDue(queue, DUE); }
        @Arbiter public void settle(IIL_Result r) { r.r3 = audit(2, 0, 0); }
    }

    /** A timer that is put off just as a helper looks is not run before its new deadline. */
    @JCStressTest @State
    @Outcome(id = "1, 0, ok", expect = ACCEPTABLE, desc = "Put off before the claim.")
    @Outcome(id = "0, 1, ok", expect = ACCEPTABLE, desc = "Claimed before the reset, which armed it again.")
    public static class ResetVsSteal extends Given.Waiting {
        @Actor public void reset(IIL_Result r) { r.r1 = one(queue.reset(timer, LATE)); }
        @Actor public void steal(IIL_Result r) { r.r2 = helper.runDue(queue, DUE); }
        @Arbiter public void settle(IIL_Result r) { r.r3 = audit(2, 0, r.r1); }
    }
}
