package io.pendula.internal.queue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What the states reach inside a queue that the runtime does not. */
public final class Inside {
    private Inside() {}

    /** What an owner does before it claims. */
    public static void drain(TimerQueue q) {
        q.lock.lock();
        try {
            q.drainer.drain();
        } finally {
            q.lock.unlock();
        }
    }

    /** The timers of all entries, live or stale. */
    public static List<TimerNode> timers(TimerHeap heap) {
        List<TimerNode> all = new ArrayList<>();
        for (Block b = heap.head; b != null; b = b.next) {
            all.addAll(Arrays.asList(b.nodes).subList(b.from, b.to));
        }
        return all;
    }

    public static void pretendStale(TimerQueue q, int entries) {
        q.compactor.count(entries * Compactor.STALE);
    }

    public static void startFullSweep(TimerQueue q) {
        q.lock.lock();
        try {
            q.compactor.startFull();
        } finally {
            q.lock.unlock();
        }
    }

    public static boolean holdsTimers(TimerQueue q) {
        return q.inbox.holdsTimers();
    }

    /** The next thread that arms finds an inbox that is long. */
    public static void makeDeep(TimerQueue q) {
        q.inbox.setDepth(Inbox.HELP_DEPTH);
    }

    public static boolean isOverBound(TimerQueue q) {
        return q.compactor.isOverBound();
    }

    public static void transfer(TimerQueue q, QueueOwner to) {
        q.gate.setOwner(to);
        q.gate.set(WakeGate.AWAKE);
    }

    /** What the owner does when its sleep has ended by itself. */
    public static void wakeUp(TimerQueue q) {
        q.lock.lock();
        try {
            q.gate.set(WakeGate.AWAKE);
            if (q.drainer.hasMail()) {
                q.drainer.drain();
            }
        } finally {
            q.lock.unlock();
        }
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
}
