package io.pendula;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The tasks of a view, entered and crossed out at the same time. So many cells are empty already that each crossing out
 * unlinks some: those that are left tell whether a cell was lost.
 */
@SuppressWarnings("this-escape") // jcstress makes the states, and wants them not final
public class RosterRaces {

    /** A roster of three tasks among cells that have become empty. */
    abstract static class Tidying extends Rig {
        final Roster roster = new Roster();
        final Roster.Cell oldest = roster.enter(task());
        final Roster.Cell middle;
        final Roster.Cell newest;

        Tidying() {
            Roster.Cell[] empty = new Roster.Cell[Roster.EMPTY_FLOOR];
            for (int i = 0; i < Roster.EMPTY_FLOOR / 2; i++) {
                empty[i] = roster.enter(task());
            }
            middle = roster.enter(task());
            for (int i = Roster.EMPTY_FLOOR / 2; i < Roster.EMPTY_FLOOR; i++) {
                empty[i] = roster.enter(task());
            }
            newest = roster.enter(task());
            for (Roster.Cell cell : empty) {
                roster.crossOut(cell);
            }
        }

        final ScheduledTask<Void> task() {
            return new ScheduledTask<>(queue, this::fired, null, 0, false, false);
        }

        /** How many tasks a walk meets. */
        final int walk() {
            int[] met = {0};
            roster.forEach(t -> met[0]++);
            return met[0];
        }

        /** Nothing but the order of steps decides how many empty cells are left; there are never more than there were. */
        final int ofThemTasks() {
            return roster.cells() <= Roster.EMPTY_FLOOR + 5 ? walk() : -1;
        }
    }

    /** Two tasks are entered. */
    @JCStressTest
    @Outcome(id = "5", expect = ACCEPTABLE, desc = "Both are there.")
    @State
    public static class EnterVsEnter extends Tidying {
        @Actor
        public void first() {
            roster.enter(task());
        }

        @Actor
        public void second() {
            roster.enter(task());
        }

        @Arbiter
        public void arbiter(I_Result r) {
            r.r1 = ofThemTasks();
        }
    }

    /** A task is entered behind the newest cell, which becomes empty at this moment. */
    @JCStressTest
    @Outcome(id = "3", expect = ACCEPTABLE, desc = "The new one is there.")
    @State
    public static class EnterVsCrossOut extends Tidying {
        @Actor
        public void enter() {
            roster.enter(task());
        }

        @Actor
        public void crossOut() {
            roster.crossOut(newest);
        }

        @Arbiter
        public void arbiter(I_Result r) {
            r.r1 = ofThemTasks();
        }
    }

    /** Two tasks end. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The third is there.")
    @State
    public static class CrossOutVsCrossOut extends Tidying {
        @Actor
        public void first() {
            roster.crossOut(middle);
        }

        @Actor
        public void second() {
            roster.crossOut(newest);
        }

        @Arbiter
        public void arbiter(I_Result r) {
            r.r1 = ofThemTasks();
        }
    }

    /** A shutdown walks while one task ends and another is entered: it meets at least those that stay. */
    @JCStressTest
    @Outcome(id = "2, 3", expect = ACCEPTABLE, desc = "Those that stay.")
    @Outcome(id = "3, 3", expect = ACCEPTABLE, desc = "And one of the other two.")
    @Outcome(id = "4, 3", expect = ACCEPTABLE, desc = "And both.")
    @State
    public static class WalkVsEnterThenCrossOut extends Tidying {
        @Actor
        public void walk(II_Result r) {
            r.r1 = walk();
        }

        @Actor
        public void enterThenCrossOut() {
            roster.enter(task());
            roster.crossOut(middle);
        }

        @Arbiter
        public void arbiter(II_Result r) {
            r.r2 = ofThemTasks();
        }
    }
}
