package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.pendula.internal.queue.Inside;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZL_Result;

/** Memory is short: a filed timer is parked to make room for another, while its user stops or resets it. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class ShortageRaces {
    /** A queue whose heap could not grow. */
    abstract static class Short extends Rig {
        final void park() {
            Inside.park(queue);
        }
    }

    /** A stop prevents the firing, whether the timer has an entry or is parked. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Stopped.")
    public static class ParkVsStop extends Short {
        public ParkVsStop() { file(timer, DUE); }
        @Actor public void stop(ZL_Result r) { r.r1 = queue.stop(timer); }
        @Actor public void makeRoom() { park(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(1, 1, 0); }
    }

    /** A timer that is brought forward fires once: pushed with its entry stale, or changed in place while parked. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Brought forward.")
    public static class ParkVsResetEarlier extends Short {
        public ParkVsResetEarlier() { file(timer, DUE); }
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void makeRoom() { park(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 0, 1); }
    }

    /** The same for one that has left an entry behind before. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Brought forward once more.")
    public static class ParkVsResetEarlierAgain extends Short {
        public ParkVsResetEarlierAgain() { file(timer, LATE); queue.reset(timer, DUE); drainInbox(); }
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, EARLY); }
        @Actor public void makeRoom() { park(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(3, 0, 2); }
    }

    /** A put-off timer keeps its deadline. */
    @JCStressTest @State
    @Outcome(id = "true, ok", expect = ACCEPTABLE, desc = "Put off.")
    public static class ParkVsResetLater extends Short {
        public ParkVsResetLater() { file(timer, DUE); }
        @Actor public void reset(ZL_Result r) { r.r1 = queue.reset(timer, LATE); }
        @Actor public void makeRoom() { park(); }
        @Arbiter public void settle(ZL_Result r) { r.r2 = audit(2, 0, 1); }
    }
}
