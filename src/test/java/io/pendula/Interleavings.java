package io.pendula;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * Every interleaving of some threads whose programs are plain code. One step is one access of a shared variable. What a
 * thread is about to do follows from what it has seen, so that is its state: to make a step its program is replayed until
 * there is something new to see.
 */
final class Interleavings {
    private Interleavings() {}

    /** The thread has made its step. */
    private static final class Pause extends RuntimeException {
        private static final long serialVersionUID = 1;

        Pause() {
            super(null, null, false, false);
        }
    }

    private static final Pause PAUSE = new Pause();
    private static final byte[] NOTHING = {};

    /** One state of the whole: the shared variables, and what each thread has seen. Steps change it. */
    abstract static class World {
        final byte[] v;
        /** Null of a thread whose program has ended. */
        private final byte[][] seen;

        // The step under way.
        private int thread;
        private int at;
        private boolean done;

        World(int variables, int threads) {
            v = new byte[variables];
            seen = new byte[threads][];
            Arrays.fill(seen, NOTHING);
        }

        World(World from) {
            v = from.v.clone();
            seen = from.seen.clone();
        }

        abstract World copy();

        /** Changes nothing but through the methods below. */
        abstract void program(int number);

        private ByteBuffer key() {
            ByteBuffer all = ByteBuffer.allocate(v.length + Arrays.stream(seen).mapToInt(s -> s == null ? 1 : s.length + 1).sum());
            all.put(v);
            for (byte[] s : seen) {
                all.put((byte) (s == null ? -1 : s.length)).put(s == null ? NOTHING : s);
            }
            return all.flip();
        }

        private void step(int number) {
            thread = number;
            try {
                program(number);
                seen[number] = null;
            } catch (Pause p) {
                assertTrue(done, "a thread does nothing");
            }
        }

        final int access(IntSupplier step) {
            if (at < seen[thread].length) {
                return seen[thread][at++];
            }
            if (done) {
                throw PAUSE;
            }
            done = true;
            int result = step.getAsInt();
            seen[thread] = Arrays.copyOf(seen[thread], at + 1);
            seen[thread][at++] = (byte) result;
            return result;
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

    /** Whether the programs of all threads may end in such a state. */
    static boolean endIn(World start, Predicate<World> wanted) {
        Set<ByteBuffer> visited = new HashSet<>(Set.of(start.key()));
        Deque<World> todo = new ArrayDeque<>(Set.of(start));
        boolean ends = false;
        while (!todo.isEmpty()) {
            World w = todo.pop();
            boolean isAtEnd = true;
            for (int thread = 0; thread < w.seen.length; thread++) {
                if (w.seen[thread] != null) {
                    isAtEnd = false;
                    World next = w.copy();
                    next.step(thread);
                    if (visited.add(next.key())) {
                        todo.push(next);
                    }
                }
            }
            if (isAtEnd && wanted.test(w)) {
                return true;
            }
            ends |= isAtEnd;
        }
        assertTrue(ends, "there is no end");
        return false;
    }
}
