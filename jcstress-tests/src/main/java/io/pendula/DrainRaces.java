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
    @JCStressTest
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Stopped in the inbox or in the heap.")
    @State
    public static class DrainVsStop extends Rig {
        public DrainVsStop() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void stop(ZL_Result r) {
            r.r1 = queue.stop(timer);
        }

        @Actor
        public void drain() {
            drainInbox();
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = audit(1, 1, 0);
        }
    }

    /** So does a stop of a timer that was brought forward, whose old entry is stale already. */
    @JCStressTest
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Stopped in the inbox or in the heap.")
    @State
    public static class DrainVsStopOfBroughtForward extends Rig {
        public DrainVsStopOfBroughtForward() {
            file(timer, DUE);
            queue.reset(timer, EARLY);
        }

        @Actor
        public void stop(ZL_Result r) {
            r.r1 = queue.stop(timer);
        }

        @Actor
        public void drain() {
            drainInbox();
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = audit(2, 1, 1);
        }
    }

    /** So does a cancel, and the timer is let go. */
    @JCStressTest
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Cancelled in the inbox or in the heap.")
    @State
    public static class DrainVsCancel extends Rig {
        public DrainVsCancel() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void cancel(ZL_Result r) {
            r.r1 = queue.cancel(timer);
        }

        @Actor
        public void drain() {
            drainInbox();
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = audit(1, 1, 0);
        }
    }

    /** A timer that is brought forward while it is being filed fires once. */
    @JCStressTest
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Replaced in the inbox or in the heap.")
    @State
    public static class DrainVsResetEarlier extends Rig {
        public DrainVsResetEarlier() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void reset(ZL_Result r) {
            r.r1 = queue.reset(timer, EARLY);
        }

        @Actor
        public void drain() {
            drainInbox();
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = audit(2, 0, 1);
        }
    }

    /** A timer that is put off while it is being filed fires once. */
    @JCStressTest
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Replaced in the inbox or in the heap.")
    @State
    public static class DrainVsResetLater extends Rig {
        public DrainVsResetLater() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void reset(ZL_Result r) {
            r.r1 = queue.reset(timer, LATE);
        }

        @Actor
        public void drain() {
            drainInbox();
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = audit(2, 0, 1);
        }
    }

    /** A timer that was stopped in the inbox is armed again once, whether the drain has dropped it or not. */
    @JCStressTest
    @Outcome(id = "false, ok", expect = ACCEPTABLE, desc = "Armed in the inbox, or pushed anew.")
    @State
    public static class DrainVsResetOfStopped extends Rig {
        public DrainVsResetOfStopped() {
            queue.arm(timer, DUE);
            queue.stop(timer);
        }

        @Actor
        public void reset(ZL_Result r) {
            r.r1 = queue.reset(timer, EARLY);
        }

        @Actor
        public void drain() {
            drainInbox();
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = audit(2, 1, 0);
        }
    }

    /** No push gets lost in a drain. */
    @JCStressTest
    @Outcome(id = "ok", expect = ACCEPTABLE, desc = "Both timers have run.")
    @State
    public static class DrainVsArm extends Rig {
        public DrainVsArm() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void arm() {
            queue.arm(other, EARLY);
        }

        @Actor
        public void drain() {
            drainInbox();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = audit(2, 0, 0);
        }
    }

    /** No push gets lost in another. */
    @JCStressTest
    @Outcome(id = "ok", expect = ACCEPTABLE, desc = "Both timers have run.")
    @State
    public static class ArmVsArm extends Rig {
        @Actor
        public void arm() {
            queue.arm(timer, DUE);
        }

        @Actor
        public void armToo() {
            queue.arm(other, EARLY);
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = audit(2, 0, 0);
        }
    }

    /** A stopped timer that is armed again while another one is taken out of the inbox stays armed. */
    @JCStressTest
    @Outcome(id = "false, ok", expect = ACCEPTABLE, desc = "Armed in the inbox, or after it was dropped.")
    @State
    public static class DropStoppedVsReset extends Rig {
        public DropStoppedVsReset() {
            queue.arm(timer, DUE);
            queue.arm(other, DUE);
            queue.stop(timer);
            queue.stop(other);
        }

        @Actor
        public void reset(ZL_Result r) {
            r.r1 = queue.reset(timer, DUE);
        }

        @Actor
        public void drop() {
            queue.claimStopped(other);
        }

        @Arbiter
        public void settle(ZL_Result r) {
            queue.endRun(other);
            r.r2 = audit(3, 2, 0);
        }
    }
}
