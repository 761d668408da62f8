package io.pendula;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;

/**
 * The loops of one scheduler: knows them, and finds who takes over when one goes.
 *
 * <p>A timer belongs to its queue for life, so what moves is the queue as a whole: it gets another owner, under its
 * lock, who is then up and has a drain before it, and is woken. It stays among the scheduler's queues; the next loop
 * that comes takes it over again, so there are never more of them than there were loops at a time. Only a queue for
 * which there is nobody else, or that was confined, is closed.
 */
final class Loops {
    private final TimerScheduler scheduler;
    /** All whose callbacks may run. Copied at each change, under the crew's lock, as all below. */
    private volatile LoopDriver[] loops = {};
    private final Map<Thread, LoopDriver> byThread = new ConcurrentHashMap<>();
    /** Queues whose loop has gone, and that somebody else owns meanwhile. */
    private final ArrayList<TimerQueue> orphans = new ArrayList<>();
    private int made;

    Loops(TimerScheduler scheduler) {
        this.scheduler = scheduler;
    }

    LoopDriver[] all() {
        return loops;
    }

    /** The calling thread's own loop, or null. */
    LoopDriver of(Thread t) {
        return loops.length == 0 ? null : byThread.get(t);
    }

    /** For a thread without a loop, where there are no other workers. */
    TimerQueue any(long threadId) {
        LoopDriver[] all = loops;
        for (int i = 0; i < all.length; i++) {
            LoopDriver d = all[(int) Long.remainderUnsigned(threadId + i, all.length)];
            if (!d.detached) {
                return d.queue;
            }
        }
        throw new RejectedExecutionException("no loop is attached, and the scheduler has no workers of its own");
    }

    LoopDriver attach(Thread thread, Runnable wakeup, boolean confined) {
        synchronized (scheduler.crew) {
            if (scheduler.isClosed()) {
                throw new IllegalStateException("the scheduler is closed");
            }
            if (byThread.containsKey(thread)) {
                throw new IllegalStateException("the thread " + thread.getName()
                        + " has a loop of this scheduler already");
            }
            for (LoopDriver l : loops) {
                if (l.runner() == thread) {
                    throw new IllegalStateException("the thread " + thread.getName()
                            + " is inside a callback of a loop that it has closed");
                }
            }
            boolean reused = !confined && !orphans.isEmpty();
            TimerQueue q = reused ? orphans.get(orphans.size() - 1) : scheduler.newQueue(scheduler.workers() + made);
            LoopDriver d = new LoopDriver(scheduler, q, thread, wakeup, confined);
            LoopDriver[] more = Arrays.copyOf(loops, loops.length + 1);
            more[loops.length] = d;
            orphans.ensureCapacity(made + 1); // there may be as many as were made
            if (!reused) {
                give(q, d);
                scheduler.addQueue(q);
                made++;
            }
            byThread.put(thread, d); // the last step that may fail for want of memory
            if (reused) {
                orphans.remove(orphans.size() - 1);
                give(q, d);
            }
            loops = more;
            return d;
        }
    }

    private static void give(TimerQueue q, QueueRunner to) {
        q.lock();
        try {
            q.setOwner(to);
            q.keep(to);
            q.drain(); // so that arrivals says what the owner asks for
        } finally {
            q.unlock();
        }
    }

    /** The loop takes no more timers, and others get those that it has; returns those for which there is nobody. */
    List<TimerNode> detach(LoopDriver d) {
        List<TimerNode> unfired = new ArrayList<>();
        QueueRunner heir;
        synchronized (scheduler.crew) {
            if (d.detached) {
                return unfired;
            }
            d.detached = true;
            byThread.remove(d.runner());
            if (!d.isRunning()) {
                forget(d);
            }
            if (scheduler.isClosed()) {
                return unfired; // whoever closes has them
            }
            heir = heir();
            boolean manual = scheduler.workers() > 0 && heir == null; // then the clock's advance runs them
            for (TimerQueue q : scheduler.queues) {
                if (q.owner() == d) {
                    if (d.isConfined() && q == d.queue || heir == null && !manual) {
                        orphans.remove(q);
                        scheduler.closeQueue(q, unfired);
                    } else {
                        handOver(q, heir);
                    }
                }
            }
        }
        if (heir != null) {
            heir.wake();
            scheduler.driverIsUp(); // the heir may be stuck
        }
        scheduler.abandon(unfired);
        return unfired;
    }

    private void handOver(TimerQueue q, QueueRunner heir) {
        if (heir instanceof LoopDriver l) {
            l.hasHeritage = true;
        }
        if (!orphans.contains(q)) {
            orphans.add(q);
        }
        give(q, heir);
    }

    /** A driver at home in a worker, in turn; else another loop, one that is not confined if there is one; or null. */
    private QueueRunner heir() {
        int workers = scheduler.workers();
        for (int i = 0; i < workers; i++) {
            Keeper k = scheduler.queues[(orphans.size() + i) % workers].owner();
            if (i == workers - 1 || !(k instanceof Driver d && d.stuck)) {
                return (QueueRunner) k;
            }
        }
        LoopDriver heir = null;
        for (LoopDriver l : loops) {
            if (!l.detached && l.runner().isAlive() && (heir == null || heir.isConfined())) {
                heir = l;
            }
        }
        return heir;
    }

    /** Its last callback has ended. */
    void forget(LoopDriver d) {
        synchronized (scheduler.crew) {
            List<LoopDriver> rest = new ArrayList<>(Arrays.asList(loops));
            rest.remove(d);
            loops = rest.toArray(new LoopDriver[0]);
            scheduler.crew.notifyAll();
        }
    }
}
