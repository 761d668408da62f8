package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isQueued;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.function.Predicate;

/**
 * A walk over the armed timers of a queue, for people and for a shutdown. It holds the lock for {@link #CHUNK} entries at
 * a time, so that no operation waits for long. Entries that move between two holds would be missed, or met twice.
 */
final class PendingWalk {
    private static final int CHUNK = 1024;
    /** So often the walk of a queue is begun. The last time it goes on whatever moves, or lets nothing move. */
    private static final int TRIES = 4;

    private final HoldLock lock;
    private final Intake intake;
    private final Entries entries;
    private final Compactor compactor;

    PendingWalk(HoldLock lock, Intake intake, Entries entries, Compactor compactor) {
        this.lock = lock;
        this.intake = intake;
        this.entries = entries;
        this.compactor = compactor;
    }

    /**
     * Hands each armed timer to {@code look}, which is called under the lock, until it says no. Begins anew if entries
     * have moved between two holds, after {@code forget}; but not for ever, as timers may fire all the time.
     *
     * @param exact whether the last attempt is one hold, however long, so that it misses nothing
     * @return false if {@code look} said no
     */
    boolean forEach(Predicate<TimerNode> look, Runnable forget, boolean exact) {
        lock.lock();
        try {
            for (int tries = TRIES; ; tries--) {
                intake.drainFully();
                Boolean all = walk(look, tries > 1, exact && tries == 1);
                if (all != null) {
                    return all;
                }
                forget.run();
                lock.giveWay();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Null if entries have moved, and that matters. */
    private Boolean walk(Predicate<TimerNode> look, boolean mayBeginAnew, boolean inOneHold) {
        boolean[] goesOn = {true};
        intake.forEach(t -> { // not in slices: what is in these lines is due now
            int s = state(t.wordVolatile());
            goesOn[0] = goesOn[0] && (!isQueued(s) || !isArmed(s) || look.test(t));
        });
        int size = entries.size();
        int seq = entries.nextSeq();
        for (int i = 0; goesOn[0] && i < entries.size(); ) {
            if (!inOneHold) {
                lock.giveWay();
            }
            if (mayBeginAnew && (entries.size() != size || entries.nextSeq() != seq)) { // what moves or comes takes a number
                return null;
            }
            int end = Math.min(entries.size(), i + CHUNK);
            if (!inOneHold) {
                lock.visit(Math.max(0, end - i));
            }
            while (goesOn[0] && i < end) {
                goesOn[0] = !isLive(i) || look.test(entries.node(i));
                i++;
            }
        }
        return goesOn[0];
    }

    /** Reads only: to drop what is stale is for others. */
    private boolean isLive(int i) {
        TimerNode t = entries.node(i);
        return compactor.isLive(t, entries.seq(i), t.wordVolatile());
    }
}
