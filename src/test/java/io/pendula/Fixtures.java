package io.pendula;

import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideCompactor;
import io.pendula.internal.queue.InsideHeap;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.LimitedAdder;
import io.pendula.internal.queue.LimitedHeap;
import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** What several unit tests share. */
public final class Fixtures {
    /** The name of a system property. */
    static final String PATIENCE = "pendula.patience";
    /** Long enough for the slowest machine; only a broken build ever waits for so long. */
    static final long PATIENCE_SECONDS = Long.getLong(PATIENCE, 30);

    private Fixtures() {}

    /** What a timer or ticker is to its queue. */
    static QueuedNode node(Object handle) {
        return (QueuedNode) handle;
    }

    /** Stands in for a worker: it sleeps when the test says so, and counts who wakes it. */
    static class CountingOwner implements QueueOwner {
        int wakes;

        @Override
        public void call() {
            wakes++;
        }
    }

    /** A timer in which the test steps in between a look at the word, or a change of it, and what follows. */
    static final class SteppedTimer extends TimerNode {
        private int looks;
        private Runnable step;
        private Runnable atEach = () -> {};
        private long disarmedUnder;

        SteppedTimer(TimerQueue queue) {
            super(() -> {});
        }

        /** Runs {@code step} once, after so many looks more. */
        void stepInAfter(int looks, Runnable step) {
            this.looks = looks;
            this.step = step;
        }

        /** Runs {@code step} after each look, and before and after each change, also of those that it makes itself. */
        void stepInAtEach(Runnable step) {
            atEach = step;
        }

        /** Whether the test has stepped in. */
        boolean isPassed() {
            return step == null;
        }

        @Override
        public long wordVolatile() {
            long w = super.wordVolatile();
            if (step != null && --looks == 0) {
                Runnable now = step;
                step = null;
                now.run();
            }
            atEach.run();
            return w;
        }

        @Override
        public boolean casWord(long expected, long value) {
            atEach.run();
            boolean done = super.casWord(expected, value);
            if (done) {
                if (TimerNode.isArmed(TimerNode.state(expected)) && !TimerNode.isArmed(TimerNode.state(value))) {
                    disarmedUnder = TimerNode.deadline(expected);
                }
                atEach.run();
            }
            return done;
        }

        /** The deadline of the arming that was last taken away. */
        long disarmedUnder() {
            return disarmedUnder;
        }
    }

    /** A claimed firing of a queue that has no worker. */
    static final class Claim extends Firing {
        @Override
        public Thread runner() {
            return Thread.currentThread();
        }
    }

    /** Records what callbacks threw. */
    static final class ThrownListener implements TimerListener {
        final List<Throwable> thrown = new CopyOnWriteArrayList<>();

        @Override
        public void threw(TimerHandle timer, long latenessNanos, Throwable e) {
            thrown.add(e);
        }
    }

    /** A queue on its own, driven by the test. */
    static final class Rig {
        final CountingOwner owner = new CountingOwner();
        final LimitedHeap heap = new LimitedHeap();
        final LimitedAdder resets = new LimitedAdder();
        /** Only of what the queue itself asks the time for: attempts to get memory. */
        final ManualClock clock = new ManualClock();
        /** Called before each reading of the clock. */
        Runnable onReading = () -> {};
        final TimerQueue queue;

        Rig(boolean keepOrder, PendingLimit limit) {
            queue = Inside.newQueue(new Timeline(this::reading), heap, limit, keepOrder, resets);
            keepWith(owner);
        }

        Rig(boolean keepOrder) {
            this(keepOrder, null);
        }

        private long reading() {
            onReading.run();
            return clock.nanoTime();
        }

        void keepWith(QueueOwner next) {
            Inside.lock(queue).lock();
            try {
                Inside.transfer(queue, next);
            } finally {
                Inside.lock(queue).unlock();
            }
        }

        /** How many entries there are, live and stale. */
        int entries() {
            return InsideHeap.entries(queue);
        }

        /** There is memory again, and time to try. */
        void giveMemory() {
            heap.exhausted = false;
            clock.advance(Duration.ofMinutes(1));
        }

        OneShotTimer arm(long when, Runnable task) {
            OneShotTimer t = new OneShotTimer(queue, task);
            queue.arm(t, when);
            return t;
        }

        OneShotTimer arm(long when) {
            return arm(when, () -> {});
        }

        void drain() {
            Inside.lock(queue).lock();
            try {
                InsideInbox.drain(queue);
            } finally {
                Inside.lock(queue).unlock();
            }
        }

        /** Puts the owner to sleep, however many rounds that takes. */
        long sleep(long now) {
            for (int rounds = 0; ; rounds++) {
                assertTrue(rounds < 1_000_000, "it never sleeps");
                long until = Inside.prepareToSleep(queue, now);
                boolean sweep = until != DueTimers.RETRY && queue.compactor.wantsSweep();
                if (until != DueTimers.RETRY && !sweep) {
                    return until;
                }
                while (sweep && queue.gate.lookAt() != WakeGate.AWAKE) {
                    sweep = queue.compactor.sweepStep();
                }
            }
        }

        /** Each stale entry that no thread is about to count goes. */
        void sweepAll() {
            InsideCompactor.startFullSweep(queue);
            for (int chunks = 2 * (entries() / Compactor.SWEEP_CHUNK + 2); InsideCompactor.isSweepUnderWay(queue); chunks--) {
                assertTrue(chunks > 0, "it sweeps for ever");
                queue.compactor.sweepStep();
            }
        }

        boolean isAsleep() {
            return queue.gate.lookAt() != WakeGate.AWAKE;
        }

        /** The earliest due firing, or null; as a helper takes it, so a sleeping owner sleeps on. */
        Claim claim(long now) {
            Claim run = new Claim();
            Inside.lock(queue).lock();
            try {
                if (InsideInbox.hasMail(queue)) {
                    InsideInbox.drain(queue);
                }
                return queue.due.helpOne(run, now) == DueTimers.CLAIMED ? run : null;
            } finally {
                Inside.lock(queue).unlock();
            }
        }

        /** Runs what is due, to the end; returns how many firings there were. */
        int fire(long now) {
            int n = 0;
            for (Claim run; (run = claim(now)) != null; n++) {
                TimerNode t = run.node();
                try {
                    t.fire(run.task, run.deadline);
                } catch (Throwable e) {
                    throw new AssertionError(e);
                }
                if (!t.isReceiver(run.task)) {
                    queue.endRun(t);
                }
            }
            return n;
        }

        int dead() {
            return InsideCompactor.stale(queue);
        }

        int state(TimerNode t) {
            return TimerNode.state(t.wordVolatile());
        }

        long deadline(TimerNode t) {
            return TimerNode.deadline(t.wordVolatile());
        }
    }

    static void await(CountDownLatch latch) throws InterruptedException {
        assertTrue(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS), "nothing happened for a long time");
    }

    public static void join(Thread t) throws InterruptedException {
        t.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
        assertTrue(!t.isAlive(), t + " did not end");
    }

    static void awaitTrue(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, "it did not come true for a long time");
            Thread.onSpinWait();
        }
    }

    /** Returns when the thread waits for something. */
    public static void awaitWaiting(Thread t) {
        awaitTrue(() -> isWaiting(t));
    }

    static boolean isWaiting(Thread t) {
        return t.getState() == Thread.State.WAITING || t.getState() == Thread.State.TIMED_WAITING;
    }

    /** Fails unless the collector finds the referent unreachable. */
    static void awaitCollected(Reference<?> ref) throws InterruptedException {
        for (int i = 0; i < 100 && !ref.refersTo(null); i++) {
            System.gc();
            TimeUnit.MILLISECONDS.sleep(1L << Math.min(i, 6));
        }
        assertTrue(ref.refersTo(null), "it is still reachable");
    }
}
