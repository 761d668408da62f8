package io.pendula;

/** What the looks of a {@link Backstop} remember of one queue. */
final class OverdueNote {
    // Under the queue's lock.

    /** The inbox's head when its present pass began; */
    TimerNode head;
    /** where the next look goes on, or null if that begins a new pass; */
    TimerNode from;
    /** whether this pass has met an armed timer. */
    boolean anyArmed;
    /** The inbox's head when a pass met no armed timer, or null. */
    TimerNode settled;

    // Of the thread that looks.

    /** The worker that was seen asleep while something was overdue, or null; */
    Object sleeper;
    /** how many rounds it had made; */
    int progress;
    /** until when its gate said that it sleeps; */
    long until;
    /** and when that was. */
    long since;

    /** Lock held. The inbox is being emptied: its links are about to change. */
    void forgetInbox() {
        head = null;
        from = null;
        settled = null;
    }
}
