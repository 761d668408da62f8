package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.pendula.internal.workers.Seat;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;

/** The thread of a worker ends because it had nothing to do, while others wake the worker. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class SeatRaces {
    private static final TimerScheduler SCHEDULER = TimerScheduler.builder().clock(new ManualClock()).build();
    /** Sits there at first, in the place of the thread that ends. */
    private static final Thread OLD = new Thread(SeatRaces::stay, "old");

    static {
        OLD.setDaemon(true);
        OLD.start();
    }

    private static void stay() {
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.park();
        }
    }

    /** One seat, and who goes on there. */
    abstract static class Leaving implements Seat.Sitter {
        private final AtomicInteger started = new AtomicInteger();
        private final Seat seat = new Seat(SCHEDULER.engine.workerPool, this, "seat");
        private volatile boolean called;

        Leaving() {
            seat.take(OLD);
        }

        @Override
        public void run() {
            if (seat.isMine()) { // as Worker.run
                started.incrementAndGet();
            }
        }

        @Override
        public void couldNotStart() {
            throw new AssertionError("a thread could not be started");
        }

        /** True if the old thread goes on. */
        final boolean leave() {
            return !seat.leave(() -> called);
        }

        final void wake() {
            called = true;
            seat.wake();
        }

        /** How many new threads go on. */
        final int started() {
            Thread t = seat.thread();
            try {
                if (t != null && t.getName().endsWith("-seat")) {
                    t.join();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts a state", e);
            }
            return started.get();
        }
    }

    /** Exactly one thread serves after a wake: the old one or a new one. */
    @JCStressTest @State
    @Outcome(id = "true, 0", expect = ACCEPTABLE, desc = "The old thread goes on.")
    @Outcome(id = "false, 1", expect = ACCEPTABLE, desc = "The waker has started a new one.")
    public static class WakeVsLeave extends Leaving {
        @Actor public void old(ZI_Result r) { r.r1 = leave(); }
        @Actor public void waker() { wake(); }
        @Arbiter public void arbiter(ZI_Result r) { r.r2 = started(); }
    }

    /** Two wakers find the same empty seat, or the same thread that is not started yet. */
    @JCStressTest @State
    @Outcome(id = "false, 1", expect = ACCEPTABLE, desc = "One of them has started one thread.")
    public static class WakeVsWake extends Leaving {
        private final boolean stays = leave(); // not woken yet

        @Actor public void first() { wake(); }
        @Actor public void second() { wake(); }
        @Arbiter public void arbiter(ZI_Result r) { r.r1 = stays; r.r2 = started(); }
    }
}
