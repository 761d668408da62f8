package io.pendula.benchmarks.designs;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The tree, the skip list and the wheels fire equal deadlines in the order of arming. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EqualDeadlinesTest {
    private static final int TIMERS = 300;

    @Test
    void redBlackTree_equalDeadlines_fireInOrderOfArming() throws Exception {
        try (RedBlackTree tree = new RedBlackTree()) {
            assertOrder(task -> when -> tree.armAt(when, task));
        }
    }

    @Test
    void skipList_equalDeadlines_fireInOrderOfArming() throws Exception {
        try (SkipList list = new SkipList()) {
            assertOrder(task -> when -> list.armAt(when, task));
        }
    }

    @Test
    void simpleWheel_equalDeadlines_fireInOrderOfArming() throws Exception {
        try (SimpleWheel wheel = new SimpleWheel(MILLISECONDS.toNanos(1))) {
            assertOrder(task -> when -> wheel.armAt(when, task));
        }
    }

    @Test
    void hierarchicalWheel_equalDeadlines_fireInOrderOfArming() throws Exception {
        try (HierarchicalWheel wheel = new HierarchicalWheel(MILLISECONDS.toNanos(1))) {
            assertOrder(task -> when -> wheel.armAt(when, task));
        }
    }

    private static void assertOrder(Function<Runnable, Function<Long, Object>> armed) throws Exception {
        List<Integer> fired = new CopyOnWriteArrayList<>();
        CountDownLatch left = new CountDownLatch(TIMERS);
        long when = Clock.now() + MILLISECONDS.toNanos(100);
        for (int i = 0; i < TIMERS; i++) {
            int number = i;
            armed.apply(() -> {
                fired.add(number);
                left.countDown();
            }).apply(when);
        }
        assertTrue(left.await(20, SECONDS), "all fire");
        assertEquals(IntStream.range(0, TIMERS).boxed().toList(), fired);
    }
}
