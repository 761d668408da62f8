package io.pendula.benchmarks.loads;

import static java.util.concurrent.TimeUnit.SECONDS;

/** How long timeouts are; none of them ends while it is measured. */
public enum Delays {
    /** All alike, so that each is due after all before it. */
    ONE {
        @Override
        public long next(Load load) {
            return ONLY;
        }
    },
    /** Of a few lengths, as the clients of a server have them. */
    FEW {
        @Override
        public long next(Load load) {
            return LENGTHS[load.random(LENGTHS.length)];
        }
    },
    /** Any length from 10 to 60 minutes, as the pending timers have them. */
    RANDOM {
        @Override
        public long next(Load load) {
            return load.farDelay();
        }
    };

    private static final long ONLY = SECONDS.toNanos(30);
    private static final long[] LENGTHS = {SECONDS.toNanos(10), SECONDS.toNanos(15), SECONDS.toNanos(30),
        SECONDS.toNanos(60), SECONDS.toNanos(120)};

    public abstract long next(Load load);
}
