package io.pendula.internal.engine;

import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Texts;
import java.lang.invoke.VarHandle;

/** Runs the timers of a scheduler with a manual clock, one at a time, on the thread that advances the clock. */
public final class Stepper extends Firing {
    public final Engine engine;
    private volatile Thread runner;

    public Stepper(Engine engine) {
        this.engine = engine;
    }

    /** The thread that advances the clock, while a callback runs. */
    @Override
    public Thread runner() {
        return runner;
    }

    /** Nanoseconds of the clock until the next timer that no loop runs; Long.MAX_VALUE if there is none. */
    public long nanosUntilNext() {
        TimerQueue q = soonest();
        return q == null ? Long.MAX_VALUE : Timeline.between(engine.timeline.now(), q.due.earliestLive());
    }

    /** Called before the clock is advanced by {@code distance}. */
    public void refuseBeyond(long distance) {
        long left = engine.timeline.left();
        if (distance > left) {
            throw new IllegalStateException("the clock cannot be advanced by " + Texts.duration(distance) + ": scheduler '"
                    + engine.name() + "' can count 36 years of it, of which " + Texts.duration(left) + " are left");
        }
    }

    private TimerQueue soonest() {
        TimerQueue soonest = null;
        long when = Timeline.NEVER;
        for (TimerQueue q : engine.queues) {
            long w = q.gate.owner() == null ? q.due.earliestLive() : Timeline.NEVER;
            if (w < when) {
                when = w;
                soonest = q;
            }
        }
        return soonest;
    }

    /** Runs the first due timer on this thread; false if none is due. */
    public boolean runOneDue() {
        TimerQueue q = soonest();
        if (q == null || !q.due.claimOne(this, engine.timeline.now())) {
            return false;
        }
        runner = Thread.currentThread();
        try {
            if (engine.run(this)) {
                engine.endRun(this);
            }
        } finally {
            runner = null;
            end();
            VarHandle.fullFence(); // between the end of the run and the read of closed: pairs with Firings.mustWait
            if (engine.isClosed()) {
                engine.runEnded();
            }
        }
        return true;
    }

    /** For an exception: the timer that runs next. Other threads may stop it at any moment. */
    public String describeNext() {
        TimerQueue q = soonest();
        TimerNode t = q == null ? null : q.due.first();
        return "the next is " + (t == null ? "none, scheduler " + engine.options.name : t + ", task " + ((QueuedNode) t).task());
    }
}
