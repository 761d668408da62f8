package io.pendula;

import io.pendula.internal.queue.Padded;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The live tasks of a view, so that its shutdown finds them without a look at the timers of others. Entering a task and
 * crossing it out never block, and each costs a few steps, however many tasks there are.
 */
final class Roster extends Padded {
    /*
     * Overview
     *
     * A stack of cells, each of which holds a task. Entering pushes a cell; crossing out empties the task's cell, so
     * the task is unreachable from here at once. An empty cell is unlinked later, by a cursor that each crossing out
     * moves on by STEPS cells: where one cell in STEPS is empty, that unlinks one for each that becomes empty, so at
     * most about that part of the cells is empty.
     *
     * Pushers write head, and the link of a cell that is not published yet. All other links, and the cursor, belong to
     * the holder of the lock, which never unlinks the newest cell: a pusher may be about to link to it. A thread that
     * does not get the lock leaves the work to the next; a walk waits for it.
     *
     * A walk meets every task that was entered before it began and is not crossed out.
     */

    /** So few empty cells are not worth the work. */
    static final int EMPTY_FLOOR = 64;
    /** How many cells the cursor visits when one more has become empty. */
    static final int STEPS = 8;

    private static final VarHandle HEAD;
    private static final VarHandle EMPTY;
    /** Of a task. Here, so that a pool, whose tasks have no cells, does not load their class. */
    private static final VarHandle CELL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(Roster.class, "head", Cell.class);
            EMPTY = lookup.findVarHandle(Roster.class, "empty", int.class);
            CELL = lookup.findVarHandle(ScheduledTask.class, "cell", Cell.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The place of one task. */
    static final class Cell {
        private volatile ScheduledTask<?> task;
        private Cell next;

        Cell(ScheduledTask<?> task) {
            this.task = task;
        }
    }

    @SuppressWarnings("unused") // through HEAD
    private volatile Cell head;
    @SuppressWarnings("unused") // through EMPTY
    private volatile int empty;
    private final ReentrantLock lock = new ReentrantLock();
    /** Under the lock: the cell after this is visited next; null for the newest one. */
    private Cell cursor;

    /** Enters a task that has not been submitted yet; the cell is for {@link #crossOut}. */
    Cell enter(ScheduledTask<?> task) {
        Cell cell = new Cell(task);
        Cell h;
        do {
            h = head;
            cell.next = h; // plain: published by the CAS
        } while (!HEAD.compareAndSet(this, h, cell));
        return cell;
    }

    /** The task's cell, once; null the next time. */
    static Cell takeCell(ScheduledTask<?> task) {
        return (Cell) CELL.getAndSet(task, null);
    }

    /** Once for each cell. */
    void crossOut(Cell cell) {
        cell.task = null;
        if ((int) EMPTY.getAndAdd(this, 1) >= EMPTY_FLOOR && lock.tryLock()) {
            try {
                tidy();
            } finally {
                lock.unlock();
            }
        }
    }

    private void tidy() {
        Cell at = cursor == null ? head : cursor;
        int dropped = 0;
        for (int visits = STEPS; visits > 0 && at != null; visits--) {
            Cell next = at.next;
            if (next != null && next.task == null) {
                at.next = next.next;
                next.next = null; // or an ended task that the user keeps would keep all older cells
                dropped++;
            } else {
                at = next;
            }
        }
        cursor = at;
        if (dropped > 0) {
            EMPTY.getAndAdd(this, -dropped);
        }
    }

    void forEach(Consumer<? super ScheduledTask<?>> look) {
        lock.lock();
        try {
            for (Cell c = head; c != null; c = c.next) {
                ScheduledTask<?> t = c.task;
                if (t != null) {
                    look.accept(t);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** How many cells there are, empty ones too. */
    int cells() {
        lock.lock();
        try {
            int n = 0;
            for (Cell c = head; c != null; c = c.next) {
                n++;
            }
            return n;
        } finally {
            lock.unlock();
        }
    }
}
