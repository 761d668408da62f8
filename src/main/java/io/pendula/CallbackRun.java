package io.pendula;

import io.pendula.internal.queue.Firing;

/** A firing and the thread that runs its callback. */
abstract class CallbackRun extends Firing {
    /** Its callback has called close(): the close() of another callback must not wait for this run. */
    volatile boolean inClose;

    /** The thread that runs it, or null while it waits in an executor. */
    abstract Thread runner();
}
