package io.pendula;

/**
 * The states of a timer in which a race begins, by the names that {@link io.pendula.internal.queue.TimerNode} has for
 * them: the first column of the tables that the races are.
 */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
final class Given {
    private Given() {}

    /** In the heap. */
    abstract static class Waiting extends Rig {
        Waiting() { file(timer, DUE); }
    }

    /** In the inbox. */
    abstract static class Moving extends Rig {
        Moving() { queue.arm(timer, DUE); }
    }

    /** Stopped, with its entry in the heap. */
    abstract static class Deleted extends Rig {
        Deleted() { file(timer, DUE); queue.stop(timer); }
    }

    /** The same, and another timer waits: the heap is not empty when a sweep has been there. */
    abstract static class DeletedBesideAnother extends Rig {
        DeletedBesideAnother() { file(other, LATE); file(timer, DUE); queue.stop(timer); }
    }

    /** Stopped in the inbox, where it still is. */
    abstract static class DeletedQueued extends Rig {
        DeletedQueued() { queue.arm(timer, DUE); queue.stop(timer); }
    }

    /** Stopped, and in none of both any more. */
    abstract static class Removed extends Rig {
        Removed() { queue.arm(timer, DUE); queue.stop(timer); drainInbox(); }
    }

    /** Claimed by the worker, until that finishes. */
    abstract static class Running extends Rig {
        Running() { file(timer, DUE); worker.claim(queue, DUE); }
    }

    /** The same, and armed in this run. */
    abstract static class RunningArmed extends Rig {
        RunningArmed() { file(timer, DUE); worker.claim(queue, DUE); queue.reset(timer, LATE); }
    }

    /** Has run. */
    abstract static class Fired extends Rig {
        Fired() { file(timer, DUE); worker.runDue(queue, DUE); }
    }

    /** A timer without a task has fired; the firing waits for a receiver. */
    abstract static class Kept extends Rig {
        final OneShotTimer received = new OneShotTimer.Received(queue);
        Kept() { file(received, DUE); worker.runDue(queue, DUE); }
    }
}
