package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.pendula.internal.engine.Receiver;
import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZI_Result;
import org.openjdk.jcstress.infra.results.ZZZ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The tick that a repeating alarm keeps, and its receivers. */
public class ReceiverRaces {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

    private static boolean awaitTick(Receiver.Ticks ticks) {
        try {
            return ticks.await(ticks::take, PATIENCE);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts a state", e);
        }
    }

    /** Again and again, until the tick before has been taken. */
    private static void tickUntilKept(Receiver.Ticks ticks, long deadline) {
        for (long before = ticks.dropped.get(); ; before = ticks.dropped.get()) {
            ticks.tick(deadline);
            if (ticks.dropped.get() == before) {
                return;
            }
        }
    }

    /** Each of two ticks is received, kept or dropped and counted. */
    @JCStressTest @State
    @Outcome(id = "true, true, 0", expect = ACCEPTABLE, desc = "Received between them; the second is kept.")
    @Outcome(id = "true, false, 1", expect = ACCEPTABLE, desc = "Received after both.")
    @Outcome(id = "false, true, 1", expect = ACCEPTABLE, desc = "Too early for both.")
    public static class TicksVsTake {
        private final Receiver.Ticks ticks = new Receiver.Ticks();
        @Actor public void tick() { ticks.tick(10); ticks.tick(20); }
        @Actor public void take(ZZI_Result r) { r.r1 = ticks.take(); }
        @Arbiter public void settle(ZZI_Result r) { r.r2 = ticks.take(); r.r3 = (int) ticks.dropped.get(); }
    }

    /** Of a tick that is discarded while it comes nothing is left to receive after the discard, and it is counted. */
    @JCStressTest @State
    @Outcome(id = "false, false, 1", expect = ACCEPTABLE, desc = "Discarded, or refused.")
    public static class TickVsDiscardThenTake {
        private final Receiver.Ticks ticks = new Receiver.Ticks();
        @Actor public void tick() { ticks.tick(10); }
        @Actor public void discardThenTake(ZZI_Result r) { ticks.discardBefore(11); r.r1 = ticks.take(); }
        @Arbiter public void settle(ZZI_Result r) { r.r2 = ticks.take(); r.r3 = (int) ticks.dropped.get(); }
    }

    /** The same for a receiver that comes before the discard. */
    @JCStressTest @State
    @Outcome(id = {"true, false", "false, false"}, expect = ACCEPTABLE, desc = "Received before, or not at all.")
    public static class TickVsTakeThenDiscard {
        private final Receiver.Ticks ticks = new Receiver.Ticks();
        @Actor public void tick() { ticks.tick(10); }
        @Actor public void takeThenDiscard(ZZ_Result r) { r.r1 = ticks.take(); ticks.discardBefore(11); }
        @Arbiter public void settle(ZZ_Result r) { r.r2 = ticks.take(); }
    }

    /** The same for a receiver that has seen the tick come. */
    @JCStressTest @State
    @Outcome(id = {"true, false", "false, false"}, expect = ACCEPTABLE, desc = "Received before, or not at all.")
    public static class DiscardVsTickThenTake {
        private final Receiver.Ticks ticks = new Receiver.Ticks();
        @Actor public void tickThenTake(ZZ_Result r) { ticks.tick(10); r.r1 = ticks.take(); }
        @Actor public void discard() { ticks.discardBefore(11); }
        @Arbiter public void settle(ZZ_Result r) { r.r2 = ticks.take(); }
    }

    /** The same for a receiver that meets both. */
    @JCStressTest @State
    @Outcome(id = {"true, false", "false, false"}, expect = ACCEPTABLE, desc = "Received before, or not at all.")
    public static class TakeVsTickThenDiscard {
        private final Receiver.Ticks ticks = new Receiver.Ticks();
        @Actor public void tickThenDiscard() { ticks.tick(10); ticks.discardBefore(11); }
        @Actor public void take(ZZ_Result r) { r.r1 = ticks.take(); }
        @Arbiter public void settle(ZZ_Result r) { r.r2 = ticks.take(); }
    }

    /** A thread that waits twice gets two ticks: no wake-up is lost. */
    @JCStressTest @State
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "Both.")
    public static class TwoTicksVsTwoWaits {
        private final Receiver.Ticks ticks = new Receiver.Ticks();
        @Actor public void tick() { tickUntilKept(ticks, 1); tickUntilKept(ticks, 2); }
        @Actor public void receive(ZZ_Result r) { r.r1 = awaitTick(ticks); r.r2 = awaitTick(ticks); }
    }

    /** A thread that was woken for a tick which another has taken is woken for the next one. */
    @JCStressTest @State
    @Outcome(id = {"true, true, false", "true, false, true"}, expect = ACCEPTABLE, desc = "One each, or one is kept.")
    public static class ReceiveVsTickThenTakeThenTick {
        private final Receiver.Ticks ticks = new Receiver.Ticks();
        @Actor public void receive(ZZZ_Result r) { r.r1 = awaitTick(ticks); }
        @Actor public void tickThenTakeThenTick(ZZZ_Result r) {
            tickUntilKept(ticks, 1);
            r.r2 = ticks.take();
            tickUntilKept(ticks, 2);
        }
        @Arbiter public void settle(ZZZ_Result r) { r.r3 = ticks.take(); }
    }
}
