package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.pendula.internal.executor.ScheduledTask;
import io.pendula.internal.queue.TimerNode;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZIL_Result;
import org.openjdk.jcstress.infra.results.ZLL_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** An executor's task: its run against those who cancel it, wait for it, and run what was given back to them. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class TaskRaces {
    /** A task that waits in the heap. */
    abstract static class WaitingTask extends TaskRig {
        final ScheduledTask<Integer> task = one();
        WaitingTask() { file(task, DUE); }
    }

    /** A task in the inbox. */
    abstract static class MovingTask extends TaskRig {
        final ScheduledTask<Integer> task = one();
        MovingTask() { queue.arm(task, DUE); }
    }

    /** A task that the worker has claimed, and not called yet. */
    abstract static class RunningTask extends TaskRig {
        final ScheduledTask<Integer> task = one();
        RunningTask() { file(task, DUE); worker.claim(queue, DUE); }
    }

    /** A task that a shutdown has given back. */
    abstract static class ReturnedTask extends TaskRig {
        final ScheduledTask<Integer> task = one();
        ReturnedTask() { queue.arm(task, DUE); task.giveBack(); }
    }

    /** A periodic task that the worker has claimed. */
    abstract static class RunningPeriodic extends TaskRig {
        final ScheduledTask<Void> task;
        RunningPeriodic(long period) { task = periodic(period); file(task, DUE); worker.claim(queue, DUE); }
    }

    /** A task has run to its end or is cancelled, and what was cancelled before its start never starts. */
    @JCStressTest @State
    @Outcome(id = "true, [01], cancelled", expect = ACCEPTABLE, desc = "Cancelled, before or in its run.")
    @Outcome(id = "false, 1, 42", expect = ACCEPTABLE, desc = "It had ended.")
    public static class CancelVsRun extends WaitingTask {
        @Actor public void cancel(ZIL_Result r) { jitter(3_000); r.r1 = task.cancel(false); }
        @Actor public void run() { worker.runDue(queue, DUE); }
        @Arbiter public void settle(ZIL_Result r) { r.r2 = calls; r.r3 = state(task); }
    }

    /** What is cancelled while it waits never starts, and what is cancelled while it runs runs at most this once. */
    @JCStressTest @State
    @Outcome(id = "waited, 0", expect = ACCEPTABLE, desc = "Never called.")
    @Outcome(id = "ran, [01]", expect = ACCEPTABLE, desc = "Claimed; called or just not.")
    @Outcome(id = "ended, 1", expect = ACCEPTABLE, desc = "Too late.")
    public static class CancelOfWaitingVsRun extends MovingTask {
        @Actor public void cancel(LL_Result r) {
            jitter(3_000);
            int was = queue.abort(task);
            r.r1 = was < 0 ? "ended" : TimerNode.isRunning(was) ? "ran" : "waited";
        }
        @Actor public void run() { worker.runDue(queue, DUE); }
        @Arbiter public void settle(LL_Result r) { r.r2 = calls; }
    }

    /** An interrupt hits the run or nobody: what the thread does next finds its flag clear. */
    @JCStressTest @State
    @Outcome(id = "true, clear, cancelled", expect = ACCEPTABLE, desc = "Cancelled, before or in its run.")
    @Outcome(id = "false, clear, 42", expect = ACCEPTABLE, desc = "It had ended.")
    public static class InterruptVsEndOfRun extends RunningTask {
        @Actor public void cancel(ZLL_Result r) { jitter(3_000); r.r1 = task.cancel(true); }
        @Actor public void run(ZLL_Result r) { worker.finish(); r.r2 = flag(); }
        @Arbiter public void settle(ZLL_Result r) { r.r3 = state(task); }
    }

    /** The same while a shutdown interrupts, too, and the worker is between two of them. */
    @JCStressTest @State
    @Outcome(id = "true, clear, cancelled", expect = ACCEPTABLE, desc = "Cancelled, before or in its run.")
    @Outcome(id = "false, clear, 42", expect = ACCEPTABLE, desc = "It had ended.")
    public static class TwoInterruptsVsEndOfRun extends RunningTask {
        @Actor public void cancel(ZLL_Result r) { jitter(3_000); task.interrupt(); r.r1 = task.cancel(true); }
        @Actor public void run(ZLL_Result r) { worker.finish(); r.r2 = flag(); }
        @Arbiter public void settle(ZLL_Result r) { r.r3 = state(task); }
    }

    /** Of two cancels exactly one is the one, while the task runs. */
    @JCStressTest @State
    @Outcome(id = "true, false, cancelled", expect = ACCEPTABLE, desc = "The first.")
    @Outcome(id = "false, true, cancelled", expect = ACCEPTABLE, desc = "The second.")
    public static class TwoCancels extends RunningTask {
        @Actor public void cancel(ZZL_Result r) { jitter(3_000); r.r1 = task.cancel(false); }
        @Actor public void cancelToo(ZZL_Result r) { jitter(3_000); r.r2 = task.cancel(true); }
        @Arbiter public void settle(ZZL_Result r) { worker.finish(); r.r3 = state(task); }
    }

    /** Who waits is woken by the end of the run, and sees the value. */
    @JCStressTest @State
    @Outcome(id = "42", expect = ACCEPTABLE, desc = "The value.")
    public static class GetVsEndOfRun extends RunningTask {
        @Actor public void get(L_Result r) { jitter(3_000); r.r1 = outcome(task, true); }
        @Actor public void run() { worker.finish(); }
    }

    /** Two who wait, one of whom gives up and takes itself out of the list: the other is woken all the same. */
    @JCStressTest @State
    @Outcome(id = "42, lost", expect = ACCEPTABLE, desc = "The value, and a timeout.")
    public static class GetVsGivingUpVsEndOfRun extends RunningTask {
        @Actor public void get(LL_Result r) { jitter(3_000); r.r1 = outcome(task, true); }
        @Actor public void giveUpThenRun(LL_Result r) {
            try {
                r.r2 = task.get(1, TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                r.r2 = "lost";
            } catch (InterruptedException | ExecutionException e) {
                r.r2 = e;
            }
            worker.finish();
        }
    }

    /** Who waits is woken by a cancel, whether the task waits or runs. */
    @JCStressTest @State
    @Outcome(id = "cancelled", expect = ACCEPTABLE, desc = "At once.")
    public static class GetVsCancel extends MovingTask {
        @Actor public void get(L_Result r) { jitter(3_000); r.r1 = outcome(task, true); }
        @Actor public void cancel() { jitter(3_000); task.cancel(false); }
    }

    /** What isDone() says true of has its value. */
    @JCStressTest @State
    @Outcome(id = "(42|not done)", expect = ACCEPTABLE, desc = "Never done without a value.")
    public static class IsDoneVsEndOfRun extends RunningTask {
        @Actor public void look(L_Result r) { jitter(3_000); r.r1 = state(task); }
        @Actor public void run() { worker.finish(); }
    }

    /** A cancel of a periodic task always succeeds, in the run, in the inbox, and between two runs. */
    @JCStressTest @State
    @Outcome(id = "true, cancelled, over", expect = ACCEPTABLE, desc = "The end of it.")
    public static class CancelOfPeriodicVsEndOfRun extends RunningPeriodic {
        public CancelOfPeriodicVsEndOfRun() { super(LATE - DUE); }
        @Actor public void cancel(ZLL_Result r) { jitter(3_000); r.r1 = task.cancel(false); }
        @Actor public void run() { worker.finish(); }
        @Arbiter public void settle(ZLL_Result r) { r.r2 = state(task); r.r3 = callsAtEnd(); }
    }

    /** The same for a fixed delay, whose run moves the next one, and for an interrupt. */
    @JCStressTest @State
    @Outcome(id = "clear, cancelled, over", expect = ACCEPTABLE, desc = "The end of it.")
    public static class CancelOfFixedDelayVsEndOfRun extends RunningPeriodic {
        public CancelOfFixedDelayVsEndOfRun() { super(DUE - LATE); }
        @Actor public void cancel() { jitter(3_000); task.cancel(true); }
        @Actor public void run(LLL_Result r) { worker.finish(); r.r1 = flag(); }
        @Arbiter public void settle(LLL_Result r) { r.r2 = state(task); r.r3 = callsAtEnd(); }
    }

    /** A periodic task that throws has failed or is cancelled, is over in both cases, and is heard of. */
    @JCStressTest @State
    @Outcome(id = "true, cancelled, 1 over", expect = ACCEPTABLE, desc = "Cancelled in its run.")
    @Outcome(id = "true, cancelled, 0 over", expect = ACCEPTABLE, desc = "Cancelled before it was called.")
    @Outcome(id = "false, failed, 1 over", expect = ACCEPTABLE, desc = "It had ended.")
    public static class CancelVsThrow extends RunningPeriodic {
        public CancelVsThrow() { super(LATE - DUE); }

        @Override
        void tick() {
            throw new IllegalStateException();
        }

        @Actor public void cancel(ZLL_Result r) { jitter(3_000); r.r1 = task.cancel(false); }
        @Actor public void run() { worker.finish(); }
        @Arbiter public void settle(ZLL_Result r) { r.r2 = state(task); r.r3 = worker.thrown + " " + callsAtEnd(); }
    }

    /** A stopped task that was given to its receiver is run once, however many threads do so. */
    @JCStressTest @State
    @Outcome(id = "1, 42", expect = ACCEPTABLE, desc = "By one of them.")
    public static class TwoRunWhatWasReturned extends ReturnedTask {
        @Actor public void run() { task.run(); }
        @Actor public void runToo() { task.run(); }
        @Arbiter public void settle(LL_Result r) { r.r1 = calls; r.r2 = state(task); }
    }

    /** Who runs what was returned is not interrupted by a cancel once that has ended. */
    @JCStressTest @State
    @Outcome(id = "true, clear, cancelled", expect = ACCEPTABLE, desc = "Cancelled, before or in its run.")
    @Outcome(id = "false, clear, 42", expect = ACCEPTABLE, desc = "It had ended.")
    public static class CancelVsRunOfReturned extends ReturnedTask {
        @Actor public void cancel(ZLL_Result r) { jitter(3_000); r.r1 = task.cancel(true); }
        @Actor public void run(ZLL_Result r) { task.run(); r.r2 = flag(); }
        @Arbiter public void settle(ZLL_Result r) { r.r3 = state(task); }
    }

    /** What is claimed but has not begun is called by its worker or by a receiver of it, but once. */
    @JCStressTest @State
    @Outcome(id = "(true|false), 42 1", expect = ACCEPTABLE, desc = "By one of them.")
    public static class GiveBackVsCall extends RunningTask {
        @Actor public void giveBack(ZL_Result r) { jitter(3_000); r.r1 = task.giveBack(); task.run(); }
        @Actor public void call() { worker.finish(); task.run(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = state(task) + " " + calls; }
    }

    /** The same while somebody cancels: then it has run to its end or is cancelled, and runs at most once. */
    @JCStressTest @State
    @Outcome(id = "true, cancelled [01]", expect = ACCEPTABLE, desc = "Cancelled.")
    @Outcome(id = "false, 42 1", expect = ACCEPTABLE, desc = "It had ended.")
    public static class GiveBackVsCallVsCancel extends RunningTask {
        @Actor public void giveBack() {
            jitter(3_000);
            if (task.giveBack()) {
                task.run();
            }
        }
        @Actor public void cancelThenCall(ZL_Result r) { jitter(3_000); r.r1 = task.cancel(false); worker.finish(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = state(task) + " " + calls; }
    }
}
