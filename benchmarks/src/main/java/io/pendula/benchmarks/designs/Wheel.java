package io.pendula.benchmarks.designs;

/**
 * What wheels have in common: time goes in ticks, and a timer waits in the slot of the tick at which it fires. A
 * deadline is rounded up to the end of a tick, so a timer fires up to a tick late and never early.
 */
abstract class Wheel extends LockedQueue<Wheel.Entry> {
    /** A timer, which knows its neighbours in its ring. Its deadline is in ticks. */
    static final class Entry extends Node {
        private Entry previous;
        /** Null if the timer is in no ring. */
        private Entry next;

        Entry(Runnable task, long when) {
            super(task, when);
        }

        private void unlink() {
            previous.next = next;
            next.previous = previous;
            previous = null;
            next = null;
        }
    }

    /** The timers of a slot, in the order of their insertion. */
    static final class Ring {
        private final Entry head = new Entry(null, 0);

        Ring() {
            head.previous = head;
            head.next = head;
        }

        boolean isEmpty() {
            return head.next == head;
        }

        void append(Entry node) {
            node.previous = head.previous;
            node.next = head;
            head.previous.next = node;
            head.previous = node;
        }

        /** Takes out the first; null if there is none. */
        Entry poll() {
            if (isEmpty()) {
                return null;
            }
            Entry first = head.next;
            first.unlink();
            return first;
        }

        /** Moves the timers that fire at a tick, or have to fire before it, to the end of another ring. */
        void moveTo(Ring other, long tick) {
            for (Entry node = head.next; node != head; ) {
                Entry following = node.next;
                if (node.when <= tick) {
                    node.unlink();
                    other.append(node);
                }
                node = following;
            }
        }
    }

    private final long tickNanos;
    private final Ring due = new Ring();
    private long current;

    /** @param current the tick with which time begins */
    Wheel(long tickNanos, long current) {
        super(Sleeper.PARKING);
        this.tickNanos = tickNanos;
        this.current = current;
    }

    /** Puts a timer into the slot of its tick, which is later than the current one, or is the current one in a turn. */
    abstract void place(Entry node);

    /** Moves the timers of the current tick, which has just been reached, to the given ring. */
    abstract void turn(Ring due);

    final long current() {
        return current;
    }

    @Override
    final Entry newNode(Runnable task, long when) {
        return new Entry(task, when);
    }

    @Override
    final long insert(Entry node) {
        long tick = node.when / tickNanos + (node.when % tickNanos == 0 ? 0 : 1);
        node.when = Math.max(tick, current + 1);
        place(node);
        return Clock.NEVER; // the thread gets up at each tick anyway
    }

    @Override
    final boolean remove(Entry node) {
        if (node.next == null) {
            return false;
        }
        node.unlink();
        return true;
    }

    @Override
    final Entry pollDue(long now) {
        while (due.isEmpty() && current < now / tickNanos) {
            current++;
            turn(due);
        }
        return due.poll();
    }

    @Override
    final long next() {
        return due.isEmpty() ? (current + 1) * tickNanos : 0;
    }
}
