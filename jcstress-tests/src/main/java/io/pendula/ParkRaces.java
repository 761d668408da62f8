package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.WakeGate;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LIL_Result;

/** An owner on its way to sleep against whatever should keep it up: no wake-up is lost, and none is given twice. */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class ParkRaces {

    /** A queue whose owner goes to sleep, with another timer that is due late. */
    abstract static class Parking extends Rig implements QueueOwner {
        final AtomicInteger wakes = new AtomicInteger();
        private long until;

        Parking() {
            this(LATE);
        }

        Parking(long otherWhen) {
            file(other, otherWhen);
            Inside.transfer(queue, this);
        }

        @Override
        public final void call() {
            wakes.incrementAndGet();
        }

        final void goToSleep() {
            until = Inside.prepareToSleep(queue, 1);
            if (queue.compactor.wantsSweep()) {
                until = DueTimers.RETRY;
            }
        }

        /** What the owner does when its sleep has ended by itself. */
        final void wakeUp() {
            Inside.wakeUp(queue);
        }

        /** How the owner's way to sleep ended for a timer that is due at {@code deadline}. */
        final String sleep(long deadline) {
            if (until == DueTimers.RETRY) {
                return "goes round";
            }
            if (until <= deadline) {
                return "in time";
            }
            return queue.gate.lookAt() == WakeGate.AWAKE ? "woken" : "sleeps too long";
        }

        /** That, the wakes that there were, and the audit. */
        final void tell(LIL_Result r, long deadline, int armed, int stopped, int reset) {
            r.r1 = sleep(deadline);
            r.r2 = wakes.get();
            r.r3 = audit(armed, stopped, reset);
        }
    }

    /** Who arms a timer is seen by the owner, or sees it and wakes it. */
    @JCStressTest @State
    @Outcome(id = "in time, 0, ok", expect = ACCEPTABLE, desc = "The owner saw the timer first.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner saw it after publishing its sleep.")
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "The owner slept, and was woken.")
    public static class ArmVsPark extends Parking {
        @Actor public void arm() { queue.arm(timer, EARLY); }
        @Actor public void park() { goToSleep(); }
        @Arbiter public void settle(LIL_Result r) { tell(r, EARLY, 2, 0, 0); }
    }

    /** So is who brings a waiting timer forward. */
    @JCStressTest @State
    @Outcome(id = "in time, 0, ok", expect = ACCEPTABLE, desc = "The owner saw the timer first.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner saw it after publishing its sleep.")
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "The owner slept, and was woken.")
    public static class ResetEarlierVsPark extends Parking {
        public ResetEarlierVsPark() { file(timer, DUE); }
        @Actor public void reset() { queue.reset(timer, EARLY); }
        @Actor public void park() { goToSleep(); }
        @Arbiter public void settle(LIL_Result r) { tell(r, EARLY, 3, 0, 1); }
    }

    /**
     * A reset that brings a timer forward in the inbox wakes the owner as a push does, though it only changes the
     * timer's word. The timer is armed beside the owner, for too late a time to wake it: a timer that was in the inbox
     * before would be drained by the owner in any case, with the earlier deadline or before the reset.
     */
    @JCStressTest @State
    @Outcome(id = "in time, 0, ok", expect = ACCEPTABLE, desc = "The owner saw the timer first.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner saw it after publishing its sleep.")
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "The owner slept, and was woken.")
    public static class ResetOfQueuedVsPark extends Parking {
        @Actor public void armAndReset() { queue.arm(timer, LATE); queue.reset(timer, EARLY); }
        @Actor public void park() { goToSleep(); }
        @Arbiter public void settle(LIL_Result r) { tell(r, EARLY, 3, 0, 1); }
    }

    /**
     * A reset of a timer that was stopped in the inbox wakes the owner, though nothing is pushed. The timer is armed
     * beside the owner for the same reason as above.
     */
    @JCStressTest @State
    @Outcome(id = "in time, 0, ok", expect = ACCEPTABLE, desc = "The owner saw the timer first.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner saw it after publishing its sleep.")
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "The owner slept, and was woken.")
    public static class ResetOfStoppedInInboxVsPark extends Parking {
        @Actor public void armStopAndReset() { queue.arm(timer, LATE); queue.stop(timer); queue.reset(timer, EARLY); }
        @Actor public void park() { goToSleep(); }
        @Arbiter public void settle(LIL_Result r) { tell(r, EARLY, 3, 1, 0); }
    }

    /** A stopped timer that comes back to life in the heap needs no wake; one whose entry the owner drops gets it. */
    @JCStressTest @State
    @Outcome(id = "in time, 0, ok", expect = ACCEPTABLE, desc = "The owner saw the timer, or its old entry.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner saw it after publishing its sleep.")
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "The owner slept, and was woken.")
    public static class ResetOfStoppedVsPark extends Parking {
        public ResetOfStoppedVsPark() { file(timer, EARLY); queue.stop(timer); }
        @Actor public void reset() { queue.reset(timer, DUE); }
        @Actor public void park() { goToSleep(); }
        @Arbiter public void settle(LIL_Result r) { tell(r, DUE, 3, 1, 0); }
    }

    /** Who puts a timer off wakes nobody, and the owner never sleeps beyond its new deadline. */
    @JCStressTest @State
    @Outcome(id = "in time, 0, ok", expect = ACCEPTABLE, desc = "Until the old deadline, or the new one.")
    public static class ResetLaterVsPark extends Parking {
        public ResetLaterVsPark() { file(timer, EARLY); }
        @Actor public void reset() { queue.reset(timer, DUE); }
        @Actor public void park() { goToSleep(); }
        @Arbiter public void settle(LIL_Result r) { tell(r, DUE, 3, 0, 1); }
    }

    /** The end of a run that a helper has taken over wakes the owner for the next one. */
    @JCStressTest @State
    @Outcome(id = "in time, 0, ok", expect = ACCEPTABLE, desc = "The owner saw the timer first.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner saw it after publishing its sleep.")
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "The owner slept, and was woken.")
    public static class EndOfRunVsPark extends Parking {
        public EndOfRunVsPark() { file(timer, EARLY); helper.claim(queue, EARLY); queue.reset(timer, EARLY); }
        @Actor public void end() { helper.finish(); }
        @Actor public void park() { goToSleep(); }
        @Arbiter public void settle(LIL_Result r) { tell(r, EARLY, 3, 0, 0); }
    }

    /** A timer that is armed while the owner wakes up by itself and lies down again is not lost in between. */
    @JCStressTest @State
    @Outcome(id = "in time, [01], ok", expect = ACCEPTABLE, desc = "The owner saw the timer when it was up.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner saw it after publishing its sleep.")
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "The owner slept again, and was woken.")
    public static class ArmVsWakeUpAndPark extends Parking {
        public ArmVsWakeUpAndPark() { goToSleep(); }
        @Actor public void arm() { queue.arm(timer, EARLY); }
        @Actor public void park() { wakeUp(); goToSleep(); }
        @Arbiter public void settle(LIL_Result r) { tell(r, EARLY, 2, 0, 0); }
    }

    /** Two who arm while the owner sleeps wake it once. */
    @JCStressTest @State
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "One of them did.")
    public static class ArmVsArmWhileAsleep extends Parking {
        private final OneShotTimer third = new OneShotTimer(queue, this::fired);
        public ArmVsArmWhileAsleep() { goToSleep(); }
        @Actor public void arm() { queue.arm(timer, EARLY); }
        @Actor public void armToo() { queue.arm(third, DUE); }
        @Arbiter public void settle(LIL_Result r) { tell(r, EARLY, 3, 0, 0); }
    }

    /** A stop that makes one entry too many dead is seen by the owner, or wakes it to sweep. */
    @JCStressTest @State
    @Outcome(id = "swept, [01], ok", expect = ACCEPTABLE, desc = "The stop swept, or the owner did.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner is up, and will sweep.")
    @Outcome(id = "to be swept, 1, ok", expect = ACCEPTABLE, desc = "The owner slept, and was woken.")
    public static class StopOverBoundVsPark extends Parking {
        public StopOverBoundVsPark() { pretendDeadEntries(); file(timer, END); }
        @Actor public void stop() { queue.stop(timer); }
        @Actor public void park() { goToSleep(); }
        @Arbiter public void settle(LIL_Result r) {
            String sleep = sleep(LATE);
            r.r1 = !"in time".equals(sleep) ? sleep : Inside.isOverBound(queue) ? "to be swept" : "swept";
            r.r2 = wakes.get();
            r.r3 = audit(2, 1, 0);
        }
    }

    /** Where nothing is ever due the owner sleeps for ever; so a stop is seen by it, or wakes it to let the timer go. */
    @JCStressTest @State
    @Outcome(id = "in time, 0, ok", expect = ACCEPTABLE, desc = "The owner saw the stale entry first.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner saw it after publishing its sleep.")
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "The owner slept, and was woken.")
    public static class StopOfNeverDueVsPark extends Parking {
        public StopOfNeverDueVsPark() { super(Timeline.NEVER); file(timer, Timeline.NEVER); }
        @Actor public void stop() { queue.stop(timer); }
        @Actor public void park() { goToSleep(); }
        @Arbiter public void settle(LIL_Result r) {
            r.r1 = sleep(Timeline.NEVER - 1);
            r.r2 = wakes.get();
            queue.stop(other); // the audit wants an end of each
            sweepAll();
            r.r3 = audit(2, 2, 0);
        }
    }

    /**
     * Two threads bring a filed timer forward. The second one, which is the owner, may do so by the word alone, while
     * the first has not pushed the timer yet; the owner finds nothing in the inbox then and goes to sleep. The first
     * one's own deadline asks for no wake, the one that the word holds does.
     */
    @JCStressTest @State
    @Outcome(id = "in time, 0, ok", expect = ACCEPTABLE, desc = "The owner saw the timer first.")
    @Outcome(id = "goes round, [01], ok", expect = ACCEPTABLE, desc = "The owner saw it after publishing its sleep.")
    @Outcome(id = "woken, 1, ok", expect = ACCEPTABLE, desc = "The owner slept, and was woken.")
    public static class ResetBeforePushVsPark extends Parking {
        public ResetBeforePushVsPark() { file(timer, LATE + 10); }
        @Actor public void reset() { queue.reset(timer, LATE + 5); }
        @Actor public void resetAndPark() { queue.reset(timer, EARLY); goToSleep(); }
        @Arbiter public void settle(LIL_Result r) { tell(r, TimerNode.deadline(timer.wordVolatile()), 4, 0, 2); }
    }
}
