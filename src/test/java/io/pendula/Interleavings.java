package io.pendula;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * Every interleaving of some threads whose programs are plain code. One step is one access of a shared variable. What a
 * thread is about to do follows from what it has seen since its round began, so that is its state: to make a step its
 * program is replayed until there is something new to see.
 */
final class Interleavings {
    private Interleavings() {}

    /** The thread has made its step, or cannot make one. */
    private static final class Pause extends RuntimeException {
        private static final long serialVersionUID = 1;

        Pause() {
            super(null, null, false, false);
        }
    }

    private static final Pause PAUSE = new Pause();
    private static final byte[] NOTHING = {};

    private record Key(byte[] bytes, int hash) {
        @Override
        public boolean equals(Object o) {
            return o instanceof Key k && Arrays.equals(bytes, k.bytes);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    /** One state of the whole: the shared variables, and what each thread has seen. Steps change it. */
    abstract static class World {
        static final int ENDED = -1;

        final byte[] v;
        /** Where each thread's program is: 0 at the start, then what it says. */
        final byte[] round;
        private final byte[][] seen;

        // The step under way.
        int thread;
        private int choice;
        private boolean chose;
        private int at;
        private boolean done;

        World(int variables, int threads) {
            v = new byte[variables];
            round = new byte[threads];
            seen = new byte[threads][];
            Arrays.fill(seen, NOTHING);
        }

        World(World from) {
            v = from.v.clone();
            round = from.round.clone();
            seen = from.seen.clone();
        }

        abstract World copy();

        /** One round of a thread; it has ended if this returns. Changes nothing but through the methods below. */
        abstract void program(int number);

        private Key key() {
            byte[] all = Arrays.copyOf(v, v.length + Arrays.stream(seen).mapToInt(s -> s.length + 2).sum());
            int i = v.length;
            for (int t = 0; t < seen.length; t++) {
                all[i++] = round[t];
                all[i++] = (byte) seen[t].length;
                System.arraycopy(seen[t], 0, all, i, seen[t].length);
                i += seen[t].length;
            }
            return new Key(all, Arrays.hashCode(all));
        }

        /** False if the thread cannot go on. */
        private boolean step(int number, int chosen) {
            thread = number;
            choice = chosen;
            at = 0;
            try {
                program(number);
                forget(ENDED);
            } catch (Pause p) {
                return done;
            }
            return done;
        }

        final int access(IntSupplier step) {
            begin();
            boolean fresh = at == seen[thread].length;
            int result = moving(step);
            done |= fresh;
            return result;
        }

        /** Part of the step that is under way, or else of the next, as no other thread can tell. */
        final int moving(IntSupplier step) {
            if (at < seen[thread].length) {
                return seen[thread][at++];
            }
            int result = step.getAsInt();
            seen[thread] = Arrays.copyOf(seen[thread], at + 1);
            seen[thread][at++] = (byte) result;
            return result;
        }

        /** The step under way ends here, if there is one. */
        final void begin() {
            if (done && at == seen[thread].length) {
                throw PAUSE;
            }
        }

        /** The thread cannot go on at present. */
        final Pause blocked() {
            return PAUSE;
        }

        /** It cannot, but something has changed. */
        final Pause blocked(boolean changed) {
            done |= changed;
            return PAUSE;
        }

        /** What comes next depends on nothing that was seen before. */
        final Pause nextRound(int next) {
            forget(next);
            return PAUSE;
        }

        private void forget(int next) {
            seen[thread] = NOTHING;
            round[thread] = (byte) next;
        }

        /** Inside an access: both answers are tried. What only a yes makes possible need not happen. */
        final boolean choose() {
            chose = true;
            return choice != 0;
        }

        final int get(int variable) {
            return access(() -> v[variable]);
        }

        final void set(int variable, int value) {
            access(() -> v[variable] = (byte) value);
        }

        final boolean cas(int variable, int expected, int value) {
            return access(() -> {
                boolean same = v[variable] == expected;
                v[variable] = same ? (byte) value : v[variable];
                return same ? 1 : 0;
            }) != 0;
        }
    }

    /** Whether there is a state in which nobody need go on, and which is such a one. */
    static boolean endIn(World start, Predicate<World> wanted) {
        Set<Key> visited = new HashSet<>();
        Deque<World> todo = new ArrayDeque<>();
        visited.add(start.key());
        todo.push(start);
        boolean ends = false;
        while (!todo.isEmpty()) {
            World w = todo.pop();
            boolean stuck = true;
            for (int thread = 0; thread < w.round.length; thread++) {
                if (w.round[thread] == World.ENDED) {
                    continue;
                }
                World next = w.copy();
                if (next.step(thread, 0)) {
                    stuck = false;
                    visit(next, visited, todo);
                }
                if (next.chose) {
                    next = w.copy();
                    if (next.step(thread, 1)) {
                        visit(next, visited, todo);
                    }
                }
            }
            if (stuck && wanted.test(w)) {
                return true;
            }
            ends |= stuck;
        }
        assertTrue(ends, "there is no end");
        return false;
    }

    private static void visit(World next, Set<Key> visited, Deque<World> todo) {
        if (visited.add(next.key())) {
            todo.push(next);
        }
    }
}
