package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * What the owner of a queue does with it, and threads that help: they claim the timers that are due, and the owner says
 * until when it sleeps. Each operation takes the queue's lock itself.
 */
public final class DueTimers extends Padded {
    /** While anything is filed, a worker's sleep ends at the next multiple of this, or before. */
    private static final long MAX_SLEEP_NANOS = 1_000_000_000;
    /** A loop corrects the key of a postponed timer when that key is nearer than this. */
    private static final long LAZY_NANOS = 50_000_000;

    /** Results of settle and prepareToSleep, below every deadline. */
    public static final long RETRY = 0;
    public static final long NOT_OWNER = -1;

    /** Results of {@link #pollOne}, {@link #claimNext}, {@link #helpOne} and {@link #pollAsLoop}. */
    public static final int NOTHING_DUE = 0;
    public static final int CLAIMED = 1;
    public static final int NOT_HERE = 3;

    private static final AtomicLongFieldUpdater<DueTimers> NEXT_WHEN =
            AtomicLongFieldUpdater.newUpdater(DueTimers.class, "nextWhen");

    // Written by the lock holder alone, with nearly each claim, so padded on both sides; workers read nextWhen.
    private volatile long nextWhen = Timeline.NEVER;
    private long settledAt;
    long fired;
    long stolen;
    /** The next number of an entry when its loop's poll began. */
    private int pollSeq;

    @SuppressWarnings("unused") // padding
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    final LatenessHistogram lateness = new LatenessHistogram();
    private final HoldLock lock;
    private final Inbox inbox;
    private final InboxDrainer drainer;
    private final TimerHeap entries;
    private final Compactor compactor;
    private final QueueCloser closer;
    private final WakeGate gate;

    DueTimers(HoldLock lock, Inbox inbox, InboxDrainer drainer, TimerHeap entries, Compactor compactor,
            QueueCloser closer, WakeGate gate) {
        this.lock = lock;
        this.inbox = inbox;
        this.drainer = drainer;
        this.entries = entries;
        this.compactor = compactor;
        this.closer = closer;
        this.gate = gate;
        drainer.due = this;
    }

    // ---- claims ----

    /** Claims the earliest timer that is due into {@code run}; false if none is. */
    boolean claimDue(long now, Firing run) {
        assert lock.isHeldByCurrentThread();
        try {
            for (long when = entries.topKey(); when <= now; when = entries.topKey()) {
                TimerNode t = entries.top();
                long w = t.wordVolatile();
                if (!compactor.isTopLive(t, w)) {
                    drainer.cleanTop();
                    continue;
                }
                Runnable task = t.work(); // before the CAS, see cancel
                long next = t.nextAfter(when, now);
                if (t.tryClaim(w, next, t.isReceiver(task))) {
                    run.begin(t, task, when, now);
                    run.isOwing = next != 0 && next <= now;
                    entries.pop();
                    if (next == 0) {
                        closer.takePermit(-1);
                    }
                    fired++;
                    lateness.record(now - when);
                    return true;
                }
            }
            return false;
        } finally {
            setNextWhen(wakeTime());
        }
    }

    /** The same on the thread that advances a manual clock. */
    public boolean claimOne(Firing run, long now) {
        HoldLock.checkStack();
        return claimNext(run, now) == CLAIMED;
    }

    /**
     * {@code drain}: what has arrived is filed first. The same if something has arrived that was due at {@code now}, as by
     * {@code at}: it must not run after later ones.
     */
    private int step(Firing run, long now, boolean drain) {
        assert lock.isHeldByCurrentThread();
        if (closer.isClosed()) {
            return NOT_HERE;
        }
        if (drain || drainer.isDrainDue(now)) {
            drainer.drain();
        }
        return claimDue(now, run) ? CLAIMED : NOTHING_DUE;
    }

    /**
     * One step of the poller when it has just read the clock: claims the earliest timer that is due into {@code run}. If
     * none is, settles.
     */
    public int pollOne(Firing run, long now) {
        lock.lockToRun();
        try {
            int step = step(run, now, true);
            if (step == NOTHING_DUE) {
                settleLocked(now);
            }
            return step;
        } finally {
            lock.unlock();
        }
    }

    /** A further step after the same reading of the clock. */
    public int claimNext(Firing run, long now) {
        lock.lockToRun();
        try {
            return step(run, now, false);
        } finally {
            lock.unlock();
        }
    }

    /** One step of a thread that helps: it gives way to others at the lock. */
    public int helpOne(Firing run, long now) {
        if (!lock.tryLockToRun()) {
            return NOT_HERE;
        }
        try {
            int step = step(run, now, true);
            if (step == CLAIMED) {
                stolen++;
            }
            return step;
        } finally {
            lock.unlock();
        }
    }

    // ---- sleep ----

    /**
     * Before the workers sleep: files what has arrived, lets go of what was stopped, and says when they must look here
     * again: when the first timer is due, or a sweep; RETRY if there is still something to do.
     */
    public long settle(long now) {
        lock.lockToRun();
        try {
            if (closer.isClosed()) {
                passArrivals();
                setNextWhen(Timeline.NEVER);
                return Timeline.NEVER;
            }
            return settleLocked(now);
        } finally {
            lock.unlock();
        }
    }

    private long settleLocked(long now) {
        drainer.drain();
        boolean isTidy = tidy(now, Timeline.NEVER);
        long when = wakeTime();
        setNextWhen(when);
        return isTidy ? when : RETRY;
    }

    /** Lets go of what was stopped and is due before {@code lazyFrom}, and plans the next sweep; false if there is more. */
    private boolean tidy(long now, long lazyFrom) {
        assert lock.isHeldByCurrentThread();
        // A sweep drops many at less cost than so many pops.
        if (!compactor.wantsSweep() && !drainer.cleanTops(lazyFrom)) {
            return false;
        }
        entries.trim();
        settledAt = now;
        compactor.planFullSweep(now, drainer.hasMail());
        compactor.noteSize(); // before WG-W1, so that threads know by now what is too much
        return true;
    }

    /** When the workers must look here. Without the lock: arrivals first, see WakeGate. */
    public long lookAt() {
        return Math.min(inbox.arrivals(), nextWhen); // WG-R1
    }

    /** Whether they must, before they sleep until {@code until}. */
    public boolean needsLookBefore(long until) {
        return lookAt() < until
                || compactor.wantsSweep() || until == Timeline.NEVER && hasLeftovers();
    }

    /** Stopped timers, perhaps, which would stay if nothing else was armed. */
    public boolean hasLeftovers() {
        return compactor.stale() > 0 || inbox.holdsTimers();
    }

    /**
     * The owner, a loop, publishes until when it waits. That wait is capped only to let go of what was stopped. It polls so
     * often that timers are left in the inbox, and put-off ones under their old keys, until they could be due.
     *
     * @return that deadline; or RETRY if there is still something to do, or NOT_OWNER if it was closed
     */
    public long prepareToSleep(QueueOwner me, long now) {
        HoldLock.checkStack();
        lock.lockToRun();
        try {
            if (gate.owner() != me) {
                return NOT_OWNER;
            }
            if (drainer.isDrainDue(now)) {
                drainer.drain();
            }
            if (!tidy(now, Timeline.plus(now, LAZY_NANOS))) {
                return RETRY;
            }
            long p = Math.min(Math.min(wakeTime(), inbox.arrivals()), compactor.longestWait(now, drainer.hasMail()));
            gate.set(p);
            if (inbox.arrivals() < p) { // as WG-R1: what is filed was there before
                gate.set(WakeGate.AWAKE);
                return RETRY;
            }
            return p;
        } finally {
            lock.unlock();
        }
    }

    /** When the owner must look again, as far as was drained. */
    private long wakeTime() {
        return Math.min(Math.min(entries.topKey(), drainer.dueAt()), compactor.fullSweepAt);
    }

    /**
     * The multiple of a second that follows. While anything is armed no sleep is longer. So if a wake-up is lost, by an Error
     * between two steps or by a fault of this library or the JVM, the owner drains a second later. Nor does a timer that
     * is a little earlier than all before it cost a wake-up. All queues have the same instants, so one sleep serves all.
     */
    public static long endOfLongestSleep(long now) {
        return Timeline.plus(now, MAX_SLEEP_NANOS - now % MAX_SLEEP_NANOS);
    }

    /**
     * The owner's thread could not be woken or started, though the gate says that it is up. No lambda, no object: perhaps
     * memory was the reason.
     */
    public void sleepsOn() {
        lock.lock();
        try {
            QueueOwner o = gate.owner();
            long until = o == null ? WakeGate.AWAKE : o.sleepsUntil(); // under the lock, so that no publication is undone
            if (until != WakeGate.AWAKE) {
                gate.cas(WakeGate.AWAKE, until);
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- a loop's poll ----

    /**
     * A loop polls: what is filed from now on, and not due before now, is for its next poll. True if something is due
     * for this one.
     */
    public boolean beginPoll(QueueOwner loop, long now) {
        lock.lock(); // asks for stack, for all that this poll claims, too
        try {
            if (gate.owner() != loop) {
                return false; // it was closed
            }
            gate.set(WakeGate.AWAKE);
            if (drainer.isDrainDue(now)) {
                drainer.drain();
            }
            compactor.planFullSweep(now, drainer.hasMail()); // as its thread may never say that it waits
            pollSeq = entries.nextSeq;
            return isDueInPoll(now);
        } finally {
            lock.unlock();
        }
    }

    /** One step of a loop. */
    public int pollAsLoop(QueueOwner loop, Firing run, long now) {
        lock.lockToRun();
        try {
            if (gate.owner() != loop) {
                return NOT_HERE; // a callback has closed this loop
            }
            gate.set(WakeGate.AWAKE);
            return isDueInPoll(now) && claimDue(now, run) ? CLAIMED : NOTHING_DUE;
        } finally {
            lock.unlock();
        }
    }

    /** Whether what is first is due, and for this poll. */
    private boolean isDueInPoll(long now) {
        assert lock.isHeldByCurrentThread();
        cleanDue(now); // or a claim would drop what is stale and take what comes behind it
        long when = entries.topKey();
        return when < now || when == now && entries.topSeq() - pollSeq < 0;
    }

    /** Cleans all entries that are due at {@code now} and lie before the first live one. */
    private void cleanDue(long now) {
        boolean isClean = false;
        while (!isClean && entries.topKey() <= now) {
            isClean = drainer.cleanTops(now);
        }
    }

    // ---- looks ----

    /** When a worker last settled. Plain: for the poller, and a hint if another takes over at this moment. */
    public long settledAt() {
        return settledAt;
    }

    /** A hint for helpers: when the owner must look here, as far as was drained. */
    public long nextWhen() {
        return nextWhen;
    }

    /** Under the lock. No fence: what must be seen before a sleep is in arrivals still, or was written before those. */
    private void setNextWhen(long when) {
        NEXT_WHEN.lazySet(this, when);
    }

    /** Under the lock: what arrivals says goes to nextWhen, where it stays until all that has arrived by then is filed. */
    void passArrivals() {
        for (long a = inbox.arrivals(); a != Timeline.NEVER; a = inbox.arrivals()) {
            setNextWhen(Math.min(a, nextWhen)); // WG-D1
            if (inbox.clearArrivals(a)) {
                return;
            }
        }
    }

    /** The earliest deadline that has arrived and was not drained; NEVER if there is none. */
    public long arrivals() {
        return inbox.arrivals();
    }

    /** What tells that memory is short, once; else null. */
    public Throwable takeShortage() {
        return drainer.takeReport();
    }

    /** Racy, a hint: the earliest deadline from an instant on, or that instant if very many are earlier. */
    public long earliestFrom(long from) {
        return entries.earliestFrom(from);
    }

    /** The earliest deadline of an armed timer, with a manual clock. */
    public long earliestLive() {
        lock.lock();
        try {
            drainer.drain();
            cleanDue(Timeline.NEVER);
            return entries.topKey();
        } finally {
            lock.unlock();
        }
    }

    /**
     * The earliest deadline, as far as filed or as the inbox tells; if that is before {@code late}, what has arrived is
     * filed first. NOT_OWNER if another thread has the lock.
     */
    public long tryPeekLate(long late) {
        if (!lock.tryLock()) {
            return NOT_OWNER;
        }
        try {
            long told = Math.min(entries.topKey(), inbox.arrivals());
            if (told > late) {
                return told; // what is not late stays in the inbox, where it may be stopped at little cost
            }
            drainer.drain();
            cleanDue(late); // or a timer that was stopped or put off would seem late
            setNextWhen(wakeTime());
            return entries.topKey();
        } finally {
            lock.unlock();
        }
    }

    /** The timer of the first entry, or null. The entry may be stale. */
    public TimerNode first() {
        lock.lock();
        try {
            return entries.top();
        } finally {
            lock.unlock();
        }
    }
}
