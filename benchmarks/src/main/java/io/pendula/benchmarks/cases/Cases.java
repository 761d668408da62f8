package io.pendula.benchmarks.cases;

import io.pendula.benchmarks.gobench.GoBenchCase;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.CaseFinder;
import io.pendula.benchmarks.jmh.JmhCases;
import java.util.List;
import java.util.stream.Stream;

/** Everything that can be measured. */
public final class Cases implements CaseFinder {
    public static final List<Case> ALL = Stream.concat(JmhCases.ALL.stream(), Stream.of(new FrontierCase(),
            new BlockedCase(), new HeavyCase(), new BurstCase(), new PauseCase(), new WakeupsCase(), new MemoryCase(),
            new StartCase(), new GoBenchCase(), new ForeignCase(), new DelayedCase(), new HandoverCase(),
            new TicksCase(), new MixCase(), new LoopIoCase())).toList();

    /** For the service loader. */
    public Cases() {}

    @Override
    public Case find(String name) {
        return named(name);
    }

    public static Case named(String name) {
        return ALL.stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow(
                () -> new IllegalArgumentException("no such case: '" + name + "'; there are "
                        + ALL.stream().map(Case::name).toList()));
    }
}
