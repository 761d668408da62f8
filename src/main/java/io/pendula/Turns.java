package io.pendula;

/**
 * Deals the threads that arm timers out over the queues of a scheduler: each thread gets a number at its first use and
 * keeps it.
 *
 * <p>Numbers are consecutive, so threads are spread evenly whatever their ids are. A thread is known by a hash of its
 * id: two threads whose hashes are equal share a number, which skews the spread a little and costs nothing else. When
 * all slots are taken, which of the numbers a new thread gets depends on the hash alone.
 *
 * <p>A number never changes, so that all that one thread arms goes to one queue: timers with equal deadlines
 * run in the order in which the thread armed them.
 */
final class Turns {
    /** So many that among some dozens of threads hardly two share a slot. */
    static final int SLOTS = 1024;
    private static final int SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(SLOTS);

    /** A slot's number plus 1, or 0. Plain: written once, under this; a thread that reads 0 looks again under this. */
    private final int[] numbers = new int[SLOTS];
    private int dealt;

    /** The number of a thread, in [0, SLOTS). */
    int of(long threadId) {
        int slot = slot(threadId);
        int number = numbers[slot];
        return (number != 0 ? number : deal(slot)) - 1;
    }

    private synchronized int deal(int slot) {
        if (numbers[slot] == 0) {
            numbers[slot] = ++dealt;
        }
        return numbers[slot];
    }

    /** One multiplication would keep a stride of the ids visible, and a full table would deal it to few queues. */
    private static int slot(long id) {
        long h = id * 0x9E3779B97F4A7C15L;
        return (int) ((h ^ h >>> 32) * 0xD6E8FEB86659FD93L >>> SHIFT);
    }
}
