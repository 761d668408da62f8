package io.pendula;

import java.util.List;
import java.util.stream.Stream;

/** Everything that can be measured. */
final class Cases {
    static final List<Case> ALL = Stream.concat(JmhCases.ALL.stream(), Stream.of(new FrontierCase(), new BlockedCase(),
            new HeavyCase(), new BurstCase(), new PauseCase(), new WakeupsCase(), new MemoryCase(), new StartCase(),
            new GoBenchCase(), new ForeignCase(),
            new DelayedCase(), new HandoverCase(), new TicksCase(), new MixCase(), new LoopIoCase())).toList();

    private Cases() {}

    static Case named(String name) {
        return ALL.stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow(
                () -> new IllegalArgumentException("no such case: '" + name + "'; there are "
                        + ALL.stream().map(Case::name).toList()));
    }
}
