package io.pendula.benchmarks.loads;

import static java.util.concurrent.TimeUnit.MINUTES;

import io.pendula.benchmarks.rivals.Rival;

/** What one thread does to a scheduler, step by step. */
public abstract class Load {
    private static final long NEAREST = MINUTES.toNanos(10);
    private static final long FARTHEST = MINUTES.toNanos(60);

    private long random;

    public Load(long seed) {
        random = (seed + 1) * 0x9E3779B97F4A7C15L | 1;
    }

    public abstract void step();

    public final long random() {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return random;
    }

    /** Evenly from [0, bound). */
    public final int random(int bound) {
        return (int) ((random() >>> 32) * bound >>> 32);
    }

    /** So far ahead that nothing fires while it is measured. */
    public final long farDelay() {
        return NEAREST + (random() >>> 1) % (FARTHEST - NEAREST);
    }

    /** Timers that are armed and left alone, for others to be armed beside. */
    public static void fill(Rival rival, int count, long seed) {
        Load load = new Load(seed) {
            @Override
            public void step() {
                rival.schedule(farDelay(), Rival.Task.NOTHING);
            }
        };
        for (int i = 0; i < count; i++) {
            load.step();
        }
    }

    /** Timeouts that never happen: each is stopped when {@code inFlight} more have been armed. */
    public static final class Timeouts extends Load {
        private final Rival rival;
        private final Delays delays;
        private final Object[] ring;
        private int next;

        public Timeouts(Rival rival, int inFlight) {
            this(rival, inFlight, Delays.ONE, 0);
        }

        public Timeouts(Rival rival, int inFlight, Delays delays, long seed) {
            super(seed);
            this.rival = rival;
            this.delays = delays;
            this.ring = new Object[inFlight];
            for (int i = 0; i < inFlight; i++) {
                ring[i] = rival.schedule(delays.next(this), Rival.Task.NOTHING);
            }
        }

        @Override
        public void step() {
            Object handle = rival.schedule(delays.next(this), Rival.Task.NOTHING);
            if (ring.length > 0) {
                Object oldest = ring[next];
                ring[next] = handle;
                next = next + 1 == ring.length ? 0 : next + 1;
                handle = oldest;
            }
            rival.cancel(handle);
        }
    }

    /** Timeouts that never happen, of which there are as many all the time. */
    public static final class Window extends Load {
        private final Rival rival;
        private final Delays delays;
        private final Stopped stopped;
        /** If most are stopped soon, the others; each takes the place of the oldest. */
        private final Object[] ring;
        /** Those that are stopped soon: at a random step, so that most live for less than a tenth of the others' time. */
        private final Object[] soon;
        private int next;

        public Window(Rival rival, Delays delays, Stopped stopped, int count, long seed) {
            super(seed);
            this.rival = rival;
            this.delays = delays;
            this.stopped = stopped;
            this.soon = filled(stopped == Stopped.SOON ? count / 2 : 0);
            this.ring = filled(count - soon.length);
        }

        private Object[] filled(int count) {
            Object[] handles = new Object[count];
            for (int i = 0; i < count; i++) {
                handles[i] = rival.schedule(delays.next(this), Rival.Task.NOTHING);
            }
            return handles;
        }

        @Override
        public void step() {
            Object[] handles = stopped == Stopped.SOON && random(100) < 95 ? soon : ring;
            int i = handles == soon || stopped == Stopped.ANY ? random(handles.length) : next;
            if (i == next && handles == ring) {
                next = next + 1 == ring.length ? 0 : next + 1;
            }
            rival.cancel(handles[i]);
            handles[i] = rival.schedule(delays.next(this), Rival.Task.NOTHING);
        }
    }

    /** Moves of deadlines into one direction. */
    public abstract static class Moves extends Load {
        /** Longer than a step takes, so that each deadline set is earlier than the one before. */
        private static final long STEP_EARLIER = 20_000;

        private final Direction direction;
        private long delay = FARTHEST;

        public Moves(Direction direction, long seed) {
            super(seed);
            this.direction = direction;
        }

        public final long firstDelay() {
            return direction == Direction.EARLIER ? FARTHEST : farDelay();
        }

        public final long nextDelay() {
            if (direction == Direction.RANDOM) {
                return farDelay();
            }
            if (direction == Direction.EARLIER) {
                delay -= STEP_EARLIER;
                if (delay < NEAREST) {
                    delay = FARTHEST; // now and then one round of later ones
                }
            }
            return delay;
        }
    }

    /** Resets of timers picked at random among this thread's own. */
    public static final class Resets extends Moves {
        private final Rival rival;
        private final Object[] handles;

        public Resets(Rival rival, Direction direction, int count, long seed) {
            super(direction, seed);
            this.rival = rival;
            this.handles = new Object[count];
            for (int i = 0; i < count; i++) {
                handles[i] = rival.schedule(firstDelay(), Rival.Task.NOTHING);
            }
        }

        @Override
        public void step() {
            int i = random(handles.length);
            handles[i] = rival.reset(handles[i], nextDelay(), Rival.Task.NOTHING);
        }
    }
}
