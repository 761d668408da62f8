package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIL_Result;

/** A firing on its way to the executor against a close: the callback runs, or the timer is returned. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class HandOverRaces {

    /** A scheduler that hands its only timer to an executor, under a manual clock. */
    static class Handing {
        final ManualClock clock = new ManualClock();
        final TimerScheduler scheduler;
        private int runs;

        Handing(Executor executor) {
            this.scheduler = TimerScheduler.builder().clock(clock).executor(executor).build();
            scheduler.after(Duration.ofSeconds(1), () -> runs++);
        }

        final int close() {
            int returned = scheduler.shutdownNow().size();
            scheduler.close();
            return returned;
        }

        /** By the only thread that is left. */
        final void settle(IIL_Result r) {
            TimerStats stats = scheduler.stats();
            r.r1 = runs;
            r.r3 = stats.fired() + " fired, " + stats.unfired() + " unfired, " + stats.running() + " running";
        }
    }

    /** The close meets a timer that waits, that is just being handed over, or that has run. */
    @JCStressTest @State
    @Outcome(id = "1, 0, 1 fired, 0 unfired, 0 running", expect = ACCEPTABLE, desc = "Ran.")
    @Outcome(id = "0, 1, 0 fired, 1 unfired, 0 running", expect = ACCEPTABLE, desc = "Returned.")
    public static class HandOverVsClose extends Handing {
        public HandOverVsClose() { super(Runnable::run); }
        @Actor public void advance() { clock.advance(Duration.ofSeconds(1)); }
        @Actor public void close(IIL_Result r) { r.r2 = close(); }
        @Arbiter public void arbiter(IIL_Result r) { settle(r); }
    }

    /** The executor begins what it has while the scheduler is closed. */
    @JCStressTest @State
    @Outcome(id = "1, 0, 1 fired, 0 unfired, 0 running", expect = ACCEPTABLE, desc = "Ran.")
    @Outcome(id = "0, 1, 0 fired, 1 unfired, 0 running", expect = ACCEPTABLE, desc = "Taken back.")
    public static class BeginVsClose extends Handing {
        private final Queue<Runnable> handed;
        public BeginVsClose() { this(new ArrayDeque<>()); }

        private BeginVsClose(Queue<Runnable> handed) {
            super(handed::add);
            this.handed = handed;
            clock.advance(Duration.ofSeconds(1));
        }

        @Actor public void begin() { handed.remove().run(); }
        @Actor public void close(IIL_Result r) { r.r2 = close(); }
        @Arbiter public void arbiter(IIL_Result r) { settle(r); }
    }
}
