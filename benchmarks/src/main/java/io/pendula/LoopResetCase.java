package io.pendula;

import io.pendula.ResetBenchmark.Direction;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Moving the deadlines of many timers, all on a loop's own thread: an idle timeout for each connection. */
final class LoopResetCase implements Case {
    @Override
    public String name() {
        return "loopreset";
    }

    @Override
    public List<Map<String, String>> cells(boolean busy) {
        return Case.product("direction=LATER,RANDOM,EARLIER", "timers=10000,100000");
    }

    @Override
    public List<Subject> subjects() {
        return Stream.of(LoopType.values()).filter(t -> t != LoopType.PENDULA_HERE).map(Subject::of).toList();
    }

    @Override
    public List<String> ratios() {
        return List.of("cpu_ns", "wall_ns");
    }

    @Override
    public void run(Child child) throws Exception {
        int timers = child.number("timers");
        Direction direction = Direction.valueOf(child.text("direction"));
        LoopRival rival = LoopType.valueOf(child.text("type")).open(timers);
        LoopLane.measure(child, rival, () -> new Resets(rival, direction, timers));
    }

    /** As Load.Resets. */
    private static final class Resets extends Load.Moves {
        private final LoopRival rival;
        private final int timers;

        Resets(LoopRival rival, Direction direction, int timers) {
            super(direction, 0);
            this.rival = rival;
            this.timers = timers;
            for (int i = 0; i < timers; i++) {
                rival.arm(i, firstDelay());
            }
        }

        @Override
        void step() {
            rival.reset(random(timers), nextDelay());
        }
    }
}
