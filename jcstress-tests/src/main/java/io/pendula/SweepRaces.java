package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZL_Result;

/** A sweep of stale entries against those who bring their timers back, or make more entries stale. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class SweepRaces {

    /** A stopped timer that comes back to life while its entry is swept is armed once. */
    @JCStressTest @State
    @Outcome(id = "false, ok", expect = ACCEPTABLE, desc = "Its entry lives again, or it was pushed anew.")
    public static class SweepVsResetLater extends Given.DeletedBesideAnother {
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, DUE); }
        @Actor public void sweep() { sweepAll(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(3, 1, 0); }
    }

    /** The same for one that comes back earlier, whose entry stays stale. */
    @JCStressTest @State
    @Outcome(id = "false, ok", expect = ACCEPTABLE, desc = "Pushed, whether its entry was swept or not.")
    public static class SweepVsResetEarlier extends Given.DeletedBesideAnother {
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void sweep() { sweepAll(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(3, 1, 0); }
    }

    /** A stopped timer that is cancelled while its entry is swept prevents nothing twice. */
    @JCStressTest @State
    @Outcome(id = "false, ok", expect = ACCEPTABLE, desc = "Cancelled.")
    public static class SweepVsCancel extends Given.DeletedBesideAnother {
        @Actor public void cancel(ZL_Result r) { r.r1 = queue.cancel(timer); }
        @Actor public void sweep() { sweepAll(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 1, 0); }
    }

    /** A stop beyond the bound sweeps, too, unless the worker does; no stale entry is counted or dropped twice. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Stopped.")
    public static class SweepVsStopThatHelps extends Rig {
        public SweepVsStopThatHelps() {
            file(other, LATE);
            file(timer, DUE);
            queue.stop(timer);
            pretendDeadEntries();
        }

        @Actor public void stop(ZL_Result r) { r.r1 = queue.stop(other); }
        @Actor public void sweep() { sweepAll(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 2, 0); }
    }

    /** A timer that has left an entry behind is brought forward once more while a sweep looks at its entries. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Both stale entries go, sooner or later, and the live one stays.")
    public static class SweepVsResetEarlierAgain extends Rig {
        public SweepVsResetEarlierAgain() {
            file(timer, LATE);
            queue.reset(timer, DUE);
            drainInbox();
            queue.reset(timer, LATE); // put off beyond the key of the entry that it has left behind
        }

        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void sweep() { sweepAll(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(4, 0, 3); }
    }

    /** The same while a claim re-keys its live entry, which has surfaced. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Brought forward, whether its entry was re-keyed or not.")
    public static class ReKeyVsResetEarlierAgain extends Rig {
        public ReKeyVsResetEarlierAgain() {
            file(timer, LATE);
            queue.reset(timer, EARLY);
            drainInbox();
            queue.reset(timer, LATE);
        }

        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, DUE); }
        @Actor public void claim() { worker.runDue(queue, EARLY); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(4, 0, 3); }
    }
}
