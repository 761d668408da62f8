package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/** What tests of the runtime reach inside a queue that the runtime does not; its parts have doors of their own. */
public final class Inside {

    private Inside() {}

    public static ReentrantLock lock(TimerQueue q) {
        return q.lock;
    }

    public static void checkStack() {
        HoldLock.checkStack();
    }

    /** The lock is held. */
    public static boolean claimDue(TimerQueue q, long now, Firing run) {
        return q.due.claimDue(now, run);
    }

    /** As if it had been the queue's owner from the beginning, and were up. */
    public static void transfer(TimerQueue q, QueueOwner to) {
        q.gate.setOwner(to);
        q.gate.set(WakeGate.AWAKE);
    }

    /** The steps of a poller that has this queue alone: until when it sleeps, or RETRY. */
    public static long prepareToSleep(TimerQueue q, long now) {
        long when = q.due.settle(now);
        if (when == DueTimers.RETRY) {
            return when;
        }
        long until = when == Timeline.NEVER ? when : Math.min(when, DueTimers.endOfLongestSleep(now));
        q.gate.set(until);
        if (q.due.needsLookBefore(until) && !q.compactor.wantsSweep()) { // a sweep is the caller's
            q.gate.set(WakeGate.AWAKE);
            return DueTimers.RETRY;
        }
        return until;
    }

    public static boolean casGate(TimerQueue q, long expected, long lookAt) {
        return q.gate.cas(expected, lookAt);
    }

    /** Until when its owner needs no call. */
    public static long looksAgain(TimerQueue q) {
        return q.gate.lookAt();
    }

    /** A queue alone, with a heap and a count that may lack memory. */
    public static TimerQueue newQueue(Timeline timeline, TimerHeap heap, PendingLimit limit, boolean keepOrder,
            LongAdder resets) {
        return new TimerQueue(0, timeline, null, heap, limit, keepOrder, new WakeGate(), resets);
    }

    /** How many threads wait for the end of a run. */
    public static int awaiting(TimerQueue q) {
        int n = 0;
        for (RunAwaiter a = q.awaiters; a != null; a = a.next) {
            n++;
        }
        return n;
    }

    /** Whether that is the lock of the queue, or its entries. */
    public static boolean guards(TimerQueue q, Object o) {
        return o == q.lock || o == q.entries;
    }

    /**
     * What must hold between two operations of one thread: the structure of the heap, what its entries say of timers and
     * what timers say of entries, the count of stale entries, and the lists of timers that are not filed.
     */
    public static void verify(TimerQueue q) {
        InsideHeap.verifyEntries(q);
        int stale = 0;
        Set<TimerNode> filed = new HashSet<>();
        for (InsideHeap.Entry e : InsideHeap.all(q.entries)) {
            long w = e.node().wordVolatile();
            int s = TimerNode.state(w);
            boolean isLive = TimerNode.isFiled(s) && e.node().entry == e.seq();
            stale += isLive ? 0 : 1;
            if (isLive) {
                assertTrue(filed.add(e.node()), "a timer with two live entries");
                boolean isInPlace = s == TimerNode.WAITING;
                assertTrue(isInPlace ? e.key() == TimerNode.deadline(w) : e.key() <= TimerNode.deadline(w),
                        () -> "an entry of " + e.key() + " for " + TimerNode.deadline(w) + " in state " + s);
            }
        }
        assertEquals(stale, q.compactor.stale(), "entries that are stale, and what is counted");
        Set<TimerNode> queued = new HashSet<>();
        addQueued(q.inbox.holdsTimers() ? q.inbox.head() : null, queued);
        addQueued((TimerNode) InsideHeap.get(q.drainer, "backlog"), queued);
        addQueued((TimerNode) InsideHeap.get(q.drainer, "parked"), queued);
        queued.forEach(t -> assertTrue(TimerNode.isQueued(TimerNode.state(t.wordVolatile())),
                () -> "in line in state " + TimerNode.state(t.wordVolatile())));
    }

    private static void addQueued(TimerNode first, Set<TimerNode> all) {
        for (TimerNode t = first; t != null; t = t.next) {
            assertTrue(all.add(t), "a timer is twice in line");
        }
    }
}
