package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.pendula.internal.loops.LoopWorker;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.WakeGate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.LI_Result;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * Loops that poll, wait and go, against threads that arm, or close their scheduler. There are no workers; actors make the
 * loops' steps, and the clock stands still. WakeSearchTest has the whole of the waiting.
 */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class LoopRaces {
    static final long NOW = 10_000_001;
    static final long DUE = 1;
    static final long EARLY = NOW + 100;
    private static final long BETWEEN = NOW + 200;
    static final long LATE = NOW + 300;

    /** A loop whose thread has ended is closed. */
    static final Thread A = living();

    /** Made before, as that takes longer than what it races with. */
    private static final IllegalStateException AS_PLANNED = new IllegalStateException("as planned");

    private static Thread living() {
        Thread t = new Thread(() -> {
            for (;;) {
                LockSupport.park();
            }
        });
        t.setDaemon(true);
        t.start();
        return t;
    }

    /** A scheduler with one loop, whose hook throws so many times. */
    abstract static class Looped implements TimerListener {
        private long time;
        final TimerScheduler scheduler =
                TimerScheduler.builder().workers(0).clock(() -> time).listener(this).build();
        final AtomicInteger rings = new AtomicInteger();
        final AtomicInteger runs = new AtomicInteger();
        private final AtomicInteger throwing;
        final LoopWorker loop;
        final OneShotTimer timer;
        final OneShotTimer other;
        final OneShotTimer probe;

        Looped() {
            this(0);
        }

        Looped(int throwing) {
            this.throwing = new AtomicInteger(throwing);
            time = NOW - 1;
            loop = attach(A);
            timer = new OneShotTimer(loop.queue, this::run);
            other = new OneShotTimer(loop.queue, this::run);
            probe = new OneShotTimer(loop.queue, this::run);
        }

        final LoopWorker attach(Thread t) {
            return scheduler.engine.attach(t, this::ring, TimerLoop::new);
        }

        final List<TimerNode> detach(LoopWorker l) {
            List<TimerNode> returned = new ArrayList<>();
            scheduler.engine.loops.detach(l, returned::addAll);
            return returned;
        }

        private void ring() {
            if (throwing.get() > 0 && throwing.getAndDecrement() > 0) {
                throw AS_PLANNED;
            }
            rings.incrementAndGet();
        }

        void run() {
            runs.incrementAndGet();
        }

        @Override
        public final void wakeupThrew(TimerLoop l, Throwable thrown) {
            // As planned.
        }

        static String tryArm(OneShotTimer t, long when) {
            try {
                t.queue.arm(t, when);
                return "armed";
            } catch (RejectedExecutionException e) {
                return "refused";
            }
        }

        static String tryReset(OneShotTimer t, long when) {
            try {
                return t.queue.reset(t, when) ? "replaced" : "armed";
            } catch (RejectedExecutionException e) {
                return "refused";
            }
        }

        /** The next call of the hook does not throw. */
        final void armProbe(long when) {
            throwing.set(0);
            probe.queue.arm(probe, when);
        }

        /** What a loop does about a timer that is due at {@code when}, having said that it waits for {@code nanos}. */
        final String waits(long nanos, long when) {
            boolean rung = timer.queue.gate.lookAt() == WakeGate.AWAKE && rings.get() > 0;
            return nanos == 0 ? "polls" : nanos <= when - NOW ? "in time" : rung ? "rung" : "not woken";
        }
    }

    /** Who arms is seen by the loop, or calls the hook. */
    @JCStressTest @State
    @Outcome(id = "in time, [01]", expect = ACCEPTABLE, desc = "The loop saw it, perhaps at its second attempt.")
    @Outcome(id = "rung, 1", expect = ACCEPTABLE, desc = "It waits, and was called.")
    public static class ArmVsWait extends Looped {
        public ArmVsWait() { loop.queue.arm(other, LATE); }
        @Actor public void arm() { timer.queue.arm(timer, EARLY); }
        @Actor public void sleep(LI_Result r) { r.r1 = loop.nanosUntilNext(); }
        @Arbiter public void settle(LI_Result r) { r.r1 = waits((long) r.r1, EARLY); r.r2 = rings.get(); }
    }

    /** What arrives while a helper empties the inbox is not forgotten. */
    @JCStressTest @State
    @Outcome(id = "in time", expect = ACCEPTABLE, desc = "Filed, or noted.")
    public static class ArmVsHelp extends Looped {
        public ArmVsHelp() { loop.queue.arm(other, LATE); }
        @Actor public void arm() { timer.queue.arm(timer, EARLY); }
        @Actor public void help() { scheduler.pending(); }
        @Arbiter public void settle(L_Result r) { r.r1 = waits(loop.nanosUntilNext(), EARLY); }
    }

    /** A timer that is stopped in the inbox while whoever arms sorts what is there is gone, and can be armed again. */
    @JCStressTest @State
    @Outcome(id = "1, 1, 2", expect = ACCEPTABLE, desc = "Stopped; the other one is left; both are armed.")
    public static class StopVsFileOlder extends Looped {
        public StopVsFileOlder() { timer.queue.arm(timer, LATE); Inside.makeDeep(loop.queue); }
        @Actor public void stop(III_Result r) { r.r1 = Rig.one(timer.queue.stop(timer)); }
        @Actor public void fileOlderHalf() { other.queue.arm(other, LATE); }
        @Arbiter public void settle(III_Result r) {
            r.r2 = (int) scheduler.pending();
            timer.queue.reset(timer, EARLY);
            r.r3 = (int) scheduler.pending();
        }
    }

    /** One that is brought forward meanwhile is seen by the loop at its new deadline. */
    @JCStressTest @State
    @Outcome(id = "in time, 2", expect = ACCEPTABLE, desc = "Before or after.")
    public static class ResetVsFileOlder extends Looped {
        public ResetVsFileOlder() { timer.queue.arm(timer, LATE); Inside.makeDeep(loop.queue); }
        @Actor public void reset() { timer.queue.reset(timer, EARLY); }
        @Actor public void fileOlderHalf() { other.queue.arm(other, LATE); }
        @Arbiter public void settle(LI_Result r) {
            r.r1 = waits(loop.nanosUntilNext(), EARLY);
            r.r2 = (int) scheduler.pending();
        }
    }

    /** A timer in the inbox that is brought forward is seen by the loop, or calls the hook. */
    @JCStressTest @State
    @Outcome(id = "in time, [01]", expect = ACCEPTABLE, desc = "The loop saw it, perhaps at its second attempt.")
    @Outcome(id = "rung, 1", expect = ACCEPTABLE, desc = "It waits, and was called.")
    public static class ResetOfQueuedVsWait extends Looped {
        public ResetOfQueuedVsWait() { timer.queue.arm(timer, LATE); }
        @Actor public void reset() { timer.queue.reset(timer, EARLY); }
        @Actor public void sleep(LI_Result r) { r.r1 = loop.nanosUntilNext(); }
        @Arbiter public void settle(LI_Result r) { r.r1 = waits((long) r.r1, EARLY); r.r2 = rings.get(); }
    }

    /** So it is if the loop returns from its wait and waits again. */
    @JCStressTest @State
    @Outcome(id = "in time, [01]", expect = ACCEPTABLE, desc = "The loop saw it; it may have been called before.")
    @Outcome(id = "rung, 1", expect = ACCEPTABLE, desc = "It waits, and was called.")
    public static class ArmVsPollAndWait extends Looped {
        public ArmVsPollAndWait() { loop.queue.arm(other, LATE); loop.nanosUntilNext(); }
        @Actor public void arm() { timer.queue.arm(timer, EARLY); }
        @Actor public void sleep(LI_Result r) { loop.runDue(Integer.MAX_VALUE); r.r1 = loop.nanosUntilNext(); }
        @Arbiter public void settle(LI_Result r) { r.r1 = waits((long) r.r1, EARLY); r.r2 = rings.get(); }
    }

    /** After a hook has thrown, the next one who arms an earlier timer than the loop waits for calls it. */
    @JCStressTest @State
    @Outcome(id = "in time", expect = ACCEPTABLE, desc = "The loop saw the timer.")
    @Outcome(id = "rung", expect = ACCEPTABLE, desc = "By the next one.")
    public static class ThrowVsWait extends Looped {
        public ThrowVsWait() { super(1); }
        @Actor public void arm() { timer.queue.arm(timer, BETWEEN); }
        @Actor public void sleep(L_Result r) { r.r1 = loop.nanosUntilNext(); }
        @Arbiter public void settle(L_Result r) { armProbe(EARLY); r.r1 = waits((long) r.r1, BETWEEN); }
    }

    /** The same if the loop has waited before, for a timer that was stopped, and goes to wait for longer at once. */
    @JCStressTest @State
    @Outcome(id = "in time", expect = ACCEPTABLE, desc = "The loop saw the timer.")
    @Outcome(id = "rung", expect = ACCEPTABLE, desc = "By the next one.")
    public static class ThrowVsLongerWait extends Looped {
        public ThrowVsLongerWait() {
            super(1);
            loop.queue.arm(other, EARLY);
            loop.nanosUntilNext();
            loop.queue.view().pending(); // files it
            loop.queue.stop(other);
        }

        @Actor public void arm() { timer.queue.arm(timer, LATE); }
        @Actor public void sleep(L_Result r) { r.r1 = loop.nanosUntilNext(); }
        @Arbiter public void settle(L_Result r) { armProbe(BETWEEN); r.r1 = waits((long) r.r1, BETWEEN); }
    }

    /** A timer that is armed while its loop goes is returned, or refused. */
    @JCStressTest @State
    @Outcome(id = "armed, 1", expect = ACCEPTABLE, desc = "Returned.")
    @Outcome(id = "refused, 0", expect = ACCEPTABLE, desc = "The loop was gone.")
    public static class DetachVsArm extends Looped {
        @Actor public void arm(LI_Result r) { r.r1 = tryArm(timer, DUE); }
        @Actor public void detach(LI_Result r) { r.r2 = detach(loop).size(); }
    }

    /** A timer that is put off while its loop goes is returned, whether the reset came in time or not. */
    @JCStressTest @State
    @Outcome(id = "replaced, 1", expect = ACCEPTABLE, desc = "Put off, then returned.")
    @Outcome(id = "refused, 1", expect = ACCEPTABLE, desc = "Returned before the reset.")
    @Outcome(id = "refused, 0", expect = ACCEPTABLE, desc = "Taken back by the reset, as it could not be pushed.")
    public static class DetachVsReset extends Looped {
        public DetachVsReset() {
            timer.queue.arm(timer, LATE);
            scheduler.pending(); // files it
        }

        @Actor public void reset(LI_Result r) { r.r1 = tryReset(timer, EARLY); }
        @Actor public void detach(LI_Result r) { r.r2 = detach(loop).size(); }
    }

    /** A waiting timer is stopped, or returned. */
    @JCStressTest @State
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Stopped.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Returned.")
    public static class DetachVsStop extends Looped {
        public DetachVsStop() { timer.queue.arm(timer, LATE); }
        @Actor public void stop(II_Result r) { r.r1 = Rig.one(timer.queue.stop(timer)); }
        @Actor public void detach(II_Result r) { r.r2 = detach(loop).size(); }
    }

    /** A timer is returned by the loop that goes, or by the scheduler that closes. */
    @JCStressTest @State
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "By the loop.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "By the scheduler.")
    public static class DetachVsShutdown extends Looped {
        public DetachVsShutdown() { timer.queue.arm(timer, LATE); }
        @Actor public void detach(II_Result r) { r.r1 = detach(loop).size(); }
        @Actor public void shutdown(II_Result r) { r.r2 = scheduler.shutdownNow().size(); }
    }

    /** A scheduler that has closed has waited for the loop's run. */
    @JCStressTest @State
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The run began before the close.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "It did not begin.")
    public static class CloseVsRun extends Looped {
        private int ended;
        public CloseVsRun() { timer.queue.arm(timer, DUE); }

        @Override
        void run() {
            Rig.jitter(2_000);
            ended = 1; // plain: seen only by who has waited
        }

        @Actor public void run(II_Result r) { r.r1 = loop.runDue(Integer.MAX_VALUE); }
        @Actor public void close(II_Result r) { scheduler.close(); r.r2 = ended; }
    }

    /** The same for a loop that goes in that run. */
    @JCStressTest @State
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The run began before the close.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "It did not begin.")
    public static class CloseVsRunThatDetaches extends Looped {
        private final List<TimerNode> returned = new ArrayList<>(0);
        private int ended;
        public CloseVsRunThatDetaches() { timer.queue.arm(timer, DUE); }

        @Override
        void run() {
            returned.addAll(detach(loop));
            Rig.jitter(2_000);
            ended = 1;
        }

        @Actor public void run(II_Result r) { r.r1 = loop.runDue(Integer.MAX_VALUE); }
        @Actor public void close(II_Result r) { scheduler.close(); r.r2 = ended; }
    }
}
