package io.pendula.benchmarks.designs;

/**
 * The timers of one event loop, as in libevent, Redis and every single reactor: the top of a binary heap gives the
 * timeout of the poll, and other threads wake the poll if they arm an earlier timer.
 *
 * <p>Costs: O(log n) under a lock that is free as long as only the loop's own thread arms. The poll counts in
 * milliseconds, so timers fire up to one late. A wake-up from another thread is a system call. A callback that takes
 * long delays all timers and all input. Redis keeps an unordered list instead of a heap and searches all of it before
 * each poll.
 *
 * <p>Pendula's loops keep the principle. Its inbox makes arming from other threads cheap, its workers run what a loop
 * that is held up leaves due, and the loop gets nanoseconds to turn into its own timeout.
 */
final class EventLoop extends HeapQueue {
    EventLoop() {
        super(2, new SelectorSleeper());
    }

    @Override
    public Object reset(Object handle, long delayNanos, Task task) {
        move(handle, delayNanos);
        return handle;
    }
}
