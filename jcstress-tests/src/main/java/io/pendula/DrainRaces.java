package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;

/** The drain of the inbox against whatever happens to the timers in it. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class DrainRaces {

    /** A stop of a timer that is being filed prevents the firing. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Stopped in the inbox or in the heap.")
    public static class DrainVsStop extends Given.Moving {
        @Actor public void stop(ZL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void drain() { drainInbox(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(1, 1, 0); }
    }

    /** So does a stop of a timer that was brought forward, whose old entry is stale already. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Stopped in the inbox or in the heap.")
    public static class DrainVsStopOfBroughtForward extends Rig {
        public DrainVsStopOfBroughtForward() { file(timer, DUE); queue.reset(timer, EARLY); }
        @Actor public void stop(ZL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void drain() { drainInbox(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 1, 1); }
    }

    /** So does a cancel, and the timer is let go. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Cancelled in the inbox or in the heap.")
    public static class DrainVsCancel extends Given.Moving {
        @Actor public void cancel(ZL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void drain() { drainInbox(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(1, 1, 0); }
    }

    /** A timer that is brought forward while it is being filed fires once. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Replaced in the inbox or in the heap.")
    public static class DrainVsResetEarlier extends Given.Moving {
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void drain() { drainInbox(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 0, 1); }
    }

    /** A timer that is put off while it is being filed fires once. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Replaced in the inbox or in the heap.")
    public static class DrainVsResetLater extends Given.Moving {
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, LATE); }
        @Actor public void drain() { drainInbox(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 0, 1); }
    }

    /** A timer that was stopped in the inbox is armed again once, whether the drain has dropped it or not. */
    @JCStressTest @State
    @Outcome(id = "false, ok", expect = ACCEPTABLE, desc = "Armed in the inbox, or pushed anew.")
    public static class DrainVsResetOfStopped extends Given.DeletedQueued {
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void drain() { drainInbox(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 1, 0); }
    }

    /** No push gets lost in a drain. */
    @JCStressTest @State
    @Outcome(id = "ok", expect = ACCEPTABLE, desc = "Both timers have run.")
    public static class DrainVsArm extends Given.Moving {
        @Actor public void arm() { queue.arm(other, EARLY); }
        @Actor public void drain() { drainInbox(); }
        @Arbiter public void settle(L_Result r) { r.r1 = audit(2, 0, 0); }
    }

    /** No push gets lost in another. */
    @JCStressTest @State
    @Outcome(id = "ok", expect = ACCEPTABLE, desc = "Both timers have run.")
    public static class ArmVsArm extends Rig {
        @Actor public void arm() { queue.arm(timer, DUE); }
        @Actor public void armToo() { queue.arm(other, EARLY); }
        @Arbiter public void settle(L_Result r) { r.r1 = audit(2, 0, 0); }
    }

    /** A stopped timer that is armed again while another one is taken out of the inbox stays armed. */
    @JCStressTest @State
    @Outcome(id = "false, ok", expect = ACCEPTABLE, desc = "Armed in the inbox, or after it was dropped.")
    public static class DropStoppedVsReset extends Rig {
        public DropStoppedVsReset() {
            queue.arm(timer, DUE);
            queue.arm(other, DUE);
            queue.stop(timer);
            queue.stop(other);
        }

        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, DUE); }
        @Actor public void drop() { queue.claimStopped(other); }
        @Arbiter public void settle(ZL_Result r) { queue.endRun(other); r.r2 = audit(3, 2, 0); }
    }
}
