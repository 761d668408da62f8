package io.pendula.benchmarks.designs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The wheel beside a sorted list, without a thread, over all levels. */
class HierarchicalWheelTest {
    private static final long TICK = 10;

    private record Armed(Wheel.Entry entry, long tick) {}

    /**
     * @param start the tick with which time begins; the last one lies just before all digits of all levels become zero
     */
    @ParameterizedTest
    @ValueSource(longs = {0, 255, (1L << 26) - 5_000, (1L << 32) - 5_000})
    void takeDue_randomTimers_takesThoseOfEachTickInOrder(long start) {
        HierarchicalWheel wheel = new HierarchicalWheel(TICK, start);
        SplittableRandom random = new SplittableRandom(start);
        List<Armed> armed = new ArrayList<>();
        long now = start * TICK;
        for (int round = 0; round < 400; round++) {
            for (int i = 0; i < 10; i++) {
                long when = now + random.nextLong(1L << random.nextInt(1, 24));
                Wheel.Entry entry = wheel.newNode(() -> {}, when);
                wheel.insert(entry);
                armed.add(new Armed(entry, Math.max((when + TICK - 1) / TICK, now / TICK + 1)));
            }
            for (int i = 0; i < 3; i++) {
                Armed stopped = armed.remove(random.nextInt(armed.size()));
                assertEquals(true, wheel.remove(stopped.entry), "the stop of one that waits");
                assertEquals(false, wheel.remove(stopped.entry), "the second stop");
            }
            now += random.nextLong(1L << random.nextInt(1, 18));
            long tick = now / TICK;
            List<Armed> due = armed.stream().filter(a -> a.tick <= tick)
                    .sorted(Comparator.comparingLong(Armed::tick)).toList();
            for (Armed next : due) {
                assertEquals(next.entry, wheel.takeDue(now));
            }
            assertNull(wheel.takeDue(now));
            armed.removeAll(due);
        }
    }
}
