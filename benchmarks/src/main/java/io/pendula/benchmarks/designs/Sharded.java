package io.pendula.benchmarks.designs;

import io.pendula.benchmarks.rivals.Rival;
import java.util.function.Supplier;

/**
 * Several queues, each with its own lock and thread. The arming thread's id selects the queue; a callback arms in the
 * queue whose thread runs it.
 */
class Sharded implements Rival {
    private final HeapQueue[] queues;

    Sharded(int count, Supplier<HeapQueue> made) {
        queues = new HeapQueue[count];
        for (int i = 0; i < count; i++) {
            queues[i] = made.get();
            queues[i].shards = this;
        }
    }

    private HeapQueue here() {
        HeapQueue own = TimerThread.currentSource(HeapQueue.class);
        return own != null && own.shards == this ? own
                : queues[(int) (Thread.currentThread().getId() % queues.length)];
    }

    @Override
    public final Object schedule(long delayNanos, Task task) {
        return here().schedule(delayNanos, task);
    }

    @Override
    public final boolean cancel(Object handle) {
        return ((HeapQueue.Entry) handle).queue.cancel(handle);
    }

    @Override
    public final void close() {
        for (HeapQueue queue : queues) {
            queue.close();
        }
    }
}
