package io.pendula.fray;

import java.util.Collection;
import java.util.List;
import org.pastalab.fray.core.ThreadContext;
import org.pastalab.fray.core.randomness.Randomness;
import org.pastalab.fray.core.scheduler.PCTScheduler;
import org.pastalab.fray.core.scheduler.POSScheduler;
import org.pastalab.fray.core.scheduler.RandomScheduler;
import org.pastalab.fray.core.scheduler.Scheduler;

/**
 * Partial order sampling, probabilistic concurrency testing and a random choice, in turn, an execution each. The first two
 * give a thread no turn as long as another has a higher priority, and a guard that looks again and again always has
 * something to do. So each execution goes on at random after some steps: else it would not end.
 */
final class FairScheduler extends Scheduler {
    private static final int FAIR_AFTER_STEPS = 2_500;

    private final Scheduler[] kinds;
    private final int kind;
    private final Scheduler atRandom;
    private int steps;

    FairScheduler(Randomness random, int execution) {
        this(random, new Scheduler[] {new POSScheduler(random), new PCTScheduler(random), new RandomScheduler(random)},
                execution % 3);
    }

    private FairScheduler(Randomness random, Scheduler[] kinds, int kind) {
        super(random);
        this.kinds = kinds;
        this.kind = kind;
        this.atRandom = new RandomScheduler(random);
    }

    @Override
    public ThreadContext scheduleNextOperation(List<ThreadContext> ready, Collection<ThreadContext> all) {
        Scheduler s = ++steps <= FAIR_AFTER_STEPS ? kinds[kind] : atRandom;
        return s.scheduleNextOperation(ready, all);
    }

    @Override
    public Scheduler nextIteration(Randomness random) {
        Scheduler[] next = kinds.clone();
        int nextKind = (kind + 1) % next.length;
        next[nextKind] = next[nextKind].nextIteration(random);
        return new FairScheduler(random, next, nextKind);
    }
}
