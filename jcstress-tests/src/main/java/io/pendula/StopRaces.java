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
    @JCStressTest @State
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Stopped before the claim.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Claimed before the stop.")
    public static class StopVsRun extends Given.Waiting {
        @Actor public void stop(ZIL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void run(ZIL_Result r) { r.r2 = worker.runDue(queue, DUE); }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(1, one(r.r1), 0); }
    }

    /** A timer that is still in the inbox is either stopped or run, too. */
    @JCStressTest @State
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Stopped before the claim.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Claimed before the stop.")
    public static class StopOfQueuedVsRun extends Given.Moving {
        @Actor public void stop(ZIL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void run(ZIL_Result r) { r.r2 = worker.runDue(queue, DUE); }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(1, one(r.r1), 0); }
    }

    /** Of two stops exactly one prevents the firing. */
    @JCStressTest @State
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    public static class StopVsStop extends Given.Waiting {
        @Actor public void stop(ZZL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void stopToo(ZZL_Result r) { r.r2 = queue.stop(timer); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(1, 1, 0); }
    }

    /** Of two stops of a timer that is still in the inbox exactly one prevents the firing, too. */
    @JCStressTest @State
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "The first did.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "The second did.")
    public static class StopVsStopOfQueued extends Given.Moving {
        @Actor public void stop(ZZL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void stopToo(ZZL_Result r) { r.r2 = queue.stop(timer); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(1, 1, 0); }
    }

    /** A stop takes either the old firing or the one that a reset put in its place, never none and never both. */
    @JCStressTest @State
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Put off, then stopped.")
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Stopped, then armed again: its entry lives again.")
    public static class StopVsResetLater extends Given.Waiting {
        @Actor public void stop(ZLL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void reset(ZLL_Result r) { r.r2 = tryReset(LATE); }
        @Arbiter public void settle(ZLL_Result r) { r.r3 = audit(2, 1, one("replaced".equals(r.r2))); }
    }

    /** The same for a reset that brings the timer forward, which leaves a stale entry behind. */
    @JCStressTest @State
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Brought forward, then stopped.")
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Stopped, then armed again.")
    public static class StopVsResetEarlier extends Given.Waiting {
        @Actor public void stop(ZLL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void reset(ZLL_Result r) { r.r2 = tryReset(EARLY); }
        @Arbiter public void settle(ZLL_Result r) { r.r3 = audit(2, 1, one("replaced".equals(r.r2))); }
    }

    /** The same for a timer that is still in the inbox. */
    @JCStressTest @State
    @Outcome(id = "true, replaced, ok", expect = ACCEPTABLE, desc = "Reset, then stopped.")
    @Outcome(id = "true, armed, ok", expect = ACCEPTABLE, desc = "Stopped, then armed again without a push.")
    public static class StopVsResetOfQueued extends Given.Moving {
        @Actor public void stop(ZLL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void reset(ZLL_Result r) { r.r2 = tryReset(EARLY); }
        @Arbiter public void settle(ZLL_Result r) { r.r3 = audit(2, 1, one("replaced".equals(r.r2))); }
    }

    /** A firing that waits for a receiver is either received or taken away. */
    @JCStressTest @State
    @Outcome(id = "true, false, ok", expect = ACCEPTABLE, desc = "Taken away.")
    @Outcome(id = "false, true, ok", expect = ACCEPTABLE, desc = "Received.")
    public static class StopVsReceive extends Given.Kept {
        @Actor public void stop(ZZL_Result r) { r.r1 = queue.stop(received); }
        @Actor public void receive(ZZL_Result r) { r.r2 = receive(received); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = audit(1, 0, 0); }
    }
}
