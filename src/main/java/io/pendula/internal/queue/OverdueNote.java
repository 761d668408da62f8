package io.pendula.internal.queue;

/** What the looks of a {@link Backstop} remember of one queue. */
public final class OverdueNote {
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
    public Object sleeper;
    /** how many rounds it had made; */
    public int progress;
    /** until when its gate said that it sleeps; */
    public long until;
    /** and when that was. */
    public long since;

    /** Lock held. The inbox is being emptied: its links are about to change. */
    void forgetInbox() {
        head = null;
        from = null;
        settled = null;
    }
}
