package io.pendula.benchmarks.designs;

import io.pendula.benchmarks.rivals.Rival;
import java.util.Arrays;

/**
 * The timers of Go 1.14: a 4-ary heap for each worker, without a thread of its own. An arming thread takes the
 * worker's lock itself; a worker that has nothing to do sleeps until the top of its heap. In Go the arming goroutine
 * runs on the worker; here a callback arms at the worker that runs it, and any other thread's id selects one.
 *
 * <p>A timer has one of ten states. A stop only marks it as deleted, and a reset only notes the new deadline; neither
 * takes a lock. The holder of the worker's lock later removes what is deleted and moves what is modified. Each step
 * that writes more than the state passes through a window (MODIFYING, MOVING, REMOVING, and RUNNING until the timer
 * has left the heap), in which all other threads spin.
 *
 * <pre>
 * schedule  NO_STATUS -> WAITING, under the lock
 * stop      WAITING, MODIFIED_EARLIER, MODIFIED_LATER -> MODIFYING -> DELETED
 *           NO_STATUS, DELETED, REMOVING, REMOVED: false
 *           RUNNING, MOVING, MODIFYING: spin
 * reset     WAITING, MODIFIED_EARLIER, MODIFIED_LATER, DELETED -> MODIFYING -> MODIFIED_EARLIER or MODIFIED_LATER
 *           NO_STATUS, REMOVED -> MODIFYING -> WAITING, under the lock
 *           RUNNING, MOVING, REMOVING, MODIFYING: spin
 * worker    DELETED -> REMOVING -> REMOVED
 *           MODIFIED_EARLIER, MODIFIED_LATER -> MOVING -> WAITING
 *           WAITING -> RUNNING -> NO_STATUS, then the callback, without the lock
 *           MODIFYING: spin
 * </pre>
 *
 * <p>Costs: arming is O(log n) under a lock that other threads seldom want; stopping and resetting are two atomic
 * steps. Deleted timers stay in the heap until they come to its top or are more than a quarter of it. One timer that
 * was moved to an earlier time makes the worker look through its whole heap, since its place is not known. A thread
 * that the system suspends in a window holds up every thread that meets the timer. (Go keeps such a thread from being
 * suspended; a JVM cannot, so the spinning yields.) Go's idle workers steal timers from busy ones; this class leaves
 * that out.
 *
 * <p>Pendula keeps the states and the lazy deletion. Deadline and state share one word, so each step is a single
 * compare-and-set without a window; an inbox replaces the lock for arming; a timer that is moved to an earlier time
 * gets a second entry in place of a search.
 */
final class Go114 implements Rival {
    static final int NO_STATUS = 0; // new, or has fired
    static final int WAITING = 1; // in the heap
    static final int RUNNING = 2; // about to fire, window
    static final int DELETED = 3; // stopped, but still in the heap
    static final int REMOVING = 4; // stopped, window
    static final int REMOVED = 5; // stopped, no longer in the heap
    static final int MODIFYING = 6; // being stopped or reset, window
    static final int MODIFIED_EARLIER = 7; // in the heap, too far down
    static final int MODIFIED_LATER = 8; // in the heap, too far up
    static final int MOVING = 9; // getting its new place, window

    private final Go114Worker[] workers;

    Go114(int workerCount) {
        workers = new Go114Worker[workerCount];
        Arrays.setAll(workers, i -> new Go114Worker(this));
    }

    private Go114Worker here() {
        Go114Worker own = TimerThread.currentSource(Go114Worker.class);
        return own != null && own.scheduler == this ? own : workers[(int) (Thread.currentThread().getId() % workers.length)];
    }

    @Override
    public Object schedule(long delayNanos, Task task) {
        long when = Clock.after(delayNanos);
        Go114Timer timer = new Go114Timer(task, when, WAITING);
        Go114Worker worker = here();
        worker.insert(timer);
        worker.wakeIfBefore(when);
        return timer;
    }

    @Override
    public boolean cancel(Object handle) {
        Go114Timer timer = (Go114Timer) handle;
        for (;;) {
            int status = timer.status();
            switch (status) {
                case WAITING, MODIFIED_EARLIER, MODIFIED_LATER -> {
                    if (timer.casStatus(status, MODIFYING)) {
                        timer.worker.onStopped(status == MODIFIED_EARLIER);
                        timer.setStatus(DELETED);
                        return true;
                    }
                }
                case RUNNING, MOVING, MODIFYING -> Thread.yield();
                default -> {
                    return false;
                }
            }
        }
    }

    @Override
    public Object reset(Object handle, long delayNanos, Task task) {
        Go114Timer timer = (Go114Timer) handle;
        long when = Clock.after(delayNanos);
        for (;;) {
            int status = timer.status();
            switch (status) {
                case WAITING, MODIFIED_EARLIER, MODIFIED_LATER, DELETED -> {
                    if (timer.casStatus(status, MODIFYING)) {
                        modify(timer, when, status);
                        return timer;
                    }
                }
                case NO_STATUS, REMOVED -> {
                    if (timer.casStatus(status, MODIFYING)) {
                        insert(timer, when);
                        return timer;
                    }
                }
                default -> Thread.yield();
            }
        }
    }

    private static void modify(Go114Timer timer, long when, int before) {
        boolean earlier = when < timer.when;
        Go114Worker worker = timer.worker;
        timer.nextWhen = when;
        worker.onModified(before, earlier);
        timer.setStatus(earlier ? MODIFIED_EARLIER : MODIFIED_LATER);
        if (earlier) {
            worker.wakeIfBefore(when);
        }
    }

    private void insert(Go114Timer timer, long when) {
        Go114Worker worker = here();
        timer.when = when;
        worker.insert(timer);
        timer.setStatus(WAITING);
        worker.wakeIfBefore(when);
    }

    @Override
    public void close() {
        for (Go114Worker worker : workers) {
            worker.close();
        }
    }
}
