package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * The operations of a queue's owner and helpers: both claim due timers, and the owner publishes until when it sleeps.
 * Public operations that need the queue's lock take it themselves.
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

    // Only the lock holder writes these, at nearly each claim. Workers read nextWhen. So they are padded on both sides.
    private volatile long nextWhen = Timeline.NEVER;
    private long settledAt;
    long fired;
    long stolen;
    /** The value of TimerHeap.nextSeq when the loop's poll began. */
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

    /** Claims the earliest due timer into {@code run}; false if none is due. */
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

    /** Claims a due timer, for the thread that advances a manual clock. */
    public boolean claimOne(Firing run, long now) {
        HoldLock.checkStack();
        return claimNext(run, now) == CLAIMED;
    }

    /**
     * Claims a due timer. Drains first if {@code drain}, or if a timer has arrived that was due at {@code now}, because it
     * must not run after later timers. For instance, {@code at} arms timers that are already due.
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
     * One step of the poller just after it has read the clock: claims the earliest due timer into {@code run}. If none is
     * due, settles.
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

    /** A further step with the same reading of the clock. */
    public int claimNext(Firing run, long now) {
        lock.lockToRun();
        try {
            return step(run, now, false);
        } finally {
            lock.unlock();
        }
    }

    /** One step of a helper. It does not wait for the lock if another thread holds it for long. */
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
     * Called before the workers sleep: files arrived timers and drops stopped ones. Returns when the workers must check this
     * queue again, for the first timer or a sweep; RETRY if there is more to do now.
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

    /** Cleans the top of the heap (see cleanTops) and plans the next sweep; false if there is more to do. */
    private boolean tidy(long now, long lazyFrom) {
        assert lock.isHeldByCurrentThread();
        // A sweep drops many entries at less cost than pops.
        if (!compactor.wantsSweep() && !drainer.cleanTops(lazyFrom)) {
            return false;
        }
        entries.trim();
        settledAt = now;
        compactor.planFullSweep(now, drainer.hasMail());
        compactor.noteSize(); // before WG-W1, so that threads that stop timers read the new bound
        return true;
    }

    /** When the workers must check this queue. Called without the lock, so it reads arrivals first, see WakeGate. */
    public long lookAt() {
        return Math.min(inbox.arrivals(), nextWhen); // WG-R1
    }

    /** Whether the workers must check this queue before they sleep until {@code until}. */
    public boolean needsLookBefore(long until) {
        return lookAt() < until
                || compactor.wantsSweep() || until == Timeline.NEVER && hasLeftovers();
    }

    /** Whether there may be stopped timers, which would stay if no other timer was armed. */
    public boolean hasLeftovers() {
        return compactor.stale() > 0 || inbox.holdsTimers();
    }

    /**
     * Called by a loop: publishes until when it waits. The wait is limited only to drop stopped timers. A loop polls
     * often, so it leaves timers in the inbox, and postponed timers under their old keys, until they could be due.
     *
     * @return the published instant; RETRY if there is more to do now, or NOT_OWNER if the loop was closed
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
            if (inbox.arrivals() < p) { // as WG-R1; p accounts for the filed timers
                gate.set(WakeGate.AWAKE);
                return RETRY;
            }
            return p;
        } finally {
            lock.unlock();
        }
    }

    /** When the owner must check again, not counting the inbox. */
    private long wakeTime() {
        return Math.min(Math.min(entries.topKey(), drainer.dueAt()), compactor.fullSweepAt);
    }

    /**
     * The next multiple of a second. While a timer is armed, no sleep lasts longer. So if a wake-up is lost, the owner
     * drains a second later at most. The cause may be an Error between two steps, or a fault of this library or the
     * JVM. Also, a new earliest timer costs no wake-up if it is due after that instant. All queues use the same
     * instants, so one sleep serves all of them.
     */
    public static long endOfLongestSleep(long now) {
        return Timeline.plus(now, MAX_SLEEP_NANOS - now % MAX_SLEEP_NANOS);
    }

    // ---- a loop's poll ----

    /**
     * Begins a poll of a loop. Timers that are filed from now on wait for the next poll, unless they are due before
     * {@code now}. True if a timer is due in this poll.
     */
    public boolean beginPoll(QueueOwner loop, long now) {
        lock.lock(); // checks the stack, also for the claims of this poll
        try {
            if (gate.owner() != loop) {
                return false; // it was closed
            }
            gate.set(WakeGate.AWAKE);
            if (drainer.isDrainDue(now)) {
                drainer.drain();
            }
            compactor.planFullSweep(now, drainer.hasMail()); // because the loop may never call prepareToSleep
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

    /** Whether the first timer is due in this poll. */
    private boolean isDueInPoll(long now) {
        assert lock.isHeldByCurrentThread();
        cleanDue(now); // otherwise a claim would drop stale entries and take a timer behind them
        long when = entries.topKey();
        return when < now || when == now && entries.topSeq() - pollSeq < 0;
    }

    /** Cleans all entries due at {@code now} that are before the first live one. */
    private void cleanDue(long now) {
        boolean isClean = false;
        while (!isClean && entries.topKey() <= now) {
            isClean = drainer.cleanTops(now);
        }
    }

    // ---- queries ----

    /** When a worker last settled. Plain: read by the poller, and a hint if another worker takes over just then. */
    public long settledAt() {
        return settledAt;
    }

    /** A hint for helpers: when the owner must check this queue, not counting the inbox. */
    public long nextWhen() {
        return nextWhen;
    }

    /**
     * Called under the lock. Needs no fence: if the value falls, the CAS that clears arrivals follows, and workers read
     * arrivals first. If it rises, an old value costs a check.
     */
    private void setNextWhen(long when) {
        NEXT_WHEN.lazySet(this, when);
    }

    /** Under the lock: moves arrivals to nextWhen, where the deadline stays until all arrived timers are filed. */
    void passArrivals() {
        for (long a = inbox.arrivals(); a != Timeline.NEVER; a = inbox.arrivals()) {
            setNextWhen(Math.min(a, nextWhen)); // WG-D1
            if (inbox.clearArrivals(a)) {
                return;
            }
        }
    }

    /** The earliest deadline that has arrived since the last drain; NEVER if none. */
    public long arrivals() {
        return inbox.arrivals();
    }

    /** The report of a memory shortage, once; otherwise null. */
    public Throwable takeShortage() {
        return drainer.takeReport();
    }

    /** A racy hint: the earliest deadline from an instant on; that instant if very many deadlines are earlier. */
    public long earliestFrom(long from) {
        return entries.earliestFrom(from);
    }

    /** For a manual clock: the earliest deadline of an armed timer. */
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
     * The earliest deadline in the heap and the inbox. If it is not after {@code late}, drains and reads it again. NOT_OWNER
     * if another thread has the lock.
     */
    public long tryPeekLate(long late) {
        if (!lock.tryLock()) {
            return NOT_OWNER;
        }
        try {
            long told = Math.min(entries.topKey(), inbox.arrivals());
            if (told > late) {
                return told; // timers that are not late stay in the inbox, where a stop is cheap
            }
            drainer.drain();
            cleanDue(late); // otherwise a stopped or postponed timer would seem late
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
