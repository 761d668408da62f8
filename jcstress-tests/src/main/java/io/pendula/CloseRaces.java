package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIL_Result;
import org.openjdk.jcstress.infra.results.IL_Result;
import org.openjdk.jcstress.infra.results.LIL_Result;
import org.openjdk.jcstress.infra.results.LLLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.ZIL_Result;

/** The closing of a queue against those who arm, run and stop: each arming ends once, or is refused. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class CloseRaces {

    /** A timer that is armed while the queue closes is collected or refused. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected.")
    @Outcome(id = "refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before the push.")
    public static class CloseVsArm extends Rig {
        private final OneShotTimer made = new OneShotTimer(queue, this::fired);
        @Actor public void arm(LIL_Result r) { r.r1 = tryArm(made); }
        @Actor public void close(LIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = audit(one("armed".equals(r.r1)), 0, 0); }
    }

    /** A waiting timer that is put off while the queue closes is collected. */
    @JCStressTest @State
    @Outcome(id = "replaced, 1, ok", expect = ACCEPTABLE, desc = "Put off, then collected.")
    @Outcome(id = "refused, 1, ok", expect = ACCEPTABLE, desc = "Collected before the reset.")
    public static class CloseVsResetLater extends Given.Waiting {
        @Actor public void reset(LIL_Result r) { r.r1 = tryReset(LATE); }
        @Actor public void close(LIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = auditResets(1, 0, r.r1); }
    }

    /** A waiting timer that is brought forward while the queue closes is collected: a refused reset changes nothing. */
    @JCStressTest @State
    @Outcome(id = "replaced, 1, ok", expect = ACCEPTABLE, desc = "Brought forward, then collected.")
    @Outcome(id = "refused, 1, ok", expect = ACCEPTABLE, desc = "Collected before the reset.")
    public static class CloseVsResetEarlier extends Given.Waiting {
        @Actor public void reset(LIL_Result r) { r.r1 = tryReset(EARLY); }
        @Actor public void close(LIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = auditResets(1, 0, r.r1); }
    }

    /** A stopped timer that is armed again while the queue closes is collected or refused. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected.")
    @Outcome(id = "refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class CloseVsResetOfStopped extends Given.Deleted {
        @Actor public void reset(LIL_Result r) { r.r1 = tryReset(LATE); }
        @Actor public void close(LIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = audit(1 + r.r2, 1, 0); }
    }

    /** The same if it comes back earlier, so that it must be pushed. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected.")
    @Outcome(id = "refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before the push.")
    public static class CloseVsResetOfStoppedEarlier extends Given.Deleted {
        @Actor public void reset(LIL_Result r) { r.r1 = tryReset(EARLY); }
        @Actor public void close(LIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = audit(1 + r.r2, 1, 0); }
    }

    /** The same for a timer that was stopped while in the inbox, where it still is. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected.")
    @Outcome(id = "refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class CloseVsResetOfStoppedInInbox extends Given.DeletedQueued {
        @Actor public void reset(LIL_Result r) { r.r1 = tryReset(EARLY); }
        @Actor public void close(LIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = audit(1 + r.r2, 1, 0); }
    }

    /** The same for a timer that is armed in its own run. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected.")
    @Outcome(id = "refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class CloseVsResetInRun extends Given.Running {
        @Actor public void reset(LIL_Result r) { r.r1 = tryReset(LATE); }
        @Actor public void close(LIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { worker.finish(); r.r3 = audit(1 + r.r2, 0, 0); }
    }

    /** The next firing of a timer whose run ends while the queue closes is collected. */
    @JCStressTest @State
    @Outcome(id = "1, ok", expect = ACCEPTABLE, desc = "Collected in the run, or in the inbox.")
    public static class CloseVsEndOfRun extends Given.RunningArmed {
        @Actor public void end(IL_Result r) { worker.finish(); }
        @Actor public void close(IL_Result r) { r.r1 = closeQueue(); }
        @Arbiter public void settle(IL_Result r) { r.r2 = audit(2, 0, 0); }
    }

    /** A reset after the close is refused, though the run in which it began ends before it. */
    @JCStressTest @State
    @Outcome(id = "refused, ok", expect = ACCEPTABLE, desc = "Refused in the run, or after it.")
    public static class ResetVsEndOfRunAfterClose extends Rig {
        public ResetVsEndOfRunAfterClose() { file(timer, DUE); worker.claim(queue, DUE); closeQueue(); }
        @Actor public void reset(LL_Result r) { r.r1 = tryReset(LATE); }
        @Actor public void end(LL_Result r) { worker.finish(); }
        @Arbiter public void settle(LL_Result r) { closeQueue(); r.r2 = audit(1, 0, 0); }
    }

    /** A stop in a run prevents the next firing, or that was collected. */
    @JCStressTest @State
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Stopped.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Collected.")
    public static class CloseVsStopInRun extends Given.RunningArmed {
        @Actor public void stop(ZIL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void close(ZIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(ZIL_Result r) { worker.finish(); r.r3 = audit(2, one(r.r1), 0); }
    }

    /** A waiting timer is either stopped or collected. */
    @JCStressTest @State
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Stopped.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Collected.")
    public static class CloseVsStop extends Given.Waiting {
        @Actor public void stop(ZIL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void close(ZIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(1, one(r.r1), 0); }
    }

    /** A timer in the inbox is either stopped or collected. */
    @JCStressTest @State
    @Outcome(id = "true, 0, ok", expect = ACCEPTABLE, desc = "Stopped.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Collected.")
    public static class CloseVsStopOfQueued extends Given.Moving {
        @Actor public void stop(ZIL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void close(ZIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(1, one(r.r1), 0); }
    }

    /** A due timer is either run or collected. */
    @JCStressTest @State
    @Outcome(id = "1, 0, ok", expect = ACCEPTABLE, desc = "Run.")
    @Outcome(id = "0, 1, ok", expect = ACCEPTABLE, desc = "Collected.")
    public static class CloseVsRun extends Given.Waiting {
        @Actor public void run(IIL_Result r) { r.r1 = worker.runDue(queue, DUE); }
        @Actor public void close(IIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(IIL_Result r) { r.r3 = audit(1, 0, 0); }
    }

    /** A stopped timer is reset, and again by the thread that closes then: what that has seen armed is not refused. */
    @JCStressTest @State
    @Outcome(id = {"armed, replaced, 1, ok", "replaced, armed, 1, ok"}, expect = ACCEPTABLE, desc = "Both first.")
    @Outcome(id = "refused, armed, 1, ok", expect = ACCEPTABLE, desc = "Closed before the first.")
    public static class ResetVsResetThenClose extends Given.Removed {
        @Actor public void reset(LLLL_Result r) { r.r1 = tryReset(EARLY); }
        @Actor public void resetThenClose(LLLL_Result r) { r.r2 = tryReset(LATE); r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { r.r4 = auditResets(1, 1, r.r1, r.r2); }
    }

    /** The same to the instant that it had before: its word could be as it was once it has been collected. */
    @JCStressTest @State
    @Outcome(id = {"armed, replaced, 1, ok", "replaced, armed, 1, ok"}, expect = ACCEPTABLE, desc = "Both first.")
    @Outcome(id = "refused, armed, 1, ok", expect = ACCEPTABLE, desc = "Closed before the first.")
    public static class ResetVsEqualResetThenClose extends Given.Removed {
        @Actor public void reset(LLLL_Result r) { r.r1 = tryReset(DUE); }
        @Actor public void resetThenClose(LLLL_Result r) { r.r2 = tryReset(DUE); r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { r.r4 = auditResets(1, 1, r.r1, r.r2); }
    }

    /** Two resets of a stopped timer, one after the other, while the queue closes. */
    @JCStressTest @State
    @Outcome(id = "armed, replaced, 1, ok", expect = ACCEPTABLE, desc = "Both before.")
    @Outcome(id = "armed, refused, 1, ok", expect = ACCEPTABLE, desc = "Closed between them.")
    @Outcome(id = "refused, refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class CloseVsTwoResets extends Given.Removed {
        @Actor public void resetTwice(LLLL_Result r) { r.r1 = tryReset(EARLY); r.r2 = tryReset(LATE); }
        @Actor public void close(LLLL_Result r) { r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { r.r4 = auditResets(1, 1, r.r1, r.r2); }
    }

    /** A waiting timer is brought forward, and put off by the thread that closes then. */
    @JCStressTest @State
    @Outcome(id = "replaced, replaced, 1, ok", expect = ACCEPTABLE, desc = "Both first.")
    @Outcome(id = "refused, replaced, 1, ok", expect = ACCEPTABLE, desc = "Closed before the first.")
    public static class ResetEarlierVsResetLaterThenClose extends Given.Waiting {
        @Actor public void reset(LLLL_Result r) { r.r1 = tryReset(EARLY); }
        @Actor public void resetThenClose(LLLL_Result r) { r.r2 = tryReset(LATE); r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { r.r4 = auditResets(1, 0, r.r1, r.r2); }
    }

    /** The other way round: the one that must be pushed comes from the thread that closes then. */
    @JCStressTest @State
    @Outcome(id = "replaced, replaced, 1, ok", expect = ACCEPTABLE, desc = "Both first.")
    @Outcome(id = "refused, replaced, 1, ok", expect = ACCEPTABLE, desc = "Closed before the first.")
    public static class ResetLaterVsResetEarlierThenClose extends Given.Waiting {
        @Actor public void reset(LLLL_Result r) { r.r1 = tryReset(LATE); }
        @Actor public void resetThenClose(LLLL_Result r) { r.r2 = tryReset(EARLY); r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { r.r4 = auditResets(1, 0, r.r1, r.r2); }
    }

    /** A waiting timer is brought forward and put off while the queue closes; it is collected if both are refused. */
    @JCStressTest @State
    @Outcome(id = "replaced, replaced, 1, ok", expect = ACCEPTABLE, desc = "Both before.")
    @Outcome(id = "replaced, refused, 1, ok", expect = ACCEPTABLE, desc = "Closed between them.")
    @Outcome(id = "refused, refused, 1, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class CloseVsResetEarlierThenLater extends Given.Waiting {
        @Actor public void resetTwice(LLLL_Result r) { r.r1 = tryReset(EARLY); r.r2 = tryReset(LATE); }
        @Actor public void close(LLLL_Result r) { r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { r.r4 = auditResets(1, 0, r.r1, r.r2); }
    }

    /** The other way round. */
    @JCStressTest @State
    @Outcome(id = "replaced, replaced, 1, ok", expect = ACCEPTABLE, desc = "Both before.")
    @Outcome(id = "replaced, refused, 1, ok", expect = ACCEPTABLE, desc = "Closed between them.")
    @Outcome(id = "refused, refused, 1, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class CloseVsResetLaterThenEarlier extends Given.Waiting {
        @Actor public void resetTwice(LLLL_Result r) { r.r1 = tryReset(LATE); r.r2 = tryReset(EARLY); }
        @Actor public void close(LLLL_Result r) { r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { r.r4 = auditResets(1, 0, r.r1, r.r2); }
    }

    /** A timer that runs is reset, and again by the thread that closes then. */
    @JCStressTest @State
    @Outcome(id = {"armed, replaced, 1, ok", "replaced, armed, 1, ok"}, expect = ACCEPTABLE, desc = "Both first.")
    @Outcome(id = "refused, armed, 1, ok", expect = ACCEPTABLE, desc = "Closed before the first.")
    public static class ResetInRunVsResetThenClose extends Given.Running {
        @Actor public void reset(LLLL_Result r) { r.r1 = tryReset(EARLY); }
        @Actor public void resetThenClose(LLLL_Result r) { r.r2 = tryReset(LATE); r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { worker.finish(); r.r4 = auditResets(1, 0, r.r1, r.r2); }
    }

    /** The same to the instant at which it runs. */
    @JCStressTest @State
    @Outcome(id = {"armed, replaced, 1, ok", "replaced, armed, 1, ok"}, expect = ACCEPTABLE, desc = "Both first.")
    @Outcome(id = "refused, armed, 1, ok", expect = ACCEPTABLE, desc = "Closed before the first.")
    public static class ResetInRunVsEqualResetThenClose extends Given.Running {
        @Actor public void reset(LLLL_Result r) { r.r1 = tryReset(DUE); }
        @Actor public void resetThenClose(LLLL_Result r) { r.r2 = tryReset(DUE); r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { worker.finish(); r.r4 = auditResets(1, 0, r.r1, r.r2); }
    }

    /** Two resets of a timer that runs, one after the other, while the queue closes. */
    @JCStressTest @State
    @Outcome(id = "armed, replaced, 1, ok", expect = ACCEPTABLE, desc = "Both before.")
    @Outcome(id = "armed, refused, 1, ok", expect = ACCEPTABLE, desc = "Closed between them.")
    @Outcome(id = "refused, refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class CloseVsTwoResetsInRun extends Given.Running {
        @Actor public void resetTwice(LLLL_Result r) { r.r1 = tryReset(EARLY); r.r2 = tryReset(LATE); }
        @Actor public void close(LLLL_Result r) { r.r3 = closeQueue(); }
        @Arbiter public void settle(LLLL_Result r) { worker.finish(); r.r4 = auditResets(1, 0, r.r1, r.r2); }
    }

    /** A callback resets its own timer and returns while the queue closes. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected in the run, after it, or in the inbox.")
    @Outcome(id = "refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class CloseVsResetThenEndOfRun extends Given.Running {
        @Actor public void resetThenEnd(LIL_Result r) { r.r1 = tryReset(LATE); worker.finish(); }
        @Actor public void close(LIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = audit(1 + one("armed".equals(r.r1)), 0, 0); }
    }

    /** A timer is reset just after its run while the queue closes. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected in the run, after it, or in the inbox.")
    @Outcome(id = "refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class CloseVsEndOfRunThenReset extends Given.Running {
        @Actor public void endThenReset(LIL_Result r) { worker.finish(); r.r1 = tryReset(LATE); }
        @Actor public void close(LIL_Result r) { r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = audit(1 + one("armed".equals(r.r1)), 0, 0); }
    }

    /** A run ends while its timer is reset, by the thread that closes the queue then: its arming is collected. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected in the run, after it, or in the inbox.")
    public static class EndOfRunVsResetThenClose extends Given.Running {
        @Actor public void end(LIL_Result r) { worker.finish(); }
        @Actor public void resetThenClose(LIL_Result r) { r.r1 = tryReset(LATE); r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = audit(1 + one("armed".equals(r.r1)), 0, 0); }
    }

    /** A timer is reset while its run ends, on the thread that closes the queue then. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected in the run, after it, or in the inbox.")
    @Outcome(id = "refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class ResetVsEndOfRunThenClose extends Given.Running {
        @Actor public void reset(LIL_Result r) { r.r1 = tryReset(LATE); }
        @Actor public void endThenClose(LIL_Result r) { worker.finish(); r.r2 = closeQueue(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = audit(1 + one("armed".equals(r.r1)), 0, 0); }
    }

    /** A timer is reset while its callback closes the queue, and then ends. */
    @JCStressTest @State
    @Outcome(id = "armed, 1, ok", expect = ACCEPTABLE, desc = "Collected in the run, after it, or in the inbox.")
    @Outcome(id = "refused, 0, ok", expect = ACCEPTABLE, desc = "Closed before.")
    public static class ResetVsCloseThenEndOfRun extends Given.Running {
        @Actor public void reset(LIL_Result r) { r.r1 = tryReset(LATE); }
        @Actor public void closeThenEnd(LIL_Result r) { r.r2 = closeQueue(); worker.finish(); }
        @Arbiter public void settle(LIL_Result r) { r.r3 = audit(1 + one("armed".equals(r.r1)), 0, 0); }
    }
}
