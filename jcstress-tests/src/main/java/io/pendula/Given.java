package io.pendula;

import io.pendula.internal.queue.TimerNode;

/**
 * The states of a timer in which a race begins, by the names that {@link io.pendula.internal.queue.TimerNode} has for
 * them: the first column of the tables that the races are.
 */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
final class Given {
    private Given() {}

    /** jcstress reports what a constructor throws. */
    private static void is(TimerNode t, int state) {
        if (TimerNode.state(t.wordVolatile()) != state) {
            throw new IllegalStateException("state " + TimerNode.state(t.wordVolatile()) + ", not " + state);
        }
    }

    /** In the heap. */
    abstract static class Waiting extends Rig {
        Waiting() { file(timer, DUE); is(timer, TimerNode.WAITING); }
    }

    /** In the inbox. */
    abstract static class Moving extends Rig {
        Moving() { queue.arm(timer, DUE); is(timer, TimerNode.MOVING); }
    }

    /** Stopped, with its entry in the heap. */
    abstract static class Deleted extends Rig {
        Deleted() { file(timer, DUE); queue.stop(timer); is(timer, TimerNode.DELETED); }
    }

    /** The same, and another timer waits: the heap is not empty when a sweep has been there. */
    abstract static class DeletedBesideAnother extends Rig {
        DeletedBesideAnother() { file(other, LATE); file(timer, DUE); queue.stop(timer); is(timer, TimerNode.DELETED); }
    }

    /** Stopped in the inbox, where it still is. */
    abstract static class DeletedQueued extends Rig {
        DeletedQueued() { queue.arm(timer, DUE); queue.stop(timer); is(timer, TimerNode.DELETED_QUEUED); }
    }

    /** Stopped, and in none of both any more. */
    abstract static class Removed extends Rig {
        Removed() { queue.arm(timer, DUE); queue.stop(timer); drainInbox(); is(timer, TimerNode.REMOVED); }
    }

    /** Claimed by the worker, until that finishes. */
    abstract static class Running extends Rig {
        Running() { file(timer, DUE); worker.claim(queue, DUE); is(timer, TimerNode.RUNNING); }
    }

    /** The same, and armed in this run. */
    abstract static class RunningArmed extends Rig {
        RunningArmed() { file(timer, DUE); worker.claim(queue, DUE); queue.reset(timer, LATE); is(timer, TimerNode.RUNNING_ARMED); }
    }

    /** Has run. */
    abstract static class Fired extends Rig {
        Fired() { file(timer, DUE); worker.runDue(queue, DUE); is(timer, TimerNode.NO_STATUS); }
    }

    /** An alarm has rung; the firing waits for a receiver. */
    abstract static class Kept extends Rig {
        final OneShotAlarm received = new OneShotAlarm(queue);
        Kept() { file(received, DUE); worker.runDue(queue, DUE); is(received, TimerNode.NO_STATUS); }
    }
}
