package io.pendula;

import static io.pendula.Rig.jitter;
import static io.pendula.TaskRig.flag;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.ZLL_Result;

/** The interrupt of a limit, and closes of that limit and of one within it. */
public class LimitRaces {
    /** The timer is never due: the second actor runs what it would run. */
    abstract static class Limited {
        private volatile Runnable interruption;
        volatile boolean sent;

        /** A limit of the calling thread. Its interruption is put into {@code tasks}. */
        static RunLimit limit(Runnable[] tasks) {
            return new RunLimit(task -> {
                tasks[0] = task;
                return TimerScheduler.shared().timer(task);
            }, TimeUnit.HOURS.toNanos(1));
        }

        final void letInterrupt(Runnable[] tasks) {
            interruption = tasks[0];
        }

        final void sendInterrupt() {
            while (interruption == null) {
                Thread.onSpinWait();
            }
            jitter(1_000);
            interruption.run();
            sent = true;
        }
    }

    /** No interrupt comes after the close, also not while the thread does what comes next, and none is left. */
    @JCStressTest @State
    @Outcome(id = "true, clear, clear", expect = ACCEPTABLE, desc = "Interrupted, then closed.")
    @Outcome(id = "false, clear, clear", expect = ACCEPTABLE, desc = "Closed in time.")
    public static class InterruptVsClose extends Limited {
        @Actor public void close(ZLL_Result r) {
            Runnable[] tasks = new Runnable[1];
            RunLimit limit = limit(tasks);
            letInterrupt(tasks);
            jitter(1_000);
            limit.close();
            r.r1 = limit.isOver();
            r.r2 = flag();
            while (!sent) {
                Thread.onSpinWait();
            }
            r.r3 = flag();
        }
        @Actor public void interrupt() { sendInterrupt(); }
    }

    /** The close of an inner limit, which is over, does not take away the interrupt of the one around it. */
    @JCStressTest @State
    @Outcome(id = "interrupted, clear", expect = ACCEPTABLE, desc = "That of the outer one is there until that is closed.")
    public static class OuterInterruptVsInnerClose extends Limited {
        @Actor public void close(LL_Result r) {
            Runnable[] outers = new Runnable[1];
            Runnable[] inners = new Runnable[1];
            RunLimit outer = limit(outers);
            RunLimit inner = limit(inners);
            inners[0].run();
            letInterrupt(outers);
            jitter(1_000);
            inner.close();
            while (!sent) {
                Thread.onSpinWait();
            }
            r.r1 = Thread.currentThread().isInterrupted() ? "interrupted" : "swallowed";
            outer.close();
            r.r2 = flag();
        }
        @Actor public void interrupt() { sendInterrupt(); }
    }
}
