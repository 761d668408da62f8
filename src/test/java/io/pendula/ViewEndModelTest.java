package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.Interleavings.World;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How the shutdown of a view finds out that nothing waits, as ShutdownTracker has it, under every interleaving of its
 * steps with threads that submit, that end a task, and that run a periodic one. A task is lost if all threads have done
 * what they do and it waits, though the view is shut down. Variants must lose one: this shows that the search would find
 * it.
 */
@Tag("oracle")
class ViewEndModelTest {
    private enum Variant {
        AS_BUILT,
        /** The shutdown reads begun, then ended. */
        READS_BEGUN_FIRST,
        /** The shutdown sets phase when it has looked. */
        LOOKS_BEFORE_PHASE,
        /** A submitter counts its task when it has pushed it and looked at phase. */
        COUNTS_AFTER_THE_PUSH,
        /** The shutdown takes runs whose tasks are GONE. */
        TAKES_WHAT_IS_GONE,
        /** A thread counts the end of a task, then marks it as GONE. */
        COUNTS_BEFORE_GONE,
        /** The shutdown settles what runs at another look. */
        LOOKS_AGAIN
    }

    // The tasks: the periodic one, one that waits and is cancelled, two that are submitted meanwhile.
    private static final int PERIODIC = 0;
    private static final int CANCELLED = 1;
    private static final int TASKS = 4;
    /** Each sum is kept in two cells; a task begins in one and ends in the other. */
    private static final int CELLS = 2;

    // Variables.
    private static final int PHASE = 0;
    private static final int BEGUN = 1;
    private static final int OVER = BEGUN + CELLS;
    /** The task that the worker runs, and 1 added. */
    private static final int RUN = OVER + CELLS;
    private static final int WAITS = RUN + 1;
    private static final int GONE = WAITS + TASKS;
    private static final int VARIABLES = GONE + TASKS;

    private static final class Model extends World {
        private final Variant variant;

        Model(Variant variant) {
            super(VARIABLES, 5);
            this.variant = variant;
            for (int task : new int[] {PERIODIC, CANCELLED}) {
                v[BEGUN + task % CELLS]++;
                v[WAITS + task] = 1;
            }
            v[WAITS + PERIODIC] = 0;
            v[RUN] = 1 + PERIODIC; // its callback has returned
        }

        private Model(Model from) {
            super(from);
            variant = from.variant;
        }

        @Override
        World copy() {
            return new Model(this);
        }

        @Override
        void program(int number) {
            switch (number) {
                case 0 -> shutDown();
                case 1 -> endRun();
                case 2 -> refuse(CANCELLED);
                default -> submit(number - 1);
            }
        }

        private void submit(int task) {
            if (get(PHASE) != 0) {
                return;
            }
            if (variant != Variant.COUNTS_AFTER_THE_PUSH) {
                add(BEGUN + task % CELLS);
            }
            set(WAITS + task, 1);
            boolean late = get(PHASE) != 0;
            if (variant == Variant.COUNTS_AFTER_THE_PUSH) {
                add(BEGUN + task % CELLS);
            }
            if (late) {
                refuse(task);
            }
        }

        /** As refuse and cancel do: one thread alone has it. */
        private void refuse(int task) {
            if (cas(WAITS + task, 1, 0)) {
                gone(task);
            }
        }

        private void gone(int task) {
            if (variant == Variant.COUNTS_BEFORE_GONE) {
                add(OVER + (task + 1) % CELLS);
                set(GONE + task, 1);
            } else {
                set(GONE + task, 1);
                add(OVER + (task + 1) % CELLS);
            }
        }

        private void add(int cell) {
            access(() -> v[cell]++);
        }

        private int sum(int cells) {
            int sum = 0;
            for (int i = 0; i < CELLS; i++) {
                sum += get(cells + i);
            }
            return sum;
        }

        /** It is pushed again, and its run ends. */
        private void endRun() {
            set(WAITS + PERIODIC, 1);
            if (get(PHASE) != 0) {
                refuse(PERIODIC);
            }
            set(RUN, 0);
        }

        private void shutDown() {
            if (variant != Variant.LOOKS_BEFORE_PHASE) {
                set(PHASE, 1);
            }
            int begun = variant == Variant.READS_BEGUN_FIRST ? sum(BEGUN) : -1;
            int ended = sum(OVER);
            int run = get(RUN);
            boolean isTaken = run != 0 && (variant == Variant.TAKES_WHAT_IS_GONE || get(GONE + run - 1) == 0);
            begun = begun < 0 ? sum(BEGUN) : begun;
            if (variant == Variant.LOOKS_BEFORE_PHASE) {
                set(PHASE, 1);
            }
            if (ended + (isTaken ? 1 : 0) != begun) {
                for (int task = 0; task < TASKS; task++) {
                    refuse(task);
                }
                run = get(RUN);
            } else if (variant == Variant.LOOKS_AGAIN) {
                run = get(RUN);
            }
            if (run != 0) {
                refuse(run - 1);
            }
        }
    }

    private static final Predicate<World> LOSES = w -> {
        for (int task = 0; task < TASKS; task++) {
            if (w.v[WAITS + task] != 0) {
                return true;
            }
        }
        return false;
    };

    @ParameterizedTest
    @EnumSource
    void shutDown_whileOthersBeginAndEndTasks_losesOneOnlyIfTheProtocolIsBroken(Variant variant) {
        assertEquals(variant != Variant.AS_BUILT, Interleavings.endIn(new Model(variant), LOSES));
    }
}
