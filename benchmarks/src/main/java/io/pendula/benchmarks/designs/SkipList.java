package io.pendula.benchmarks.designs;

import io.pendula.benchmarks.rivals.Rival;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A skip list ordered by deadline, as in the sorted sets of Redis, which are widely used as delay queues; concurrent,
 * so that nothing is locked. Equal deadlines fire in the order of arming.
 *
 * <p>The removal of a timer's key decides: either a stop removes it, or the thread that fires it.
 *
 * <p>Costs: O(log n) with a node, and now and then a tower of index nodes, per timer, all scattered in memory. Arming
 * and stopping never wait, but both search from the head of the list. Threads meet at the sequence counter and near
 * the head.
 *
 * <p>Pendula's arming never waits either, but costs O(1): a push to an inbox. It searches nothing to stop a timer.
 */
final class SkipList implements Rival, TimerThread.Source {
    private final ConcurrentSkipListMap<OrderedNode, Boolean> timers = new ConcurrentSkipListMap<>();
    private final AtomicLong nextSeq = new AtomicLong();
    private final TimerThread thread = new TimerThread(this, Sleeper.PARKING);

    SkipList() {
        thread.start();
    }

    @Override
    public Object schedule(long delayNanos, Task task) {
        return armAt(Clock.after(delayNanos), task);
    }

    Object armAt(long when, Runnable task) {
        OrderedNode node = new OrderedNode(task, when);
        node.seq = nextSeq.getAndIncrement();
        timers.put(node, true);
        thread.wakeIfBefore(when);
        return node;
    }

    @Override
    public boolean cancel(Object handle) {
        return timers.remove((OrderedNode) handle) != null;
    }

    @Override
    public Node takeDue(long now) {
        for (;;) {
            Map.Entry<OrderedNode, Boolean> first = timers.firstEntry();
            if (first == null || first.getKey().when > now) {
                return null;
            }
            if (timers.remove(first.getKey()) != null) {
                return first.getKey();
            }
        }
    }

    @Override
    public long nextDeadline() {
        Map.Entry<OrderedNode, Boolean> first = timers.firstEntry();
        return first == null ? Clock.NEVER : first.getKey().when;
    }

    @Override
    public void close() {
        thread.close();
    }
}
