package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.spi.TaskWrapper;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is pending, as people see it who look for a leak. */
@Timeout(120)
class PendingTimersTest {
    private static final Duration HOUR = Duration.ofHours(1);

    static class Heartbeat implements Runnable {
        @Override
        public void run() {}
    }

    static final class Flush extends Heartbeat {}

    private final ManualClock clock = new ManualClock();
    private TimerScheduler s = TimerScheduler.builder().clock(clock).build();

    @AfterEach
    void close() {
        s.close();
    }

    private static Set<TimerHandle> timers(List<PendingTimer> pending) {
        Set<TimerHandle> set = Collections.newSetFromMap(new IdentityHashMap<>());
        pending.forEach(p -> assertTrue(set.add(p.timer()), () -> p + " is there twice"));
        return set;
    }

    @Test
    void pendingTimers_eachKind_tellsTaskTimePeriodAndQueue() {
        Heartbeat task = new Heartbeat();
        Timer timer = s.after(HOUR, task);
        Ticker ticker = s.every(Duration.ofMinutes(5), task);
        s.asScheduledExecutorService().scheduleWithFixedDelay(task, 2, 3, TimeUnit.MINUTES);
        s.after(HOUR, new Flush()).stop();
        clock.advance(Duration.ofMinutes(1));
        Map<String, PendingTimer> byText = s.pendingTimers(100).stream()
                .collect(Collectors.toMap(p -> p.timer().getClass().getSimpleName(), p -> p));
        assertEquals(Set.of("OneShotTimer", "PeriodicTimer", "Task"), byText.keySet());
        PendingTimer once = byText.get("OneShotTimer");
        assertSame(timer, once.timer());
        assertSame(task, once.task());
        assertEquals(Duration.ofMinutes(59), once.remaining());
        assertEquals(Duration.ZERO, once.period());
        assertEquals(0, once.queue());
        assertEquals("PendingTimer[" + Heartbeat.class.getName() + ", due in 59 min, queue 0]", once.toString());
        PendingTimer again = byText.get("PeriodicTimer");
        assertSame(ticker, again.timer());
        assertEquals(Duration.ofMinutes(4), again.remaining());
        assertEquals(Duration.ofMinutes(5), again.period());
        PendingTimer delayed = byText.get("Task");
        assertSame(task, delayed.task());
        assertEquals(Duration.ofMinutes(1), delayed.remaining());
        assertEquals(Duration.ofMinutes(3), delayed.period());
    }

    @Test
    void pendingTimers_ofALoop_areThereWithItsQueue() {
        s.after(HOUR, new Flush());
        try (TimerLoop loop = s.attach(() -> {})) {
            Timer mine = loop.after(HOUR, new Heartbeat());
            PendingTimer found = s.pendingTimers(10).stream().filter(p -> p.timer() == mine).findFirst().orElseThrow();
            assertEquals(s.stats().queues().size() - 1, found.queue());
            assertEquals(Map.of(Flush.class, 1L, Heartbeat.class, 1L), s.pendingByTask());
        }
        assertEquals(Map.of(Flush.class, 1L), s.pendingByTask());
    }

    @Test
    void pendingTimers_limit_isKept() {
        for (int i = 0; i < 10; i++) {
            s.after(HOUR, new Heartbeat());
        }
        assertEquals(3, s.pendingTimers(3).size());
        assertEquals(10, s.pendingTimers(10).size());
        assertEquals(10, s.pendingTimers(Integer.MAX_VALUE).size());
        assertEquals("limit must be at least 1, but is 0",
                assertThrows(IllegalArgumentException.class, () -> s.pendingTimers(0)).getMessage());
        assertThrows(UnsupportedOperationException.class, () -> s.pendingTimers(1).clear());
    }

    @Test
    void pendingByTask_countsClassesMostFirst() {
        for (int i = 0; i < 100; i++) {
            s.after(HOUR, new Heartbeat());
        }
        for (int i = 0; i < 3; i++) {
            s.after(HOUR, new Flush());
        }
        s.alarm(HOUR);
        s.alarmEvery(HOUR);
        assertEquals(Map.of(Heartbeat.class, 100L, Flush.class, 3L, Alarm.class, 2L),
                s.pendingByTask());
        assertEquals(List.of(Heartbeat.class, Flush.class, Alarm.class), List.copyOf(s.pendingByTask().keySet()));
    }

    /** As a library's that all tasks are wrapped in; {@code task} is null, or what it stands for. */
    private record Wrapper(Object task) implements Runnable, TaskWrapper {
        @Override
        public void run() {}
    }

    @Test
    void pendingByTask_wrappers_countAsWhatTheyStandFor() {
        s.after(HOUR, new Wrapper(new Heartbeat()));
        s.after(HOUR, new Wrapper(new Wrapper(new Flush())));
        Timer empty = s.after(HOUR, new Wrapper(null));
        assertEquals(Map.of(Heartbeat.class, 1L, Flush.class, 1L, Wrapper.class, 1L), s.pendingByTask());
        Timer t = s.after(HOUR, new Wrapper(new Flush()));
        assertTrue(t.toString().startsWith("Timer[" + Flush.class.getName() + ", due in"), t::toString);
        assertTrue(t.task() instanceof Wrapper, "as the program gave it");
        assertTrue(empty.toString().startsWith("Timer[" + Wrapper.class.getName()), empty::toString);
    }

    /** The key is the program's, so it may wait for a thread that asks the queue. */
    @Test
    void pendingBy_keyThatUsesTheScheduler_countsByThatKey() {
        for (int i = 0; i < 5; i++) {
            s.after(HOUR.plusMillis(i % 2), new Heartbeat());
        }
        s.every(HOUR, new Flush());
        Map<String, Long> counts = s.pendingBy(t -> {
            assertEquals(6, CompletableFuture.supplyAsync(s::stats).orTimeout(60, TimeUnit.SECONDS).join().pending());
            return t instanceof Ticker ? null : t.remaining().minus(HOUR) + "";
        });
        Map<String, Long> expected = new HashMap<>(Map.of("PT0S", 3L, "PT0.001S", 2L));
        expected.put(null, 1L);
        assertEquals(expected, counts);
        assertEquals("PT0S", counts.keySet().iterator().next(), "most first");
        assertThrows(NullPointerException.class, () -> s.pendingBy(null));
    }

    /** Ends as soon as a walk has found it, and drops its task. */
    private static final class Fleeting extends OneShotTimer {
        private boolean isWalkedOver;

        Fleeting(TimerQueue queue) {
            super(queue, new Heartbeat());
            queue.arm(this, Timeline.NEVER - 1);
            queue.view().pending(); // files it
            isWalkedOver = true;
        }

        @Override
        public long wordVolatile() {
            long w = super.wordVolatile();
            if (isWalkedOver) {
                isWalkedOver = false;
                cancel();
            }
            return w;
        }
    }

    /** Without its task it would be taken for a timer that has none. */
    @Test
    void endsDuringTheCall_isNotThere() {
        s.after(HOUR, new Flush());
        TimerQueue queue = s.engine.queues[0];
        new Fleeting(queue);
        assertEquals(Map.of(Flush.class, 1L), s.pendingByTask());
        new Fleeting(queue);
        assertEquals(1, s.pendingTimers(10).size());
        new Fleeting(queue);
        assertEquals(1, s.pendingTimers(1).size());
    }

    /** An adapter's mistake. */
    private static final class BrokenWrapper implements Runnable, TaskWrapper {
        @Override
        public void run() {}

        @Override
        public Object task() {
            throw new IllegalStateException("meant");
        }
    }

    @Test
    void wrapperThatThrows_isNamedItselfAndHidesNoOther() {
        Timer broken = s.after(HOUR, new BrokenWrapper());
        s.after(HOUR, new Wrapper(new BrokenWrapper()));
        s.every(HOUR, new Flush());
        assertEquals(Map.of(BrokenWrapper.class, 2L, Flush.class, 1L), s.pendingByTask());
        assertTrue(broken.toString().startsWith("Timer[" + BrokenWrapper.class.getName()), broken::toString);
        for (PendingTimer p : s.pendingTimers(2)) {
            assertTrue(p.toString().startsWith("PendingTimer[" + BrokenWrapper.class.getName()), p::toString);
        }
    }

    /** The key of one walk begins another, and waits for a view's shutdown, which walks on a third thread. */
    @Test
    void pendingBy_walksInsideWalks_eachFindsAll() {
        SchedulerExecutor view = s.asScheduledExecutorService();
        Future<?> task = view.schedule(new Heartbeat(), 1, TimeUnit.HOURS);
        s.after(HOUR, new Flush());
        s.after(HOUR, new Flush());
        Map<?, Long> counts = s.pendingBy(t -> {
            CompletableFuture.supplyAsync(view::shutdownNow).orTimeout(60, TimeUnit.SECONDS).join();
            assertEquals(Map.of(Flush.class, 2L), s.pendingByTask());
            return t.task().getClass();
        });
        assertEquals(Map.of(Flush.class, 2L), counts);
        assertFalse(task.isCancelled(), "it was given back");
    }

    @Test
    void text_namesTheTaskByItsToString() {
        s.after(HOUR, new Wrapper("report of 2026"));
        assertEquals("PendingTimer[report of 2026, due in 1 h, queue 0]", s.pendingTimers(1).get(0).toString());
    }

    /** Timers that were brought forward and put off leave entries behind that look alike; with a sweep, and without. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void pendingTimers_afterAStorm_areWhatIsCounted(long seed) {
        s.close();
        s = TimerScheduler.builder().workers(2).build();
        SplittableRandom random = new SplittableRandom(seed);
        List<Timer> all = new ArrayList<>();
        for (int i = 0; i < 40_000; i++) {
            int what = random.nextInt(10);
            if (all.isEmpty() || what < 4) {
                all.add(s.after(1 + random.nextInt(10), TimeUnit.HOURS, random.nextBoolean() ? new Heartbeat()
                        : new Flush()));
            } else if (what < 6) {
                all.get(random.nextInt(all.size())).stop();
            } else {
                all.get(random.nextInt(all.size())).reset(1 + random.nextInt(10), TimeUnit.HOURS);
            }
            if (i % 5_000 == 0) {
                s.pending(); // files what was armed
            }
        }
        Set<TimerHandle> expected = Collections.newSetFromMap(new IdentityHashMap<>());
        all.stream().filter(Timer::isPending).forEach(expected::add);
        assertEquals(expected.size(), s.pending(), "seed " + seed);
        LifeFixtures.eventually("no entry is swept any more", () -> { // while one is, others move
            List<PendingTimer> found = s.pendingTimers(Integer.MAX_VALUE);
            return found.size() == expected.size();
        });
        assertEquals(expected, timers(s.pendingTimers(Integer.MAX_VALUE)), "seed " + seed);
        assertEquals(expected.size(), s.pendingByTask().values().stream().mapToLong(n -> n).sum());
        assertEquals(expected.stream().filter(t -> t.task() instanceof Flush).count(),
                s.pendingByTask().get(Flush.class));
    }

    @Test
    void pendingTimers_whileOthersArmAndStop_findWhatStays() throws InterruptedException {
        s.close();
        s = TimerScheduler.builder().workers(1).build();
        List<Timer> lasting = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            lasting.add(s.after(HOUR, new Flush()));
        }
        Thread storm = new Thread(() -> {
            while (!Thread.interrupted()) {
                s.after(2, TimeUnit.HOURS, new Heartbeat()).stop();
            }
        });
        storm.start();
        try {
            for (int i = 0; i < 50; i++) {
                long found = s.pendingByTask().get(Flush.class);
                assertTrue(found > 19_000 && found < 21_000, () -> "found " + found); // stale entries are swept meanwhile
            }
        } finally {
            storm.interrupt();
            storm.join();
        }
        LifeFixtures.eventually("all of them", () -> s.pendingByTask().get(Flush.class) == 20_000);
    }

    /** Cancelled ones have let go of their tasks, so that the heap has those alone whose timers are pending. */
    @Test
    void pendingByTask_afterAStorm_agreesWithTheHistogramOfTheHeap() throws Exception {
        s.close();
        s = TimerScheduler.builder().workers(2).build();
        SplittableRandom random = new SplittableRandom(7);
        List<Timer> all = new ArrayList<>();
        for (int i = 0; i < 60_000; i++) {
            Timer t = s.after(1 + random.nextInt(10), TimeUnit.HOURS, random.nextInt(3) == 0 ? new Rare() : new Frequent());
            all.add(t);
            Timer other = all.get(random.nextInt(all.size()));
            if (random.nextBoolean()) {
                other.cancel();
            } else if (other.isPending()) {
                other.reset(1 + random.nextInt(10), TimeUnit.HOURS);
            }
        }
        Map<Class<?>, Long> pending = s.pendingByTask();
        assertEquals(s.pending(), pending.get(Rare.class) + pending.get(Frequent.class));
        assertTrue(pending.get(Rare.class) > 5_000 && pending.get(Frequent.class) > 10_000, pending::toString);
        Map<Class<?>, Long> onTheHeap = new HashMap<>();
        for (Class<?> task : pending.keySet()) {
            onTheHeap.put(task, instances(task));
        }
        assertEquals(onTheHeap, pending);
    }

    private static final class Rare extends Heartbeat {}

    private static final class Frequent extends Heartbeat {}

    private static long instances(Class<?> type) throws Exception {
        String histogram = (String) ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
                new Object[] {new String[0]}, new String[] {String[].class.getName()});
        String line = histogram.lines().filter(l -> l.contains(" " + type.getName())).findFirst().orElseThrow();
        return Long.parseLong(line.trim().split("\\s+")[1]);
    }
}
