package io.pendula.designs;

import io.pendula.Rival;
import java.util.Arrays;
import java.util.function.Supplier;

/** Several queues, each with its own lock and thread. The arming thread's id selects the queue. */
class Sharded implements Rival {
    private final HeapQueue[] queues;

    Sharded(int count, Supplier<HeapQueue> made) {
        queues = new HeapQueue[count];
        Arrays.setAll(queues, i -> made.get());
    }

    @Override
    public final Object schedule(long delayNanos, Task task) {
        return queues[(int) (Thread.currentThread().getId() % queues.length)].schedule(delayNanos, task);
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
