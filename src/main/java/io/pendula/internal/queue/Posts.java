package io.pendula.internal.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The timers that resets are about to arm: those that they push to an inbox, whose words may say that they are in it
 * already, and those that run. A reset enters its timer before it changes the word, and takes it out after the push, so
 * that a closing thread finds it.
 */
final class Posts {
    /*
     * The first threads that come have a cell each, which no other thread writes, so entering is one store. More
     * threads share some slots by CAS, and if as many are suspended inside a reset, a list.
     */
    private static final int CELLS = 8;
    private static final int SHARED = 8;
    private static final int LISTED = CELLS + SHARED;

    private static final VarHandle OWNER;
    private static final VarHandle POSTED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            OWNER = lookup.findVarHandle(Cell.class, "owner", long.class);
            POSTED = lookup.findVarHandle(Cell.class, "posted", TimerNode.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** 128 bytes, so that two cells never share a cache line, wherever the objects begin. */
    @SuppressWarnings("unused") // padding; through VarHandles
    private static final class Cell {
        /** A thread's id, or 0. Final once set; a thread that has ended keeps its cell. */
        private long owner;
        private TimerNode posted;
        private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12;
    }

    private final Cell[] cells = new Cell[CELLS];
    private final AtomicReferenceArray<TimerNode> shared = new AtomicReferenceArray<>(SHARED);
    private final ConcurrentLinkedQueue<TimerNode> listed = new ConcurrentLinkedQueue<>();

    Posts() {
        for (int i = 0; i < CELLS; i++) {
            cells[i] = new Cell();
        }
    }

    /**
     * Returns where it is. The entry is volatile: the thread reads closed after it, and a closing thread writes closed,
     * then looks here, so one of the two sees the other.
     */
    int enter(TimerNode t) {
        long id = Thread.currentThread().getId();
        for (int i = 0; i < CELLS; i++) {
            int n = (int) id + i & CELLS - 1;
            Cell c = cells[n];
            long owner = (long) OWNER.getOpaque(c);
            if (owner == id || owner == 0 && OWNER.compareAndSet(c, 0, id)) {
                if (c.posted != null) {
                    break; // of an outer reset of this thread
                }
                POSTED.setVolatile(c, t);
                return n;
            }
        }
        for (int i = 0; i < SHARED; i++) {
            if (shared.compareAndSet(i, null, t)) {
                return CELLS + i;
            }
        }
        listed.add(t);
        return LISTED;
    }

    /** After the push. */
    void leave(int place, TimerNode t) {
        if (place < CELLS) {
            POSTED.setRelease(cells[place], null);
        } else if (place < LISTED) {
            shared.setRelease(place - CELLS, null);
        } else {
            listed.remove(t);
        }
    }

    /** Takes out what the test accepts, which the thread that has entered it has left here. */
    void takeIf(Predicate<TimerNode> test) {
        for (Cell c : cells) {
            TimerNode t = (TimerNode) POSTED.getVolatile(c);
            if (t != null && test.test(t)) {
                POSTED.setRelease(c, null); // its thread does not write the cell before
            }
        }
        for (int i = 0; i < SHARED; i++) {
            TimerNode t = shared.get(i);
            if (t != null && test.test(t)) {
                shared.setRelease(i, null);
            }
        }
        listed.removeIf(test);
    }

    void forEach(Consumer<TimerNode> look) {
        for (Cell c : cells) {
            lookAt((TimerNode) POSTED.getVolatile(c), look);
        }
        for (int i = 0; i < SHARED; i++) {
            lookAt(shared.get(i), look);
        }
        listed.forEach(look);
    }

    private static void lookAt(TimerNode t, Consumer<TimerNode> look) {
        if (t != null) {
            look.accept(t);
        }
    }
}
