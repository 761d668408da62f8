package io.pendula.internal.queue;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * What is counted yet in a queue whose figures were taken, by a thread that had changed a timer's word before and was
 * held up. Such a thread refers to the queue, so all is counted once the queue is unreachable.
 */
public final class LateCounts extends WeakReference<Object> {
    private final LongAdder resets;
    private final StaleCounter staleCounter;
    /** What the counter said when the figures were taken. */
    private final long stopsBefore;

    LateCounts(Object queue, LongAdder resets, StaleCounter staleCounter, long stopsBefore,
            ReferenceQueue<Object> unreachable) {
        super(queue, unreachable);
        this.resets = resets;
        this.staleCounter = staleCounter;
        this.stopsBefore = stopsBefore;
    }

    public QueueSnapshot figures() {
        return new QueueSnapshot(0, staleCounter.stops() - stopsBefore, resets.sum(), 0, 0, 0, 0, 0, 0, 0,
                Long.MAX_VALUE, LatenessSnapshot.NONE);
    }
}
