package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.state;

import io.pendula.internal.queue.TimerHeap.Chunk;
import java.util.function.Consumer;

/** One walk through all entries of a queue, in slices: other threads have the lock in between, and entries move. */
final class EntryWalk {
    /*
     * Each timer that is filed when the walk begins, and stays filed until it ends, is shown.
     *
     * The walk goes through the fifo first, in the order of (key, number). An entry keeps both as long as it is there, so
     * what is added, taken out or moved up by a sweep does not matter. One that goes from the fifo to the heap meanwhile
     * is met there, or was shown before.
     *
     * Then it goes through the heap, from the last entry to the top; what lies from the hand on has been visited. The
     * last entry takes the place of one that is removed. It has been visited, or it comes to a place that will be. The
     * entries that rise then come nearer to the top. So an entry passes the hand unseen in two ways: another one rises
     * and sends its ancestors down a step each, or the top gets a later key and sinks. EntryQueue shows each such entry
     * before it moves.
     *
     * For want of memory an entry may be taken out and its timer parked. It is shown when it is filed again, as all is
     * that is filed meanwhile, or by the last look at what is parked.
     */

    private final TimerHeap heap;
    private final Consumer<TimerNode> look;
    /** The last entry of the fifo that was visited. */
    private long key = Long.MIN_VALUE;
    private int seq;
    /** Where in the fifo it was, or null. */
    Chunk chunk;
    /** Of the heap's entries those from this one on have been visited. */
    private int hand = Integer.MAX_VALUE;
    /** What a look has thrown. */
    private Throwable failure;

    EntryWalk(TimerHeap heap, Consumer<TimerNode> look) {
        this.heap = heap;
        this.look = look;
    }

    // ---- all under the queue's lock ----

    /** Visits so many entries of the heap at most, and returns how many. */
    int goOnInHeap(int most) {
        hand = Math.min(hand, heap.size());
        int visited = 0;
        for (; hand > 0 && visited < most; visited++) {
            hand--;
            visit(heap.node(hand), heap.seq(hand));
        }
        return visited;
    }

    /** Else it is in the fifo. */
    boolean isInHeap() {
        return hand < Integer.MAX_VALUE;
    }

    boolean isOver() {
        return hand == 0 || failure != null;
    }

    /** Whether an entry of the fifo has not been visited. */
    boolean isAhead(Chunk c, int i) {
        return c.keys[i] > key || c.keys[i] == key && c.seqs[i] - seq > 0;
    }

    /** Whether all entries before this chunk have been visited. One that is out of use is empty. */
    boolean hasPassed(Chunk c) {
        return c != null && c.from < c.to && !isAhead(c, c.from);
    }

    void visitInFifo(Chunk c, int i) {
        key = c.keys[i];
        seq = c.seqs[i];
        visit(c.nodes[i], seq);
    }

    private void visit(TimerNode node, int entrySeq) {
        if (node.entry == entrySeq) {
            show(node);
        }
    }

    /** An entry is about to rise from this place of the heap: of those above it one may come down across the hand. */
    void beforeRise(int place) {
        int i = place;
        while (i >= hand) {
            i = TimerHeap.parent(i);
        }
        if (i != place && i >= 0) {
            show(heap.node(i));
        }
    }

    /** By any thread that changes the entries, so a failure is for the thread that walks. */
    void show(TimerNode t) {
        try {
            if (isArmed(state(t.wordVolatile()))) {
                look.accept(t);
            }
        } catch (Throwable e) {
            failure = e;
        }
    }

    /** An Error or a RuntimeException, as a look throws nothing else. */
    void throwFailure() {
        if (failure instanceof Error e) {
            throw e;
        } else if (failure != null) {
            throw (RuntimeException) failure;
        }
    }
}
