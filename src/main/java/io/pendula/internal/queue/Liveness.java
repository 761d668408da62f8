package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerState.WAITING;
import static io.pendula.internal.queue.TimerState.DELETED;
import static io.pendula.internal.queue.TimerState.MODIFIED_LATER;
import static io.pendula.internal.queue.TimerState.deadline;
import static io.pendula.internal.queue.TimerState.isPlaced;
import static io.pendula.internal.queue.TimerState.state;

/**
 * Tells which entries of a queue are live: belong to an armed timer that waits for just them (ground rules 1 and 2 of
 * the package). Guarded by the queue's lock.
 */
final class Liveness {
    private final Entries entries;
    /** With a manual clock: resets take part in the order of arming among equal deadlines. */
    private final boolean keepOrder;
    /** A sweep elects one of several entries that may be the live one of their timer. */
    boolean thorough;

    Liveness(Entries entries, boolean keepOrder) {
        this.entries = entries;
        this.keepOrder = keepOrder;
    }

    /** Whether the top entry is what its timer, whose word is {@code w}, waits for. */
    boolean isTopLive(TimerNode top, long w) {
        return state(w) == WAITING && isInPlace(top, entries.topKey(), entries.topNumber(), w);
    }

    /** Re-keys or drops a top entry that is not live under its key; true if it was dropped. */
    boolean cleanTop() {
        int top = entries.topNumber();
        TimerNode t = entries.node(top);
        long w = t.wordVolatile();
        if (state(w) == MODIFIED_LATER && isInPlace(top, w)) {
            if (!entries.ensureRoomToRekey(deadline(w))) {
                entries.delayTop();
                return false;
            }
            Place place = t.next instanceof Place p ? p : null; // before the CAS: after it a reset may push the timer
            if (t.tryFile(w)) {
                if (place != null) {
                    place.seq = entries.nextSeq();
                }
                entries.rekeyTop(deadline(w));
            }
            return false;
        }
        if (isStale(top)) {
            entries.pop();
            return true;
        }
        return false;
    }

    /** Whether entry {@code i} belongs to no armed timer; lets a deleted timer go. */
    boolean isStale(int i) {
        return isStale(entries.node(i), entries.key(i), i);
    }

    /** The same, of entry {@code i} with this timer and this key. Most of a sweep's time passes here. */
    boolean isStale(TimerNode t, long key, int i) {
        for (;;) {
            long w = t.wordVolatile();
            switch (state(w)) {
                case WAITING:
                case MODIFIED_LATER:
                    if (!isInPlace(t, key, i, w)) {
                        return true;
                    }
                    if (thorough && isPlaced(w)) {
                        elect(i);
                    }
                    return false;
                case DELETED:
                    if (t.tryLetGo(w)) {
                        return true;
                    }
                    break;
                default:
                    return true;
            }
        }
    }

    boolean isInPlace(int i, long w) {
        return isInPlace(entries.node(i), entries.key(i), i, w);
    }

    /**
     * Whether an entry is, or may be, the live one of its timer, which the word {@code w} says is filed. A link that
     * holds another timer says that a reset has brought this one forward since the word was read.
     */
    private boolean isInPlace(TimerNode t, long key, int i, long w) {
        if (!isPlaced(w)) {
            assert fits(deadline(w) - key, w);
            return true;
        }
        TimerNode link = t.next;
        return link == null ? !keepOrder && fits(deadline(w) - key, w) : link instanceof Place p && p.seq == entries.seq(i);
    }

    /** {@code later}: by how much the deadline is later than the key. */
    private static boolean fits(long later, long w) {
        return state(w) == WAITING ? later == 0 : later >= 0;
    }

    /**
     * Makes an entry that may be the live one of its timer the only one that is. By a CAS from null, as a reset may bring
     * the timer forward at this moment: it writes the link, never null, before its push, and from then on this fails.
     */
    private void elect(int i) {
        TimerNode t = entries.node(i);
        if (t.next == null) {
            try {
                Place.elect(t, entries.seq(i));
            } catch (OutOfMemoryError e) {
                return; // the entries stay alike
            }
        }
    }
}
