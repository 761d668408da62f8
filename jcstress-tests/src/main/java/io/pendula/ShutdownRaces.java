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

    /** A task is run or rejected, never accepted and then dropped. */
    @JCStressTest
    @Outcome(id = "accepted, ran 1 42 terminated", expect = ACCEPTABLE, desc = "Submitted before.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    @State
    public static class SubmitVsShutdown extends Ending {
        @Actor
        public void submit(LL_Result r) {
            r.r1 = trySchedule();
        }

        @Actor
        public void end() {
            shutdown();
        }

        @Arbiter
        public void settle(LL_Result r) {
            r.r2 = fate();
        }
    }

    /** The same with a worker that claims it at once. */
    @JCStressTest
    @Outcome(id = "accepted, ran 1 42 terminated", expect = ACCEPTABLE, desc = "Submitted before.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    @State
    public static class SubmitVsShutdownVsRun extends Ending {
        @Actor
        public void submitThenRun(LL_Result r) {
            r.r1 = trySchedule();
            runOne();
        }

        @Actor
        public void end() {
            shutdown();
        }

        @Arbiter
        public void settle(LL_Result r) {
            r.r2 = fate();
        }
    }

    /** A task is returned or rejected. */
    @JCStressTest
    @Outcome(id = "accepted, ran 1 42 returned terminated", expect = ACCEPTABLE, desc = "Returned, and run here.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    @State
    public static class SubmitVsShutdownNow extends Ending {
        @Actor
        public void submit(LL_Result r) {
            r.r1 = trySchedule();
        }

        @Actor
        public void end() {
            shutdownNow();
        }

        @Arbiter
        public void settle(LL_Result r) {
            r.r2 = fateOfReturned();
        }
    }

    /** The same while another task waits: that one is returned, however the ends of both are counted. */
    @JCStressTest
    @Outcome(id = "accepted, ran 1 42 returned terminated", expect = ACCEPTABLE, desc = "Returned, and run here.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    @State
    public static class SubmitVsShutdownNowOfAnother extends Ending {
        private final Future<?> another = view.schedule(() -> 0, 1, TimeUnit.HOURS);
        private boolean isReturned;

        @Actor
        public void submit(LL_Result r) {
            r.r1 = trySchedule();
        }

        @Actor
        public void end() {
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

        @Arbiter
        public void settle(LL_Result r) {
            r.r2 = isReturned ? fateOfReturned() : "not returned";
        }
    }

    /** The same with a worker that claims it at once: run, returned, or rejected, and but one of them. */
    @JCStressTest
    @Outcome(id = "accepted, ran 1 42 terminated", expect = ACCEPTABLE, desc = "Run before.")
    @Outcome(id = "accepted, ran 1 42 returned terminated", expect = ACCEPTABLE, desc = "Returned, and run here.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    @State
    public static class SubmitVsShutdownNowVsRun extends Ending {
        @Actor
        public void submitThenRun(LL_Result r) {
            r.r1 = trySchedule();
            runOne();
        }

        @Actor
        public void end() {
            shutdownNow();
        }

        @Arbiter
        public void settle(LL_Result r) {
            r.r2 = fateOfReturned();
        }
    }

    /** What was there when shutdown() was called runs. */
    @JCStressTest
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Run before or after.")
    @State
    public static class ClaimVsShutdown extends Ending {
        public ClaimVsShutdown() {
            schedule();
        }

        @Actor
        public void run() {
            runOne();
        }

        @Actor
        public void end() {
            shutdown();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = fate();
        }
    }

    /** What was there when shutdownNow() was called was run or is returned, never both, and never cancelled. */
    @JCStressTest
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Begun before.")
    @Outcome(id = "not done returned terminated", expect = ACCEPTABLE, desc = "Returned, not done.")
    @State
    public static class ClaimVsShutdownNow extends Ending {
        public ClaimVsShutdownNow() {
            schedule();
        }

        @Actor
        public void run() {
            runOne();
        }

        @Actor
        public void end() {
            shutdownNow();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = fate();
        }
    }

    /** Of two shutdowns at most one returns it. */
    @JCStressTest
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Begun before.")
    @Outcome(id = "not done returned terminated", expect = ACCEPTABLE, desc = "Returned once.")
    @State
    public static class ClaimVsTwoShutdowns extends Ending {
        public ClaimVsTwoShutdowns() {
            schedule();
        }

        @Actor
        public void runThenEnd() {
            runOne();
            shutdownNow();
        }

        @Actor
        public void endToo() {
            view.shutdown();
            shutdownNow();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = fate();
        }
    }

    /** What its receiver runs at once, while a worker that had claimed it comes to it, runs once. */
    @JCStressTest
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Begun before.")
    @Outcome(id = "ran 1 42 returned terminated", expect = ACCEPTABLE, desc = "Run by its receiver.")
    @State
    public static class ClaimVsRunOfReturned extends Ending {
        public ClaimVsRunOfReturned() {
            schedule();
        }

        @Actor
        public void run() {
            runOne();
        }

        @Actor
        public void end() {
            shutdownNow();
            runReturned();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = fate();
        }
    }

    /** A periodic task is cancelled: while it waits, in its run, and when it is just being armed again. */
    @JCStressTest
    @Outcome(id = "(ran 1 |)cancelled terminated", expect = ACCEPTABLE, desc = "The end of it.")
    @State
    public static class PeriodicVsShutdown extends Ending {
        public PeriodicVsShutdown() {
            scheduleAtFixedRate();
        }

        @Actor
        public void run() {
            runOne();
        }

        @Actor
        public void end() {
            shutdown();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = fate();
        }
    }

    /** The same, or it is returned, and then it is not cancelled: if it was waiting, or its run had just ended. */
    @JCStressTest
    @Outcome(id = "(ran 1 |)cancelled terminated", expect = ACCEPTABLE, desc = "It was running.")
    @Outcome(id = "(ran 1 |)not done returned terminated", expect = ACCEPTABLE, desc = "It was waiting.")
    @State
    public static class PeriodicVsShutdownNow extends Ending {
        public PeriodicVsShutdownNow() {
            scheduleAtFixedRate();
        }

        @Actor
        public void run() {
            runOne();
        }

        @Actor
        public void end() {
            shutdownNow();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = fate();
        }
    }

    /** A periodic task that may go on after the shutdown is counted until its scheduler is closed and its run over. */
    @JCStressTest
    @Outcome(id = "(ran 1 |)cancelled terminated", expect = ACCEPTABLE, desc = "The end of it.")
    @State
    public static class PeriodicVsClose extends Ending {
        public PeriodicVsClose() {
            view.setContinueExistingPeriodicTasksAfterShutdownPolicy(true);
            scheduleAtFixedRate();
            view.shutdown();
        }

        @Actor
        public void run() {
            runOne();
        }

        @Actor
        public void close() {
            Rig.jitter(8_000);
            scheduler.shutdownNow();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = fate();
        }
    }

    /** Closing the scheduler ends its view: a task was run or is cancelled. */
    @JCStressTest
    @Outcome(id = "ran 1 42 terminated", expect = ACCEPTABLE, desc = "Begun before.")
    @Outcome(id = "cancelled terminated", expect = ACCEPTABLE, desc = "Waited.")
    @State
    public static class ClaimVsClose extends Ending {
        public ClaimVsClose() {
            schedule();
        }

        @Actor
        public void run() {
            runOne();
        }

        @Actor
        public void close() {
            Rig.jitter(8_000);
            scheduler.shutdownNow();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = fate();
        }
    }

    /** A task whose push is refused, as its scheduler is closed, may have been found by the view's shutdown before. */
    @JCStressTest
    @Outcome(id = "accepted, cancelled terminated", expect = ACCEPTABLE, desc = "Submitted before.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    @State
    public static class SubmitVsClose extends Ending {
        @Actor
        public void submit(LL_Result r) {
            r.r1 = trySchedule();
        }

        @Actor
        public void close() {
            Rig.jitter(8_000);
            scheduler.shutdownNow();
        }

        @Arbiter
        public void settle(LL_Result r) {
            r.r2 = fate();
        }
    }

    /** The same, and then a shutdown that gives back what it finds: what it returns was not rejected. */
    @JCStressTest
    @Outcome(id = "accepted, cancelled terminated", expect = ACCEPTABLE, desc = "Submitted before.")
    @Outcome(id = "accepted, not done returned terminated", expect = ACCEPTABLE, desc = "Submitted between the two.")
    @Outcome(id = "rejected, unknown terminated", expect = ACCEPTABLE, desc = "Submitted after.")
    @State
    public static class SubmitVsCloseThenShutdownNow extends Ending {
        @Actor
        public void submit(LL_Result r) {
            r.r1 = trySchedule();
        }

        @Actor
        public void closeThenEnd() {
            Rig.jitter(8_000);
            scheduler.shutdownNow();
            view.shutdownNow().forEach(this::isReturned);
        }

        @Arbiter
        public void settle(LL_Result r) {
            r.r2 = fate();
        }
    }

    /** What waits is returned by the view's shutdown, not done, or cancelled by its scheduler's close: never both. */
    @JCStressTest
    @Outcome(id = "not done returned terminated", expect = ACCEPTABLE, desc = "The shutdown has it.")
    @Outcome(id = "cancelled terminated", expect = ACCEPTABLE, desc = "The close has it.")
    @State
    public static class ShutdownNowVsClose extends Ending {
        public ShutdownNowVsClose() {
            schedule();
        }

        @Actor
        public void end() {
            shutdownNow();
        }

        @Actor
        public void close() {
            Rig.jitter(8_000);
            scheduler.shutdownNow();
        }

        @Arbiter
        public void settle(L_Result r) {
            r.r1 = fate();
        }
    }

    /** A cancel always succeeds against a shutdown; what was returned just before may be cancelled by its owner. */
    @JCStressTest
    @Outcome(id = "true, cancelled (returned |)terminated", expect = ACCEPTABLE, desc = "Cancelled.")
    @State
    public static class CancelVsShutdownNow extends Ending {
        public CancelVsShutdownNow() {
            schedule();
        }

        @Actor
        public void cancel(ZL_Result r) {
            r.r1 = cancel();
        }

        @Actor
        public void end() {
            shutdownNow();
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = fate();
        }
    }

    /** The last task of a shutdown is cancelled, run or both at the same time: the end comes, and once. */
    @JCStressTest
    @Outcome(id = "true, (ran 1 |)cancelled terminated", expect = ACCEPTABLE, desc = "Cancelled, perhaps in its run.")
    @Outcome(id = "false, ran 1 42 terminated", expect = ACCEPTABLE, desc = "It had ended.")
    @State
    public static class CancelVsRunVsShutdown extends Ending {
        public CancelVsRunVsShutdown() {
            schedule();
        }

        @Actor
        public void cancelThenShutdown(ZL_Result r) {
            r.r1 = cancel();
            view.shutdown();
        }

        @Actor
        public void run() {
            runOne();
        }

        @Arbiter
        public void settle(ZL_Result r) {
            r.r2 = fate();
        }
    }
}
