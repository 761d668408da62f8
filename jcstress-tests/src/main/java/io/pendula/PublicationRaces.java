package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIL_Result;
import org.openjdk.jcstress.infra.results.IL_Result;
import org.openjdk.jcstress.infra.results.ZII_Result;
import org.openjdk.jcstress.infra.results.ZIL_Result;

/** What one side wrote plainly before, the other side sees after: armings, runs, and those who wait for them. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class PublicationRaces {
    /** What is written plainly, and what the first run has seen of it. */
    abstract static class Publishing extends Rig {
        int data;
        int seen = -1;

        @Override
        final void fired() {
            if (seen < 0) {
                seen = data;
            }
        }
    }

    /** A run sees what was written before its arming. */
    @JCStressTest @State
    @Outcome(id = "-1, ok", expect = ACCEPTABLE, desc = "Not run yet.")
    @Outcome(id = "1, ok", expect = ACCEPTABLE, desc = "Seen by the run.")
    public static class ArmVsRun extends Publishing {
        @Actor public void arm() { data = 1; queue.arm(timer, DUE); }
        @Actor public void run(IL_Result r) { worker.runDue(queue, DUE); r.r1 = seen; }
        @Arbiter public void settle(IL_Result r) { r.r2 = audit(1, 0, 0); }
    }

    /** A run sees what was written before the reset that put it off, though that touched no heap and no inbox. */
    @JCStressTest @State
    @Outcome(id = "true, -1, ok", expect = ACCEPTABLE, desc = "Not run yet.")
    @Outcome(id = "true, 1, ok", expect = ACCEPTABLE, desc = "Seen by the run.")
    @Outcome(id = "false, [01], ok", expect = ACCEPTABLE, desc = "Run before, by the first arming.")
    public static class ResetVsRun extends Publishing {
        public ResetVsRun() { file(timer, DUE); }
        @Actor public void reset(ZIL_Result r) { data = 1; r.r1 = queue.reset(timer, LATE); }
        @Actor public void run(ZIL_Result r) { worker.runDue(queue, END); r.r2 = seen; }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(2, 0, one(r.r1)); }
    }

    /** A run sees what was written before the reset that brought its timer back to life in the heap. */
    @JCStressTest @State
    @Outcome(id = "false, -1, ok", expect = ACCEPTABLE, desc = "Not run yet.")
    @Outcome(id = "false, 1, ok", expect = ACCEPTABLE, desc = "Seen by the run.")
    public static class ResetOfStoppedVsRun extends Publishing {
        public ResetOfStoppedVsRun() { file(timer, DUE); queue.stop(timer); }
        @Actor public void reset(ZIL_Result r) { data = 1; r.r1 = queue.reset(timer, LATE); }
        @Actor public void run(ZIL_Result r) { worker.runDue(queue, END); r.r2 = seen; }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(2, 1, one(r.r1)); }
    }

    /** A run sees what was written before the reset of its timer in the inbox. */
    @JCStressTest @State
    @Outcome(id = "true, -1, ok", expect = ACCEPTABLE, desc = "Not run yet.")
    @Outcome(id = "true, 1, ok", expect = ACCEPTABLE, desc = "Seen by the run.")
    @Outcome(id = "false, [01], ok", expect = ACCEPTABLE, desc = "Run before, by the first arming.")
    public static class ResetInInboxVsRun extends Publishing {
        public ResetInInboxVsRun() { queue.arm(timer, DUE); }
        @Actor public void reset(ZIL_Result r) { data = 1; r.r1 = queue.reset(timer, EARLY); }
        @Actor public void run(ZIL_Result r) { worker.runDue(queue, END); r.r2 = seen; }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(2, 0, one(r.r1)); }
    }

    /** A run sees what the run before it wrote, on whatever thread. */
    @JCStressTest @State
    @Outcome(id = "2, 0, ok", expect = ACCEPTABLE, desc = "Both on the worker.")
    @Outcome(id = "1, 1, ok", expect = ACCEPTABLE, desc = "One on each.")
    @Outcome(id = "0, [12], ok", expect = ACCEPTABLE, desc = "The first on the helper.")
    public static class RunVsNextRun extends Rig {
        private final PeriodicTimer ticker = new PeriodicTimer(queue, this::fired, LATE - DUE, MissedTicks.BURST);
        private int data;

        @Override
        void fired() {
            data++;
        }
        public RunVsNextRun() { file(ticker, DUE); }
        @Actor public void run(IIL_Result r) { r.r1 = worker.runDue(queue, LATE); }
        @Actor public void steal(IIL_Result r) { r.r2 = helper.runDue(queue, LATE); }
        @Arbiter public void settle(IIL_Result r) {
            worker.runDue(queue, LATE);
            queue.stop(ticker);
            r.r3 = data != 2 ? data + " of 2 runs seen" : audit(3, 1, 0);
        }
    }

    /** Who waits for the end of a run is told of it, and sees what the run wrote. */
    @JCStressTest @State
    @Outcome(id = "true, 1, ok", expect = ACCEPTABLE, desc = "Seen.")
    public static class AwaitVsEndOfRun extends Rig {
        private int data;

        @Override
        void fired() {
            data = 1;
        }
        public AwaitVsEndOfRun() { file(timer, DUE); worker.claim(queue, DUE); }
        @Actor public void await(ZIL_Result r) { queue.stop(timer); r.r1 = awaitRunEnd(); r.r2 = data; }
        @Actor public void end(ZIL_Result r) { worker.finish(); }
        @Arbiter public void settle(ZIL_Result r) { r.r3 = audit(1, 0, 0); }
    }

    /** The same of a task: it was called and its end is seen, or it never is called. */
    @JCStressTest @State
    @Outcome(id = "true, 0, 0", expect = ACCEPTABLE, desc = "Cancelled before its call.")
    @Outcome(id = "true, 1, 1", expect = ACCEPTABLE, desc = "Seen.")
    public static class AwaitVsRunOfTask extends TaskRaces.RunningTask {
        @Actor public void await(ZII_Result r) { task.cancel(); r.r1 = awaitRunEnd(task); r.r2 = calls; }
        @Actor public void end() { worker.finish(); }
        @Arbiter public void settle(ZII_Result r) { r.r3 = calls; }
    }

    /** Who receives a firing sees what was written before it was fired. */
    @JCStressTest @State
    @Outcome(id = "-1, ok", expect = ACCEPTABLE, desc = "Nothing to receive yet.")
    @Outcome(id = "1, ok", expect = ACCEPTABLE, desc = "Seen.")
    public static class FireVsReceive extends Rig {
        private final OneShotAlarm received = new OneShotAlarm(queue);
        private int data;
        public FireVsReceive() { queue.arm(received, DUE); }
        @Actor public void fire(IL_Result r) { data = 1; worker.runDue(queue, DUE); }
        @Actor public void receive(IL_Result r) { r.r1 = receive(received) ? data : -1; }
        @Arbiter public void settle(IL_Result r) { r.r2 = audit(1, 0, 0); }
    }
}
