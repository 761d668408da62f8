package io.pendula;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Arming a timeout and stopping it, all on a loop's own thread, beside timers that lie about. */
final class LoopArmCase implements Case {
    @Override
    public String name() {
        return "looparm";
    }

    @Override
    public List<Map<String, String>> cells(boolean busy) {
        return Case.product("inFlight=0,1000", "pending=0,10000,100000");
    }

    @Override
    public List<Subject> subjects() {
        return Arrays.stream(LoopType.values()).map(Subject::of).toList();
    }

    @Override
    public List<String> ratios() {
        return List.of("cpu_ns", "wall_ns");
    }

    @Override
    public void run(Child child) throws Exception {
        int pending = child.number("pending");
        int inFlight = child.number("inFlight");
        LoopRival rival = LoopType.valueOf(child.text("type")).open(pending + inFlight + 1);
        LoopLane.measure(child, rival, () -> new Timeouts(rival, pending, inFlight));
    }

    /** As Load.Timeouts. The slots are those of the timers that lie about, then a ring. */
    private static final class Timeouts extends Load {
        private static final long DELAY = SECONDS.toNanos(30);

        private final LoopRival rival;
        private final int first;
        private final int end;
        private int next;

        Timeouts(LoopRival rival, int pending, int inFlight) {
            super(0);
            this.rival = rival;
            first = pending;
            end = pending + inFlight + 1;
            next = first;
            for (int i = 0; i < pending; i++) {
                rival.arm(i, farDelay());
            }
            for (int i = first + 1; i < end; i++) {
                rival.arm(i, DELAY);
            }
        }

        @Override
        void step() {
            rival.arm(next, DELAY);
            next = next + 1 == end ? first : next + 1;
            rival.stop(next); // the oldest; the one just armed, if there is no other
        }
    }
}
