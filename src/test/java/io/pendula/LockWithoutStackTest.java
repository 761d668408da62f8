package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideCompactor;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.Fixtures.Rig;
import io.pendula.internal.engine.Event;
import io.pendula.internal.engine.EventLog;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Threads that take the lock of a queue, or end a task or an executor, with hardly any stack left, at each depth where that
 * may end within the lock's own code or under it: the lock is free afterwards, no timer is lost, and no other thread waits
 * for ever. In JVMs of their own: what is compiled, and with it the size of all frames, is given.
 */
@Timeout(180)
class LockWithoutStackTest {
    static final int LEVELS = 100;

    interface Scene {
        /** By the thread without stack, at each level. */
        void call(int level) throws Exception;

        /** What is broken, or null. */
        String check() throws Exception;
    }

    /** Operations under a queue's lock. */
    private enum Operation {
        STATS, WALK, RESET_IN_ORDER, CLAIM_IN_ORDER, LOOK_IN_ORDER, HELP_TO_DRAIN, HELP_TO_SWEEP, SWEEP_STEP, POLL_AS_LOOP,
        SLEEP_AS_LOOP
    }

    /** A queue, timers that must not be harmed, and calls of an operation. */
    private static final class UnderLock implements Scene {
        private static final int OTHERS = 1_500;
        private static final long LATER = 1_000_000;

        private final Operation operation;
        private final Rig rig;
        private final QueueOwner loop = new Fixtures.CountingOwner();
        private final AtomicInteger ran = new AtomicInteger();
        private final List<TimerNode> others = new ArrayList<>();
        private final List<TimerNode> victims = new ArrayList<>();

        UnderLock(Operation operation) {
            this.operation = operation;
            this.rig = new Rig(operation.name().endsWith("IN_ORDER"));
            boolean hasVictims = operation == Operation.RESET_IN_ORDER || operation == Operation.HELP_TO_SWEEP || operation == Operation.SWEEP_STEP;
            if (operation.name().endsWith("AS_LOOP")) {
                rig.keepWith(loop);
            }
            for (int i = 0; i < OTHERS; i++) {
                others.add(rig.arm(LATER + i, ran::incrementAndGet));
                if (hasVictims) {
                    victims.add(rig.arm(LATER + i));
                }
            }
            if (operation != Operation.HELP_TO_DRAIN) {
                rig.drain();
            }
            stopWithoutSweeps(victims.subList(0, victims.size() * 9 / 10));
        }

        private void stopWithoutSweeps(List<TimerNode> stopped) {
            Thread stopper = new Thread(() -> stopped.forEach(rig.queue::stop));
            Inside.lock(rig.queue).lock(); // which the stopper does not get
            try {
                stopper.start();
                stopper.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            } finally {
                Inside.lock(rig.queue).unlock();
            }
        }

        @Override
        public void call(int level) {
            switch (operation) {
                case STATS -> rig.queue.view().stats();
                case WALK -> rig.queue.view().forEachPending(t -> true);
                case RESET_IN_ORDER -> rig.queue.reset(victims.get(OTHERS - 1 - level), LATER + 1);
                case CLAIM_IN_ORDER -> rig.queue.due.claimOne(new Fixtures.Claim(), 1);
                case LOOK_IN_ORDER -> rig.queue.due.earliestLive();
                case HELP_TO_DRAIN -> InsideInbox.helpDrain(rig.queue);
                case HELP_TO_SWEEP -> InsideCompactor.makeStale(rig.queue);
                case SWEEP_STEP -> rig.queue.compactor.sweepStep();
                case POLL_AS_LOOP -> rig.queue.due.beginPoll(loop, LATER - 1);
                default -> rig.queue.due.prepareToSleep(loop, 1);
            }
        }

        @Override
        public String check() {
            if (Inside.lock(rig.queue).isLocked()) {
                return "the lock is held for ever";
            }
            rig.drain();
            victims.forEach(rig.queue::stop);
            for (int i = 0; i < 10 * LEVELS && ran.get() < OTHERS; i++) { // each ends where many are stale
                rig.fire(2 * LATER);
            }
            return ran.get() == OTHERS ? null : ran + " of " + OTHERS + " timers ran";
        }
    }

    /** The child has no JUnit, so it does not use what asserts. */
    static void awaitWaiting(Thread t) {
        while (t.getState() != Thread.State.WAITING && t.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    private static final class Log implements Scene {
        private static final Logger NONE = Logger.getLogger("none");
        private final CountDownLatch written = new CountDownLatch(1);
        private final EventLog log = new EventLog(System.getLogger("none"), TimeUnit.HOURS.toNanos(1));

        Log() {
            NONE.setLevel(Level.OFF);
        }

        @Override
        public void call(int level) {
            log.tell(Event.ALL_BLOCKED, level, 1, 0, null);
        }

        @Override
        public String check() throws Exception {
            FutureTask<?> heard = new FutureTask<>(() -> log.tell(Event.ALL_BLOCKED, new Object() {
                @Override
                public String toString() {
                    written.countDown();
                    return "";
                }
            }, 1, 0, null), null);
            Thread healthy = new Thread(heard);
            healthy.setDaemon(true);
            healthy.start();
            return written.await(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS) ? null : "nothing is logged any more";
        }
    }

    /** A pool whose only thread waits in a task needs another one; none can be had. */
    private static final class Growth implements Scene {
        private final AtomicInteger asked = new AtomicInteger();
        private final CountDownLatch end = new CountDownLatch(1);
        private final SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(3, body -> {
            if (asked.incrementAndGet() > 1) {
                throw new IllegalStateException("meant");
            }
            Thread t = new Thread(body);
            t.setDaemon(true);
            t.setUncaughtExceptionHandler((thread, e) -> { });
            return t;
        });

        Growth() {
            pool.submit(() -> {
                end.await();
                return null;
            });
        }

        @Override
        public void call(int level) {
            pool.execute(() -> { });
        }

        @Override
        public String check() throws Exception {
            int before = asked.get();
            for (long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(LifeFixtures.LOST_SECONDS); asked.get() == before; ) {
                if (System.nanoTime() > until) {
                    return "the pool does not grow any more";
                }
                pool.execute(() -> { });
                Thread.sleep(1);
            }
            end.countDown();
            return null;
        }
    }

    private interface SceneMaker {
        Scene make() throws Exception;
    }

    /** Prints what is broken. */
    static final class Deep {
        private static final int THREADS = 2;
        private static final long STACK = 256 * 1024;

        private Deep() {}

        /** Down to the end of the stack; then a call at each level on the way back. */
        private static int callAtEachLevel(Scene scene) {
            int level = 0;
            try {
                level = callAtEachLevel(scene);
            } catch (StackOverflowError e) {
                level = 0; // the deepest
            }
            if (level < LEVELS) {
                try {
                    scene.call(level);
                } catch (StackOverflowError e) {
                    // The next level has more stack.
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
            return level + 1;
        }

        private static String tell(SceneMaker maker) throws Exception {
            String broken = null;
            for (int i = 0; i < THREADS && broken == null; i++) {
                if (i == 0) { // so that all classes are there
                    Scene first = maker.make();
                    first.call(0);
                    first.check();
                }
                Scene scene = maker.make();
                Thread t = new Thread(null, () -> callAtEachLevel(scene), "deep", STACK);
                t.setDaemon(true);
                t.start();
                t.join(LifeFixtures.LOST_SECONDS * 1000);
                broken = t.isAlive() ? "a call hangs" : scene.check();
            }
            return broken;
        }

        public static void main(String[] args) {
            Thread.setDefaultUncaughtExceptionHandler((t, e) -> { });
            for (int i = 0; i < 20_000; i++) {
                Inside.checkStack();
            }
            for (Operation operation : Operation.values()) {
                print(operation.name(), () -> new UnderLock(operation));
            }
            print("CANCEL", () -> new TaskScenes.Cancel(false));
            print("CANCEL_AND_SWEEP", () -> new TaskScenes.Cancel(true));
            print("END", TaskScenes.End::new);
            print("SHUTDOWN", () -> new TaskScenes.Shutdown(false));
            print("SHUTDOWN_NOW", () -> new TaskScenes.Shutdown(true));
            print("RUN_RETURNED", TaskScenes.RunReturned::new);
            print("REFUSE", TaskScenes.Refuse::new);
            print("LOG", Log::new);
            print("GROWTH", Growth::new);
            System.exit(0);
        }

        private static void print(String name, SceneMaker maker) {
            try {
                String broken = tell(maker);
                if (broken != null) {
                    System.out.println(name + ": " + broken);
                }
            } catch (Throwable e) {
                System.out.println(name + ": " + e);
                e.printStackTrace(System.out);
            }
        }
    }

    /** Only what makes sure of stack is compiled, so that it takes the least itself; and as ever. */
    @ParameterizedTest
    @ValueSource(strings = {"-XX:CompileCommand=compileonly,io.pendula.internal.queue.HoldLock::descend", "-XX:+UseSerialGC"})
    void call_withoutStack_harmsNoOther(String option) throws Exception {
        assertEquals("", LifeFixtures.runInChild(Deep.class, List.of("-XX:CompileCommand=quiet", option)));
    }
}
