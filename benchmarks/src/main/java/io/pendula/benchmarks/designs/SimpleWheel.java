package io.pendula.benchmarks.designs;

/**
 * A simple timing wheel: 65,536 slots, and in each the timers of all ticks that are equal modulo that number. It is
 * sized for a million timers, as Netty's wheel is here.
 *
 * <p>Costs: arming and stopping are O(1) under a short lock. Each tick wakes the thread, also if nothing is due, and
 * looks at all timers of its slot, also at those of later rounds. A timer fires up to a tick late, and timers of one
 * tick fire in the order of arming, whatever their exact deadlines. Equal deadlines thus keep their order.
 *
 * <p>Pendula has no tick: it sleeps until the next deadline, and fires in the order of the deadlines.
 */
final class SimpleWheel extends Wheel {
    private static final int SLOTS = 1 << 16;

    private final Ring[] slots = new Ring[SLOTS];

    SimpleWheel(long tickNanos) {
        this(tickNanos, Clock.now() / tickNanos);
    }

    SimpleWheel(long tickNanos, long current) {
        super(tickNanos, current);
    }

    @Override
    void place(Entry node) {
        int slot = (int) node.when & SLOTS - 1;
        if (slots[slot] == null) {
            slots[slot] = new Ring();
        }
        slots[slot].append(node);
    }

    @Override
    void turn(Ring due) {
        Ring slot = slots[(int) current() & SLOTS - 1];
        if (slot != null) {
            slot.moveTo(due, current());
        }
    }
}
