package io.pendula;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideCompactor;
import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.Rig;
import io.pendula.LockWithoutStackTest.Scene;
import io.pendula.internal.engine.Call;
import io.pendula.internal.executor.ScheduledTask;
import io.pendula.internal.executor.ShutdownTracker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** What {@link LockWithoutStackTest} does to the tasks of executors. */
final class TaskScenes {
    private static final int LEVELS = LockWithoutStackTest.LEVELS;
    /** So many that each stop sweeps, hence asks for stack itself. */
    private static final long STALE = 1_000_000;
    private static final Callable<Integer> ONE = () -> 1;

    private TaskScenes() {}

    /** All is filed, and each stop of a timer helps to sweep, however much was swept before. */
    private static void letStopsSweep(TimerScheduler s) {
        s.pending();
        InsideCompactor.countStale(s.engine.queues[0], STALE * InsideCompactor.STALE);
    }

    private static List<Thread> waiters(List<? extends Future<?>> futures) {
        List<Thread> waiters = new ArrayList<>();
        for (Future<?> f : futures) {
            Thread waiter = new Thread(() -> {
                try {
                    f.get();
                } catch (Exception e) {
                    // It was cancelled.
                }
            });
            waiter.setDaemon(true);
            waiter.start();
            waiters.add(waiter);
        }
        waiters.forEach(LockWithoutStackTest::awaitWaiting);
        return waiters;
    }

    private static String whetherAllLeave(List<Thread> waiters) throws InterruptedException {
        for (Thread waiter : waiters) {
            waiter.join(LifeFixtures.LOST_SECONDS * 1000);
            if (waiter.isAlive()) {
                return "a thread waits for ever";
            }
        }
        return null;
    }

    /** A future that threads wait for is cancelled. */
    static final class Cancel implements Scene {
        private final List<Future<?>> futures = new ArrayList<>();
        private final List<Thread> waiters;

        Cancel(boolean sweeps) {
            TimerScheduler s = TimerScheduler.builder().clock(new ManualClock()).build();
            SchedulerExecutor view = s.asScheduledExecutorService();
            for (int i = 0; i < LEVELS; i++) {
                futures.add(view.schedule(ONE, 1, TimeUnit.DAYS));
            }
            waiters = waiters(futures);
            if (sweeps) {
                letStopsSweep(s);
            }
        }

        @Override
        public void call(int level) {
            futures.get(level).cancel(false);
        }

        @Override
        public String check() throws Exception {
            futures.forEach(f -> f.cancel(false));
            return whetherAllLeave(waiters);
        }
    }

    /** A task has ended that threads wait for, and its executor, too; its timeout is cancelled then. */
    static final class End implements Scene {
        private final ManualClock clock = new ManualClock();
        private final SchedulerExecutor view;
        private final List<Thread> waiters;

        End() {
            TimerScheduler s = TimerScheduler.builder().clock(clock).build();
            view = s.asScheduledExecutorService();
            List<Future<?>> futures = new ArrayList<>();
            for (int i = 0; i < LEVELS; i++) {
                futures.add(view.submitWithTimeout(ONE, 1, TimeUnit.DAYS, null));
            }
            waiters = waiters(futures);
            view.shutdown();
            letStopsSweep(s);
        }

        @Override
        public void call(int level) {
            clock.advance(Duration.ZERO);
        }

        @Override
        public String check() throws Exception {
            clock.advance(Duration.ZERO);
            String waiting = whetherAllLeave(waiters);
            return waiting != null || view.isTerminated() ? waiting : "a view does not terminate";
        }
    }

    /** Views with a task each, which waits, are shut down; if that fails, again. Now: after a shutdown that waits for it. */
    static final class Shutdown implements Scene {
        private final boolean now;
        private final List<SchedulerExecutor> views = new ArrayList<>();
        private final List<Future<?>> futures = new ArrayList<>();
        private final List<List<Runnable>> returned = new ArrayList<>();

        Shutdown(boolean now) {
            this.now = now;
            TimerScheduler s = TimerScheduler.builder().clock(new ManualClock()).build();
            for (int i = 0; i < LEVELS; i++) {
                SchedulerExecutor view = s.asScheduledExecutorService();
                view.setExecuteExistingDelayedTasksAfterShutdownPolicy(now);
                views.add(view);
                futures.add(view.schedule(ONE, 1, TimeUnit.DAYS));
                if (now) {
                    view.shutdown();
                }
                returned.add(List.of());
            }
            letStopsSweep(s);
        }

        @Override
        public void call(int level) {
            if (now) {
                returned.set(level, views.get(level).shutdownNow());
            } else {
                views.get(level).shutdown();
            }
        }

        @Override
        public String check() {
            for (int i = 0; i < LEVELS; i++) {
                List<Runnable> more = List.of();
                if (now) {
                    more = views.get(i).shutdownNow();
                } else {
                    views.get(i).shutdown();
                }
                if (returned.get(i).size() + more.size() != (now ? 1 : 0)) {
                    return "returned " + returned.get(i) + ", then " + more;
                }
                if (futures.get(i).isCancelled() == now) {
                    return "a task is left: " + futures.get(i);
                }
                if (!views.get(i).isTerminated()) {
                    return "a view does not terminate";
                }
            }
            return null;
        }
    }

    /** Tasks that a worker has claimed, and has not begun. */
    private abstract static class Claimed implements Scene {
        final Rig rig = new Rig(false);
        final ShutdownTracker tracker = new SchedulerExecutor(TimerScheduler.builder().workers(0).build().engine, false).tracker;
        final List<ScheduledTask<Integer>> tasks = new ArrayList<>();
        final List<Claim> claims = new ArrayList<>();

        Claimed() {
            for (int i = 0; i < LEVELS; i++) {
                ScheduledTask<Integer> task = new ScheduledTask<>(rig.queue, new Call(ONE), tracker, 0, false);
                rig.queue.arm(task, 500);
                claims.add(rig.claim(500));
                tasks.add(task);
            }
        }
    }

    /** A task that a shutdownNow() has returned is run by its receiver. */
    static final class RunReturned extends Claimed {
        RunReturned() {
            tasks.forEach(ScheduledTask::giveBack);
        }

        @Override
        public void call(int level) {
            tasks.get(level).run();
        }

        @Override
        public String check() throws Exception {
            for (ScheduledTask<Integer> task : tasks) {
                task.run();
                if (!task.isDone()) {
                    return "a task never ends";
                }
                try {
                    if (task.get() == null) {
                        return "a task is done, and has not run";
                    }
                } catch (ExecutionException e) {
                    // It was called without stack.
                }
            }
            return null;
        }
    }

    /** The worker finds that the executor was shut down meanwhile. */
    static final class Refuse extends Claimed {
        Refuse() {
            tracker.shutdownNow();
        }

        @Override
        public void call(int level) {
            Inside.checkStack(); // as with the claim
            ScheduledTask<Integer> task = tasks.get(level);
            try {
                task.fire(claims.get(level).task, 500);
            } catch (Throwable e) {
                // The run ends all the same.
            }
            rig.queue.endRun(task);
        }

        @Override
        public String check() {
            for (int i = 0; i < LEVELS; i++) {
                if (!tasks.get(i).isDone()) {
                    call(i);
                }
                if (!tasks.get(i).isCancelled()) {
                    return "a task is done, and has not run";
                }
            }
            return null;
        }
    }
}
