package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** 10,000 timers, each of which arms itself again when it fires: more than any scheduler can run in time. */
final class FireCase implements Case {
    private static final int TIMERS = 10_000;
    /** Delays are even over [0, 2.1 ms). */
    private static final int DELAY_BITS = 21;

    @Override
    public String name() {
        return "fire";
    }

    @Override
    public List<Map<String, String>> cells(boolean busy) {
        return Case.product("threads=1,2");
    }

    @Override
    public List<Subject> subjects() {
        List<Subject> subjects = new ArrayList<>(Subject.RIVALS);
        subjects.add(1, new Subject("PENDULA by reset", Map.of("type", "PENDULA", "byReset", "true")));
        return subjects;
    }

    @Override
    public List<String> ratios() {
        return List.of("cpu_ns", "wall_ns");
    }

    @Override
    public void run(Child child) throws Exception {
        int threads = child.number("threads");
        Rival rival = child.open(threads);
        SelfArming[] timers = new SelfArming[TIMERS];
        for (int i = 0; i < TIMERS; i++) {
            timers[i] = new SelfArming(rival, child.is("byReset"), i);
        }
        for (SelfArming timer : timers) {
            timer.start();
        }
        child.measure(1, () -> Arrays.stream(timers).mapToLong(t -> t.fired).sum());
    }

    private static final class SelfArming extends Load implements Rival.Task {
        private final Rival rival;
        private final boolean byReset;
        private Object handle;
        /** Written by one run at a time; that the sum is read a little too early or too late does not matter. */
        int fired;

        SelfArming(Rival rival, boolean byReset, long seed) {
            super(seed);
            this.rival = rival;
            this.byReset = byReset;
        }

        void start() {
            if (byReset) {
                handle = rival.schedule(HOURS.toNanos(1), this); // the reset then publishes the handle to the callback
            }
            step();
        }

        @Override
        void step() {
            long delay = random() >>> Long.SIZE - DELAY_BITS;
            if (byReset) {
                rival.reset(handle, delay, this);
            } else {
                rival.schedule(delay, this);
            }
        }

        @Override
        public void run() {
            fired++;
            step();
        }
    }
}
