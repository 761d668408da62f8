package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZI_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The tick that a ticker without a task keeps, and its receivers. */
public class SignalRaces {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

    /** Each of two ticks is received, kept or dropped and counted. */
    @JCStressTest
    @Outcome(id = "true, true, 0", expect = ACCEPTABLE, desc = "Received between them; the second is kept.")
    @Outcome(id = "true, false, 1", expect = ACCEPTABLE, desc = "Received after both.")
    @Outcome(id = "false, true, 1", expect = ACCEPTABLE, desc = "Too early for both.")
    @State
    public static class TicksVsTake {
        private final Signal.Ticks ticks = new Signal.Ticks();

        @Actor
        public void tick() {
            ticks.tick(10);
            ticks.tick(20);
        }

        @Actor
        public void take(ZZI_Result r) {
            r.r1 = ticks.take();
        }

        @Arbiter
        public void settle(ZZI_Result r) {
            r.r2 = ticks.take();
            r.r3 = (int) ticks.dropped();
        }
    }

    /** Of a tick that is discarded while it comes nothing is left. */
    @JCStressTest
    @Outcome(id = {"true, false", "false, false"}, expect = ACCEPTABLE, desc = "Received before, or not at all.")
    @State
    public static class TickVsDiscardVsTake {
        private final Signal.Ticks ticks = new Signal.Ticks();

        @Actor
        public void tick() {
            ticks.tick(10);
        }

        @Actor
        public void discard() {
            ticks.discardBefore(11);
        }

        @Actor
        public void take(ZZ_Result r) {
            r.r1 = ticks.take();
        }

        @Arbiter
        public void settle(ZZ_Result r) {
            r.r2 = ticks.take();
        }
    }

    /** Two threads that wait get one tick each: no wake-up is lost. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "One each.")
    @State
    public static class TwoTicksVsTwoReceivers {
        private final Signal.Ticks ticks = new Signal.Ticks();

        private boolean await() {
            try {
                return ticks.await(ticks::take, PATIENCE);
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts a state", e);
            }
        }

        @Actor
        public void tick() {
            for (long when = 1; when <= 2; ) {
                long before = ticks.dropped();
                ticks.tick(when);
                if (ticks.dropped() == before) {
                    when++; // it was kept
                }
            }
        }

        @Actor
        public void receive(ZZ_Result r) {
            r.r1 = await();
        }

        @Actor
        public void receiveToo(ZZ_Result r) {
            r.r2 = await();
        }
    }
}
