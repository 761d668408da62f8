package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.runInChild;
import static io.pendula.internal.queue.Compactor.STALE_FLOOR;
import static io.pendula.internal.queue.InsideInbox.HELP_DEPTH;
import static io.pendula.internal.queue.InsideHeap.MOST_SLOTS_KEPT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.ThreadMXBean;
import io.pendula.internal.standby.Sleeper;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class MemoryTest {
    private static final Runnable NOTHING = () -> {};
    /** What a heap entry that is dead, or a link of the inbox, may keep alive for as long as all workers sleep. */
    private static final int LEFT_BEHIND = STALE_FLOOR + HELP_DEPTH;

    // ---- size ----

    static final class BytesPerTimer {
        private BytesPerTimer() {}

        public static void main(String[] args) {
            int count = 1_000_000;
            Timer[] timers = new Timer[count];
            try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
                s.after(1, TimeUnit.HOURS, NOTHING).stop();
                long before = used();
                for (int i = 0; i < count; i++) {
                    timers[i] = s.after(1_000_000 + i, TimeUnit.MILLISECONDS, NOTHING);
                }
                s.pending();
                long after = used();
                System.out.println((after - before) / (double) count);
                assert timers[count - 1].isPending() && s.pending() == count;
            }
        }

        private static long used() {
            for (int i = 0; i < 4; i++) {
                System.gc();
            }
            return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        }
    }

    @Test
    void pendingTimer_millionOfThem_takesAtMost58Bytes() throws Exception {
        double bytes = Double.parseDouble(runInChild(BytesPerTimer.class, List.of("-Xmx512m", "-XX:+UseSerialGC")));
        figure("bytes per pending timer, 1,000,000 pending: %.1f", bytes);
        assertTrue(bytes <= 58, "bytes: " + bytes);
        assertTrue(bytes >= 28, "measured nothing: " + bytes);
    }

    static final class BytesPerGroupOfTwo {
        private BytesPerGroupOfTwo() {}

        /** Prints what a group with two timers takes, and a list with two. */
        public static void main(String[] args) {
            try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
                System.out.println(bytes(s, i -> {
                    TimerGroup group = s.group("connection");
                    group.after(1_000_000 + i, TimeUnit.MILLISECONDS, NOTHING);
                    group.after(1_000_000 + i, TimeUnit.MILLISECONDS, NOTHING);
                    return group;
                }) + " " + bytes(s, i -> {
                    List<Timer> list = new ArrayList<>();
                    list.add(s.after(1_000_000 + i, TimeUnit.MILLISECONDS, NOTHING));
                    list.add(s.after(1_000_000 + i, TimeUnit.MILLISECONDS, NOTHING));
                    return list;
                }));
            }
        }

        private static double bytes(TimerScheduler s, IntFunction<Object> make) {
            int count = 300_000;
            Object[] made = new Object[count];
            made[0] = make.apply(0); // classes
            long before = BytesPerTimer.used();
            for (int i = 0; i < count; i++) {
                made[i] = make.apply(i);
            }
            s.pending();
            return (BytesPerTimer.used() - before) / (double) Objects.requireNonNull(made).length;
        }
    }

    @Test
    void groupOfTwo_takesNoMoreThanAListOfTwo() throws Exception {
        String[] bytes = runInChild(BytesPerGroupOfTwo.class, List.of("-Xmx512m", "-XX:+UseSerialGC")).strip().split(" ");
        figure("bytes per group of two timers: %s, per list of two: %s", bytes[0], bytes[1]);
        assertTrue(Double.parseDouble(bytes[0]) <= Double.parseDouble(bytes[1]), () -> "bytes: " + List.of(bytes));
        assertTrue(Double.parseDouble(bytes[0]) >= 2 * 28, "measured nothing: " + bytes[0]);
    }

    // ---- allocation ----

    private static long allocatedBy(Runnable work) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        assumeTrue(threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled());
        long id = Thread.currentThread().getId();
        work.run(); // classes, call sites
        work.run();
        long before = threads.getThreadAllocatedBytes(id);
        work.run();
        return threads.getThreadAllocatedBytes(id) - before;
    }

    /** A heap that a leak has nearly filled has no room for anything of the size of the leak. */
    @Test
    void pendingByTask_manyTimers_allocatesLessThanAByteForEach() {
        try (TimerScheduler s = TimerScheduler.builder().clock(new ManualClock()).build()) {
            int n = 200_000;
            for (int i = 0; i < n; i++) {
                s.after(Duration.ofHours(1), NOTHING);
            }
            long bytes = allocatedBy(() -> assertEquals(Map.of(NOTHING.getClass(), (long) n), s.pendingByTask()));
            figure("bytes allocated by pendingByTask, %d timers: %d", n, bytes);
            assertTrue(bytes < n, "allocated " + bytes);
        }
    }

    @Test
    void resetAndStop_ofATicker_allocateNothing() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            Ticker t = s.every(Duration.ofHours(1), NOTHING);
            Duration[] periods = {Duration.ofHours(2), Duration.ofHours(3), Duration.ofHours(1)};
            int rounds = 20_000;
            long bytes = allocatedBy(() -> {
                for (int i = 0; i < rounds; i++) {
                    for (Duration period : periods) {
                        t.reset(period);
                    }
                    t.stop();
                }
            });
            figure("bytes allocated by %d resets and stops of a ticker: %d", 4 * rounds, bytes);
            assertTrue(bytes <= 200_000, "allocated " + bytes);
        }
    }

    @Test
    void resetAndStop_anyState_allocateNothing() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            Timer t = s.after(1, TimeUnit.HOURS, NOTHING);
            int rounds = 20_000;
            long bytes = allocatedBy(() -> {
                for (int i = 0; i < rounds; i++) {
                    t.reset(2, TimeUnit.HOURS);
                    t.reset(3, TimeUnit.HOURS);
                    t.reset(1, TimeUnit.HOURS);
                    t.stop();
                    t.reset(1, TimeUnit.HOURS);
                }
            });
            figure("bytes allocated by %d resets and stops: %d", 5 * rounds, bytes);
            // A heap that a helping thread lets grow is the only exception, and it grows to some thousand slots.
            assertTrue(bytes <= 200_000, "allocated " + bytes);
        }
    }

    @Test
    void after_unit_allocatesTheTimerAlone() {
        assumeTrue("true".equals(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .getVMOption("UseCompressedOops").getValue()));
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            int count = 50_000;
            long bytes = allocatedBy(() -> {
                for (int i = 0; i < count; i++) {
                    s.after(1, TimeUnit.HOURS, NOTHING).stop();
                }
            });
            figure("bytes allocated by after(long, TimeUnit, Runnable): %.3f", bytes / (double) count);
            assertTrue(bytes >= 24L * count, "the compiler has removed the timers: " + bytes);
            assertTrue(bytes <= 40L * count + 200_000, "allocated " + bytes);
        }
    }

    // ---- what is kept alive ----

    private static final class Task implements Runnable {
        @Override
        public void run() {
            throw new AssertionError("never due");
        }
    }

    private static long reachable(List<WeakReference<Task>> tasks) {
        return tasks.stream().filter(t -> t.get() != null).count();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cancel_filedOrQueued_callbackIsUnreachableAtOnce(boolean filed) {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            List<Timer> timers = new ArrayList<>();
            List<WeakReference<Task>> tasks = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                Task task = new Task();
                tasks.add(new WeakReference<>(task));
                timers.add(s.after(Duration.ofHours(1), task));
            }
            if (filed) {
                assertEquals(100, s.pending());
            }
            timers.forEach(Timer::cancel);
            System.gc();
            eventually("callbacks collected", () -> {
                System.gc();
                return reachable(tasks) == 0;
            });
            timers.forEach(t -> assertFalse(t.isPending()));
        }
    }

    @Test
    void run_oneShotHasFired_workerKeepsNothingOfIt() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            WeakReference<Timer> timer = fireOne(s);
            eventually("timer collected", () -> {
                System.gc();
                return timer.get() == null;
            });
            assertEquals(1, s.stats().fired());
        }
    }

    private static WeakReference<Timer> fireOne(TimerScheduler s) {
        Timer t = s.after(Duration.ZERO, NOTHING);
        eventually("fired", () -> !t.isPending());
        return new WeakReference<>(t);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stop_pastTheBoundWhileWorkersSleep_timersAreLetGo(boolean monitor) {
        int count = 20_000;
        try (TimerScheduler s = TimerScheduler.builder().workers(2).monitor(monitor).build()) {
            List<WeakReference<Task>> tasks = new ArrayList<>();
            armAndStop(s, count, tasks);
            assertEquals(count, tasks.size());
            long[] left = new long[1];
            eventually("stopped timers are let go", () -> {
                System.gc();
                left[0] = reachable(tasks);
                return left[0] <= LEFT_BEHIND;
            });
            figure("of %d stopped timers reachable while the workers sleep: %d", count, left[0]);
        }
    }

    private static void armAndStop(TimerScheduler s, int count, List<WeakReference<Task>> tasks) {
        List<Timer> timers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Task task = new Task();
            tasks.add(new WeakReference<>(task));
            timers.add(s.after(Duration.ofHours(1), task));
        }
        assertEquals(count, s.pending());
        for (Sleeper d : s.engine.workerPool.workers()) {
            eventually("worker sleeps", () -> d.asleep);
        }
        timers.forEach(t -> assertTrue(t.stop()));
    }

    // ---- ten million timeouts that never come ----

    static final class ManyTimeouts {
        private ManyTimeouts() {}

        public static void main(String[] args) {
            int lag = Integer.parseInt(args[0]);
            Timer[] ring = new Timer[lag + 1];
            long mostSlots = 0;
            try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
                for (int i = 0; i < 10_000_000; i++) {
                    int slot = i % ring.length;
                    Timer old = ring[slot];
                    if (old != null && !old.stop()) {
                        throw new AssertionError("fired");
                    }
                    ring[slot] = s.after(10, TimeUnit.MINUTES, NOTHING);
                    if (i % 10_007 == 0) {
                        mostSlots = Math.max(mostSlots, s.stats().heapCapacity());
                    }
                }
                TimerStats stats = s.stats();
                assert stats.fired() == 0 && stats.armed() == 10_000_000 && stats.pending() == ring.length : stats;
                System.out.println(mostSlots + " " + stats.staleEntries());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1_000})
    void armAndStop_tenMillionTimesInSmallHeap_memoryStaysBounded(int lag) throws Exception {
        String[] out = runInChild(ManyTimeouts.class, List.of("-Xmx64m"), Integer.toString(lag)).split(" ");
        long slots = Long.parseLong(out[0]);
        figure("10,000,000 timeouts stopped %d later: most heap slots %d, stale entries %s", lag, slots, out[1]);
        int live = lag + 1;
        // An arming thread sweeps once more than STALE_FLOOR and half of the entries are stale, and adds what one drain
        // brings; half as many slots again may be unused; the other worker has its first 64.
        long bound = (live + STALE_FLOOR + HELP_DEPTH) * 2L * 3 / 2 + 64;
        assertTrue(slots <= bound, slots + " slots, but at most " + bound + " expected");
    }

    @Test
    void trim_mostTimersGone_givesSlotsBack() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            List<Timer> timers = new ArrayList<>();
            for (int i = 0; i < 100_000; i++) {
                timers.add(s.after(Duration.ofHours(1), NOTHING));
            }
            assertEquals(100_000, s.pending());
            long full = s.stats().heapCapacity();
            assertTrue(full >= 100_000);
            timers.forEach(Timer::stop);
            eventually("slots given back", () -> s.stats().heapCapacity() <= MOST_SLOTS_KEPT);
            assertEquals(0, s.pending());
        }
    }

    @Test
    void cancel_taskDropped_timerHasNone() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            Timer t = s.after(Duration.ofHours(1), NOTHING);
            assertTrue(t.cancel());
            assertNull(Fixtures.node(t).work());
        }
    }
}
