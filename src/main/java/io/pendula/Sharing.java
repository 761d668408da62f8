package io.pendula;

/** Tells a worker whether it should share due timers with others: whether to call for help, and how long to help. */
final class Sharing {
    /*
     * Two workers that run short callbacks of one queue wait for each other, at its lock and for its memory. From
     * which length on two are faster than one depends on what the callbacks do and on the machine, so it is measured.
     *
     * Each worker, as poller, notes what a timer takes while no other worker is up. One that helps counts its own
     * callbacks and the poller's. If both together have run hardly more than the poller would have alone, the helper
     * goes to sleep as the guard does, and tries again at its next look. If there are several helpers, each decides for
     * itself, so some leave and the others stay.
     */

    /** Workers that run longer callbacks of one queue do not wait for each other. */
    static final long LONG_NANOS = 5_000;
    /** After so many callbacks a worker looks what they have taken. */
    static final int WINDOW = 32;
    /** What a timer takes the poller alone is believed for so long. Then a helper leaves, so that it is measured. */
    static final long VALID_NANOS = 1_000_000_000;
    /** The poller calls nobody for so long after a helper has left. */
    static final long PAUSE_NANOS = 2_000_000;
    /** A worker that runs a timer so much later than its deadline has more to do than it can. */
    private static final long BEHIND_NANOS = 300_000;
    /** The same if callbacks take long: about what it takes to wake another worker. */
    private static final long LONG_BEHIND_NANOS = 20_000;

    // Written by the worker as poller. Helpers read them as a hint, and may see an old one beside a new one.
    /** What a timer takes alone, on average; 0 if unknown. */
    private volatile long alone;
    private volatile long aloneAt;
    /** Written by helpers that leave: before this instant no other is of use. */
    private volatile long helpFrom = Long.MIN_VALUE;

    // Of the worker's thread alone.
    /** As poller: its callbacks have taken long of late. */
    private boolean areLong;
    private boolean hasCalled;
    /** As helper: when the present window began; 0 if none has. */
    private long windowBegan;
    private int ownBefore;
    private int pollersBefore;
    /** By queue: what was seen of its worker's pulse. */
    private final int[] seen;

    Sharing(int workers) {
        this.seen = new int[workers];
    }

    void wokeUp() {
        hasCalled = false;
        windowBegan = 0;
    }

    // ---- the poller ----

    /** The last callbacks took so long. */
    void ran(int callbacks, long nanos) {
        areLong = nanos > callbacks * LONG_NANOS;
    }

    /** And no other worker was up. */
    void ranAlone(int callbacks, long nanos, long now) {
        long each = Math.max(1, nanos / callbacks);
        long a = alone;
        // One reading counts as twice the average at most: the thread may have lost its processor.
        alone = a == 0 ? each : a + (Math.min(each, 2 * a) - a) / 4;
        aloneAt = now;
    }

    boolean areLong() {
        return areLong;
    }

    /** Before a callback that is so late: whether to call for help. Once, and again and again if callbacks take long. */
    boolean needsHelp(long lateness, long now) {
        return (!hasCalled || areLong) && lateness > (areLong ? LONG_BEHIND_NANOS : BEHIND_NANOS)
                && now >= helpFrom; // waits for a helper that is in the way look like long callbacks
    }

    void called() {
        hasCalled = true;
    }

    // ---- all ----

    /** Whether the worker of a queue, which has this pulse, has run something since the last look. */
    boolean hasGotOn(int queue, int pulse) {
        boolean is = seen[queue] != pulse;
        seen[queue] = pulse;
        return is;
    }

    // ---- a helper ----

    /**
     * Whether to go on.
     *
     * @param poller of whom this one helps
     * @param own how many callbacks it has run since it woke up
     * @param pollers the poller's pulse: twice as many as it has run, counted from anywhere; odd while it runs one
     */
    boolean pays(Sharing poller, int own, int pollers, long now) {
        int mine = own - ownBefore;
        boolean isFirst = windowBegan == 0;
        if (!isFirst && mine < WINDOW) {
            return true;
        }
        long nanos = now - windowBegan;
        int others = pollers - pollersBefore >>> 1;
        windowBegan = now;
        ownBefore = own;
        pollersBefore = pollers;
        boolean pays = isFirst || nanos > mine * LONG_NANOS
                || others < mine >> 2 && (pollers & 1) != 0 // the poller is in a long callback
                || now - poller.aloneAt <= VALID_NANOS && isMore(mine + others, nanos, poller.alone);
        if (!pays) {
            poller.helpFrom = now + PAUSE_NANOS;
        }
        return pays;
    }

    /** Whether so many callbacks in that time are an eighth more than one worker would have run. */
    private static boolean isMore(int callbacks, long nanos, long each) {
        return callbacks * each > nanos + (nanos >> 3);
    }
}
