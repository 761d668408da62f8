package io.pendula.benchmarks.designs;

/**
 * Several event loops, as in memcached and nginx (multi-reactor): each is an {@link EventLoop} with timers of its own.
 * The arming thread selects one, and the timer stays there.
 *
 * <p>Costs: as of one loop, with less contention. No loop helps another: a loop with a slow callback is late while the
 * others idle.
 *
 * <p>Pendula's workers share nothing either as long as all are in time, and take over the timers of one that is late.
 */
final class EventLoops extends Sharded {
    EventLoops(int loops) {
        super(loops, EventLoop::new);
    }

    @Override
    public Object reset(Object handle, long delayNanos, Task task) {
        return ((HeapQueue.Entry) handle).queue.reset(handle, delayNanos, task);
    }
}
