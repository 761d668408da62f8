package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.pendula.internal.queue.TimerNode;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZL_Result;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** First tick and period of a ticker, which change together. The clock stands still at 1. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class TickerRaces {

    /** A queue with a ticker whose first tick is due at DUE. */
    abstract static class TickerRig extends Rig {
        final PeriodicTimer ticker = new PeriodicTimer(queue, this::fired, DUE - 1, MissedTicks.BURST);

        TickerRig() {
            file(ticker, DUE);
        }

        final boolean reset(long period) {
            return ticker.reset(Duration.ofNanos(period));
        }

        /** When the next tick is due, and how long after it the one that follows. */
        final String nextTick() {
            if (!worker.claim(queue, END)) {
                return "none";
            }
            long next = TimerNode.deadline(ticker.wordVolatile());
            return worker.deadline + "+" + (next - worker.deadline);
        }
    }

    /** Of two resets of a ticker one comes last, with its first tick and its period. */
    @JCStressTest @State
    @Outcome(id = "true, true, 10\\+9", expect = ACCEPTABLE, desc = "The first came last.")
    @Outcome(id = "true, true, 30\\+29", expect = ACCEPTABLE, desc = "The second came last.")
    public static class ResetVsReset extends TickerRig {
        @Actor public void resetToShort(ZZL_Result r) { r.r1 = reset(9); }
        @Actor public void resetToLong(ZZL_Result r) { r.r2 = reset(29); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = nextTick(); }
    }

    /** The same for a ticker that was stopped: one of them arms it. */
    @JCStressTest @State
    @Outcome(id = {"false, true, 10\\+9", "true, false, 10\\+9"}, expect = ACCEPTABLE, desc = "The first came last.")
    @Outcome(id = {"false, true, 30\\+29", "true, false, 30\\+29"}, expect = ACCEPTABLE, desc = "The second came last.")
    public static class ResetVsResetOfStopped extends TickerRig {
        public ResetVsResetOfStopped() { queue.stop(ticker); }
        @Actor public void resetToShort(ZZL_Result r) { r.r1 = reset(9); }
        @Actor public void resetToLong(ZZL_Result r) { r.r2 = reset(29); }
        @Arbiter public void settle(ZZL_Result r) { r.r3 = nextTick(); }
    }

    /** A reset while a tick is claimed replaces the tick, or the one that follows it. */
    @JCStressTest @State
    @Outcome(id = "true, 30\\+29", expect = ACCEPTABLE, desc = "The tick before has run, or not.")
    public static class ResetVsTick extends TickerRig {
        @Actor public void reset(ZL_Result r) { r.r1 = reset(29); }
        @Actor public void tick() { worker.runDue(queue, DUE); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = nextTick(); }
    }

    /** The same if the reset brings the ticker forward, so that the new ticks may run at once. */
    @JCStressTest @State
    @Outcome(id = {"true, 10\\+9", "true, 28\\+9"}, expect = ACCEPTABLE, desc = "None or two of its ticks have run.")
    public static class ResetEarlierVsTick extends TickerRig {
        @Actor public void reset(ZL_Result r) { r.r1 = reset(9); }
        @Actor public void tick() { worker.runDue(queue, DUE); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = nextTick(); }
    }

    /** A ticker that is closed while it is reset ticks no more. */
    @JCStressTest @State
    @Outcome(id = {"true, none", "false, none"}, expect = ACCEPTABLE, desc = "Reset before it was closed, or refused.")
    public static class ResetVsClose extends TickerRig {
        @Actor public void reset(ZL_Result r) { r.r1 = "replaced".equals(tryReset()); }

        private String tryReset() {
            try {
                return reset(9) ? "replaced" : "armed";
            } catch (IllegalStateException e) {
                return "refused";
            }
        }

        @Actor public void close() { ticker.close(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = nextTick(); }
    }
}
