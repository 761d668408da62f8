package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;

/**
 * The end of an executor against those who submit, run and cancel. The scheduler has a manual clock and so no thread;
 * an actor drives it. "early": the executor had terminated while a task ran.
 */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class ShutdownRaces {

    /** A view, and the books of its one task. */
    abstract static class Ending {
        final TimerScheduler scheduler = TimerScheduler.builder().clock(new ManualClock()).build();
        final SchedulerExecutor view = scheduler.asScheduledExecutorService();
        private final List<Runnable> returned = new ArrayList<>(1);
        private Future<?> future;
        private volatile int calls;
        private volatile boolean early;
        private volatile boolean received;

        final Integer call() {
            boolean terminated = view.isTerminated();
            calls = calls + 1; // not atomic: a task never overlaps itself
            early |= (terminated || view.isTerminated()) && !received; // nobody waits for what was returned
            return 42;
        }

        final void schedule() {
            future = view.schedule(this::call, 0, TimeUnit.NANOSECONDS);
        }

        final void scheduleAtFixedRate() {
            future = view.scheduleAtFixedRate(this::call, 0, 1, TimeUnit.NANOSECONDS);
        }

        final String trySchedule() {
            try {
                schedule();
                return "accepted";
            } catch (RejectedExecutionException e) {
                return "rejected";
            }
        }

        /** One run, as a catching-up task would never end. */
        final boolean runOne() {
            scheduler.engine.stepper.nanosUntilNext(); // files what has been submitted
            return scheduler.engine.stepper.runOneDue();
        }

        final void shutdown() {
            Rig.jitter(8_000);
            view.shutdown();
        }

        final void shutdownNow() {
            Rig.jitter(8_000);
            view.shutdownNow().forEach(this::isReturned);
        }

        final void closeScheduler() {
            Rig.jitter(8_000);
            scheduler.shutdownNow();
        }

        final void isReturned(Runnable task) {
            synchronized (returned) {
                returned.add(task);
            }
        }

        final boolean cancel() {
            Rig.jitter(8_000);
            return future.cancel(false);
        }

        /** Runs all that is due; then what has become of the task, each way by which it ended. */
        final String fate() {
            while (runOne()) {
                Thread.onSpinWait();
            }
            String fate = early ? "early " : "";
            fate += calls == 0 ? "" : "ran " + calls + " ";
            fate += future == null ? "unknown " : TaskRig.state(future) + " ";
            for (Runnable task : returned) {
                fate += task == future ? "returned " : task instanceof RunnableFuture<?> f
                        ? "stranger " + TaskRig.state(f) + " " : "? ";
            }
            return fate + (view.isTerminated() ? "terminated" : "hangs");
        }

        /** As fate(), of a task that its receiver runs. */
        final String fateOfReturned() {
            runReturned();
            return fate();
        }

        final void runReturned() {
            received = true;
            returned.forEach(Runnable::run);
        }
    }

    /** One task has been submitted. */
    abstract static class Scheduled extends Ending {
        Scheduled() { schedule(); }
    }

    /** One that comes again and again. */
    abstract static class Periodic extends Ending {
        Periodic() { scheduleAtFixedRate(); }
    }

    /** A task is run or rejected, never accepted and then dropped. */
    @JCStressTest @State
    @Outcome(id = "accepted, ran 1 42 terminated", expect = ACCEPTABLE, desc = "Submitted before.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    public static class SubmitVsShutdown extends Ending {
        @Actor public void submit(LL_Result r) { r.r1 = trySchedule(); }
        @Actor public void end() { shutdown(); }
        @Arbiter public void settle(LL_Result r) { r.r2 = fate(); }
    }

    /** The same with a worker that claims it at once. */
    @JCStressTest @State
    @Outcome(id = "accepted, ran 1 42 terminated", expect = ACCEPTABLE, desc = "Submitted before.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    public static class SubmitVsShutdownVsRun extends Ending {
        @Actor public void submitThenRun(LL_Result r) { r.r1 = trySchedule(); runOne(); }
        @Actor public void end() { shutdown(); }
        @Arbiter public void settle(LL_Result r) { r.r2 = fate(); }
    }

    /** A task is returned or rejected. */
    @JCStressTest @State
    @Outcome(id = "accepted, ran 1 42 returned terminated", expect = ACCEPTABLE, desc = "Returned, and run here.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    public static class SubmitVsShutdownNow extends Ending {
        @Actor public void submit(LL_Result r) { r.r1 = trySchedule(); }
        @Actor public void end() { shutdownNow(); }
        @Arbiter public void settle(LL_Result r) { r.r2 = fateOfReturned(); }
    }

    /** The same while another task waits: that one is returned, however the ends of both are counted. */
    @JCStressTest @State
    @Outcome(id = "accepted, ran 1 42 returned terminated", expect = ACCEPTABLE, desc = "Returned, and run here.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    public static class SubmitVsShutdownNowOfAnother extends Ending {
        private final Future<?> another = view.schedule(() -> 0, 1, TimeUnit.HOURS);
        private boolean isReturned;
        @Actor public void submit(LL_Result r) { r.r1 = trySchedule(); }
        @Actor public void end() {
            Rig.jitter(8_000);
            for (Runnable task : view.shutdownNow()) {
                if (task == another) {
                    isReturned = true;
                    another.cancel(false);
                } else {
                    isReturned(task);
                }
            }
        }
        @Arbiter public void settle(LL_Result r) { r.r2 = isReturned ? fateOfReturned() : "not returned"; }
    }

    /** The same with a worker that claims it at once: run, returned, or rejected, and but one of them. */
    @JCStressTest @State
    @Outcome(id = "accepted, ran 1 42 terminated", expect = ACCEPTABLE, desc = "Run before.")
    @Outcome(id = "accepted, ran 1 42 returned terminated", expect = ACCEPTABLE, desc = "Returned, and run here.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    public static class SubmitVsShutdownNowVsRun extends Ending {
        @Actor public void submitThenRun(LL_Result r) { r.r1 = trySchedule(); runOne(); }
        @Actor public void end() { shutdownNow(); }
        @Arbiter public void settle(LL_Result r) { r.r2 = fateOfReturned(); }
    }

    /** What was there when shutdown() was called runs. */
    @JCStressTest @State
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Run before or after.")
    public static class ClaimVsShutdown extends Scheduled {
        @Actor public void run() { runOne(); }
        @Actor public void end() { shutdown(); }
        @Arbiter public void settle(L_Result r) { r.r1 = fate(); }
    }

    /** What was there when shutdownNow() was called was run or is returned, never both, and never cancelled. */
    @JCStressTest @State
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Begun before.")
    @Outcome(id = "not done returned terminated", expect = ACCEPTABLE, desc = "Returned, not done.")
    public static class ClaimVsShutdownNow extends Scheduled {
        @Actor public void run() { runOne(); }
        @Actor public void end() { shutdownNow(); }
        @Arbiter public void settle(L_Result r) { r.r1 = fate(); }
    }

    /** Of two shutdowns at most one returns it. */
    @JCStressTest @State
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Begun before.")
    @Outcome(id = "not done returned terminated", expect = ACCEPTABLE, desc = "Returned once.")
    public static class ClaimVsTwoShutdowns extends Scheduled {
        @Actor public void runThenEnd() { runOne(); shutdownNow(); }
        @Actor public void endToo() { view.shutdown(); shutdownNow(); }
        @Arbiter public void settle(L_Result r) { r.r1 = fate(); }
    }

    /** What its receiver runs at once, while a worker that had claimed it comes to it, runs once. */
    @JCStressTest @State
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Begun before.")
    @Outcome(id = "ran 1 42 returned terminated", expect = ACCEPTABLE, desc = "Run by its receiver.")
    public static class ClaimVsRunOfReturned extends Scheduled {
        @Actor public void run() { runOne(); }
        @Actor public void end() { shutdownNow(); runReturned(); }
        @Arbiter public void settle(L_Result r) { r.r1 = fate(); }
    }

    /** A periodic task is cancelled: while it waits, in its run, and when it is just being armed again. */
    @JCStressTest @State
    @Outcome(id = "(ran 1 |)cancelled terminated", expect = ACCEPTABLE, desc = "The end of it.")
    public static class PeriodicVsShutdown extends Periodic {
        @Actor public void run() { runOne(); }
        @Actor public void end() { shutdown(); }
        @Arbiter public void settle(L_Result r) { r.r1 = fate(); }
    }

    /** The same, or it is returned, and then it is not cancelled: if it was waiting, or its run had just ended. */
    @JCStressTest @State
    @Outcome(id = "(ran 1 |)cancelled terminated", expect = ACCEPTABLE, desc = "It was running.")
    @Outcome(id = "(ran 1 |)not done returned terminated", expect = ACCEPTABLE, desc = "It was waiting.")
    public static class PeriodicVsShutdownNow extends Periodic {
        @Actor public void run() { runOne(); }
        @Actor public void end() { shutdownNow(); }
        @Arbiter public void settle(L_Result r) { r.r1 = fate(); }
    }

    /** A periodic task that may go on after the shutdown is counted until its scheduler is closed and its run over. */
    @JCStressTest @State
    @Outcome(id = "(ran 1 |)cancelled terminated", expect = ACCEPTABLE, desc = "The end of it.")
    public static class PeriodicVsClose extends Ending {
        public PeriodicVsClose() {
            view.setContinueExistingPeriodicTasksAfterShutdownPolicy(true);
            scheduleAtFixedRate();
            view.shutdown();
        }

        @Actor public void run() { runOne(); }
        @Actor public void close() { closeScheduler(); }
        @Arbiter public void settle(L_Result r) { r.r1 = fate(); }
    }

    /** Closing the scheduler ends its view: a task was run or is cancelled. */
    @JCStressTest @State
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Begun before.")
    @Outcome(id = "cancelled terminated", expect = ACCEPTABLE, desc = "Waited.")
    public static class ClaimVsClose extends Scheduled {
        @Actor public void run() { runOne(); }
        @Actor public void close() { closeScheduler(); }
        @Arbiter public void settle(L_Result r) { r.r1 = fate(); }
    }

    /** A task whose push is refused, as its scheduler is closed, may have been found by the view's shutdown before. */
    @JCStressTest @State
    @Outcome(id = "accepted, cancelled terminated", expect = ACCEPTABLE, desc = "Submitted before.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    public static class SubmitVsClose extends Ending {
        @Actor public void submit(LL_Result r) { r.r1 = trySchedule(); }
        @Actor public void close() { closeScheduler(); }
        @Arbiter public void settle(LL_Result r) { r.r2 = fate(); }
    }

    /** The same, and then a shutdown that gives back what it finds: what it returns was not rejected. */
    @JCStressTest @State
    @Outcome(id = "accepted, cancelled terminated", expect = ACCEPTABLE, desc = "Submitted before.")
    @Outcome(id = "accepted, not done returned terminated", expect = ACCEPTABLE, desc = "Submitted between the two.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    public static class SubmitVsCloseThenShutdownNow extends Ending {
        @Actor public void submit(LL_Result r) { r.r1 = trySchedule(); }
        @Actor public void closeThenEnd() {
            closeScheduler();
            view.shutdownNow().forEach(this::isReturned);
        }
        @Arbiter public void settle(LL_Result r) { r.r2 = fate(); }
    }

    /** What waits is returned by the view's shutdown, not done, or cancelled by its scheduler's close: never both. */
    @JCStressTest @State
    @Outcome(id = "not done returned terminated", expect = ACCEPTABLE, desc = "The shutdown has it.")
    @Outcome(id = "cancelled terminated", expect = ACCEPTABLE, desc = "The close has it.")
    public static class ShutdownNowVsClose extends Scheduled {
        @Actor public void end() { shutdownNow(); }
        @Actor public void close() { closeScheduler(); }
        @Arbiter public void settle(L_Result r) { r.r1 = fate(); }
    }

    /** A cancel always succeeds against a shutdown; what was returned just before may be cancelled by its owner. */
    @JCStressTest @State
    @Outcome(id = "true, cancelled (returned |)terminated", expect = ACCEPTABLE, desc = "Cancelled.")
    public static class CancelVsShutdownNow extends Scheduled {
        @Actor public void cancel(ZL_Result r) { r.r1 = cancel(); }
        @Actor public void end() { shutdownNow(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = fate(); }
    }

    /** The last task of a shutdown is cancelled, run or both at the same time: the end comes, and once. */
    @JCStressTest @State
    @Outcome(id = "true, (ran 1 |)cancelled terminated", expect = ACCEPTABLE, desc = "Cancelled, perhaps in its run.")
    @Outcome(id = "false, ran 1 42 terminated", expect = ACCEPTABLE, desc = "It had ended.")
    public static class CancelVsRunVsShutdown extends Scheduled {
        @Actor public void cancelThenShutdown(ZL_Result r) { r.r1 = cancel(); view.shutdown(); }
        @Actor public void run() { runOne(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = fate(); }
    }
}
