package io.pendula.benchmarks.designs;

import java.util.Arrays;

/**
 * The hierarchical wheel of skynet, and of Linux before 4.8: 256 slots for the ticks that come next, and four levels
 * of 64 slots, each of which stands for as many ticks as the whole level below. When time reaches such a slot, its
 * timers cascade: they are distributed over the level below.
 *
 * <p>The level of a timer follows from the highest digit in which its tick differs from the current one, as in skynet.
 * All timers of one tick are then in one slot at any time, and keep the order of arming through all cascades. (Linux
 * looked at the distance instead, and may put a later one of two timers of the same tick into a lower level, before
 * the other.) What differs even above the last level waits in a ring of its own, so deadlines have no limit.
 *
 * <p>Costs: arming and stopping are O(1) under a short lock, a cascade moves each timer at most five times, but moves
 * the timers of a whole slot in one hold of the lock. Each tick wakes the thread. A timer fires up to a tick late.
 *
 * <p>Pendula has no tick and no cascade; its bound on the length of a hold is an explicit one.
 */
final class HierarchicalWheel extends Wheel {
    private static final int NEAR_BITS = 8;
    private static final int LEVEL_BITS = 6;
    private static final int LEVELS = 4;

    private final Ring[] near = rings(1 << NEAR_BITS);
    private final Ring[][] levels = new Ring[LEVELS][];
    private final Ring beyond = new Ring();

    HierarchicalWheel(long tickNanos) {
        this(tickNanos, Clock.now() / tickNanos);
    }

    HierarchicalWheel(long tickNanos, long current) {
        super(tickNanos, current);
        Arrays.setAll(levels, i -> rings(1 << LEVEL_BITS));
    }

    private static Ring[] rings(int count) {
        Ring[] rings = new Ring[count];
        Arrays.setAll(rings, i -> new Ring());
        return rings;
    }

    @Override
    void place(Entry node) {
        long differing = node.when ^ current();
        int shift = NEAR_BITS;
        if (differing >>> shift == 0) {
            near[digit(node.when, 0, NEAR_BITS)].append(node);
            return;
        }
        for (Ring[] level : levels) {
            if (differing >>> shift + LEVEL_BITS == 0) {
                level[digit(node.when, shift, LEVEL_BITS)].append(node);
                return;
            }
            shift += LEVEL_BITS;
        }
        beyond.append(node);
    }

    @Override
    void turn(Ring due) {
        if (digit(current(), 0, NEAR_BITS) == 0) {
            cascade();
        }
        near[digit(current(), 0, NEAR_BITS)].moveTo(due, current());
    }

    private void cascade() {
        int shift = NEAR_BITS;
        for (Ring[] level : levels) {
            int slot = digit(current(), shift, LEVEL_BITS);
            if (slot != 0) {
                distribute(level[slot]);
                return;
            }
            shift += LEVEL_BITS;
        }
        distribute(beyond);
    }

    private void distribute(Ring slot) {
        Ring moved = new Ring(); // as some of those beyond stay where they are
        slot.moveTo(moved, Clock.NEVER);
        for (Entry node = moved.poll(); node != null; node = moved.poll()) {
            place(node);
        }
    }

    private static int digit(long tick, int shift, int bits) {
        return (int) (tick >>> shift) & (1 << bits) - 1;
    }
}
