package io.pendula.internal.queue;

/**
 * Tells which heap entry of a timer is the live one, by the entry's sequence number. Only a timer that has left an entry
 * behind may have one; it hangs on the link, which is not needed while the timer is filed, and is a node for that reason
 * alone. Guarded by the queue's lock.
 */
final class Place extends TimerNode {
    int seq;

    Place() {
        super(null);
    }

    // Here, so that the JVM's verifier does not load this class before it is needed.

    /** The entry with this number is the live one. Before the CAS of the word: after it a reset may push the timer. */
    void hangOn(TimerNode t, int number) {
        seq = number;
        t.next = this;
    }

    /** The same by a CAS from null: nothing if a reset is bringing the timer forward. */
    static void elect(TimerNode t, int number) {
        Place p = new Place();
        p.seq = number;
        t.linkIfUnlinked(p);
    }
}
