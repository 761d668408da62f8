package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIL_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;

/** The end of a run against those who stop or reset the timer meanwhile, and against whoever may run it next. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class RunRaces {

    /** A stop prevents the next firing of a timer that was armed in its run, whether that run has ended or not. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Prevented.")
    public static class StopVsEndOfRun extends Given.RunningArmed {
        @Actor public void stop(ZL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void end() { worker.finish(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 1, 0); }
    }

    /** A reset during the run and one just after it both arm the timer once. */
    @JCStressTest @State
    @Outcome(id = "false, ok", expect = ACCEPTABLE, desc = "Armed.")
    public static class ResetVsEndOfRun extends Given.Running {
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, LATE); }
        @Actor public void end() { worker.finish(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 0, 0); }
    }

    /** A second reset during the run replaces the first one's firing, whether the run has ended or not. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Replaced.")
    public static class SecondResetVsEndOfRun extends Given.RunningArmed {
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void end() { worker.finish(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(3, 0, 1); }
    }

    /** A timer that arms itself in its run never runs twice at a time, however eager a helper is. */
    @JCStressTest @State
    @Outcome(id = "2, 0, ok", expect = ACCEPTABLE, desc = "The worker ran it twice.")
    @Outcome(id = "1, 1, ok", expect = ACCEPTABLE, desc = "Each ran it once.")
    @Outcome(id = "0, [12], ok", expect = ACCEPTABLE, desc = "The helper ran it, and perhaps left the second run.")
    public static class RearmInRunVsHelper extends Rig {
        private final AtomicInteger inside = new AtomicInteger();
        private int runsSeen;
        private boolean overlapped;
        public RearmInRunVsHelper() { file(timer, DUE); }

        @Override
        void fired() {
            if (inside.incrementAndGet() > 1) {
                overlapped = true;
            }
            if (++runsSeen == 1) {
                queue.reset(timer, EARLY);
            }
            inside.decrementAndGet();
        }

        @Actor public void run(IIL_Result r) { r.r1 = worker.runDue(queue, DUE); }
        @Actor public void steal(IIL_Result r) { r.r2 = helper.runDue(queue, DUE); }
        @Arbiter public void settle(IIL_Result r) { r.r3 = overlapped ? "overlapped itself" : audit(2, 0, 0); }
    }

    /** A ticker that is behind catches up run by run: no tick is lost, doubled, or runs beside another. */
    @JCStressTest @State
    @Outcome(id = "2, 0, ok", expect = ACCEPTABLE, desc = "The worker ran both ticks.")
    @Outcome(id = "1, 1, ok", expect = ACCEPTABLE, desc = "Each ran one.")
    @Outcome(id = "0, [12], ok", expect = ACCEPTABLE, desc = "The helper ran the first, and perhaps left the second.")
    public static class TickVsHelper extends Rig {
        private final AtomicInteger inside = new AtomicInteger();
        private final PeriodicTimer ticker = new PeriodicTimer(queue, this::tick, LATE - DUE, MissedTicks.BURST);
        private boolean overlapped;
        public TickVsHelper() { file(ticker, DUE); }

        private void tick() {
            if (inside.incrementAndGet() > 1) {
                overlapped = true;
            }
            inside.decrementAndGet();
        }

        @Actor public void run(IIL_Result r) { r.r1 = worker.runDue(queue, LATE); }
        @Actor public void steal(IIL_Result r) { r.r2 = helper.runDue(queue, LATE); }
        @Arbiter public void settle(IIL_Result r) {
            worker.runDue(queue, LATE);
            queue.stop(ticker);
            r.r3 = overlapped ? "overlapped itself" : audit(3, 1, 0);
        }
    }

    /** A stop of a ticker takes the one tick that is to come, in its run, between two runs, and before the first. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Some tick was prevented, and none came later.")
    public static class StopOfTickerVsRun extends Rig {
        private final PeriodicTimer ticker = new PeriodicTimer(queue, this::fired, LATE - DUE, MissedTicks.BURST);
        public StopOfTickerVsRun() { file(ticker, DUE); }
        @Actor public void stop(ZL_Result r) { r.r1 = queue.stop(ticker); }
        @Actor public void run() { worker.runDue(queue, LATE); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(worker.runs + 1, 1, 0); }
    }
}
