package io.pendula;

/**
 * Tells which heap entry of a timer is the live one, by the entry's sequence number. Only a timer that has left an entry
 * behind may have one; it hangs on the link, which is not needed while the timer is filed, and is a node for that reason
 * alone. Guarded by the queue's lock.
 */
final class Place extends TimerNode {
    int seq;

    Place() {
        super(null, null);
    }
}
