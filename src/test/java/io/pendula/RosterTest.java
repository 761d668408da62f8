package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.TimerQueue;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A view knows its own tasks: what is entered is met, what is crossed out is let go, and others cost it nothing. */
@Timeout(60)
class RosterTest {
    private static final Runnable NOTHING = () -> {};

    private final SchedulerExecutor executor = new SchedulerExecutor(null, false);
    private final Fixtures.Rig rig = new Fixtures.Rig(false);
    private final Roster roster = new Roster();

    private ScheduledTask<Void> task() {
        return new ScheduledTask<>(rig.queue, NOTHING, executor.tracker(), 0, false, false);
    }

    private Set<Object> met() {
        Set<Object> met = new HashSet<>();
        roster.forEach(t -> assertTrue(met.add(t), "met twice"));
        return met;
    }

    @Test
    void enterAndCrossOut_randomly_walkMeetsThoseWhoAreLeft() {
        Random random = new Random(7);
        List<Roster.Cell> cells = new ArrayList<>();
        List<ScheduledTask<?>> tasks = new ArrayList<>();
        int steps = 200_000;
        for (int i = 0; i < steps; i++) {
            boolean grow = i / 20_000 % 2 == 0;
            if (tasks.isEmpty() || random.nextInt(10) < (grow ? 6 : 4)) {
                ScheduledTask<Void> t = task();
                tasks.add(t);
                cells.add(roster.enter(t));
            } else {
                int last = tasks.size() - 1;
                int victim = random.nextInt(4) == 0 ? last : random.nextInt(tasks.size());
                roster.crossOut(cells.get(victim));
                tasks.set(victim, tasks.get(last));
                cells.set(victim, cells.get(last));
                tasks.remove(last);
                cells.remove(last);
            }
            if (i % 9_999 == 0 || i > steps - 10) {
                assertEquals(new HashSet<>(tasks), met());
            }
        }
    }

    /** However they end: the newest first, the oldest first, or every other one. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void crossOut_most_emptyCellsAreUnlinked(int order) {
        int count = 20_000;
        List<Roster.Cell> cells = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            cells.add(roster.enter(task()));
        }
        int left = count;
        for (int i = 0; i < count; i++) {
            int at = order == 0 ? count - 1 - i : order == 1 ? i : i < count / 2 ? 2 * i : 2 * (i - count / 2) + 1;
            roster.crossOut(cells.get(at));
            left--;
            assertTrue(i % 500 != 0 || roster.cells() <= Roster.EMPTY_FLOOR + left * 5 / 4 + count / 4,
                    () -> roster.cells() + " cells");
        }
        assertEquals(Set.of(), met());
        assertTrue(roster.cells() <= 2 * Roster.EMPTY_FLOOR, () -> roster.cells() + " cells");
    }

    /** Tasks come and go beside one that stays: what a busy view keeps does not grow. */
    @Test
    void crossOut_eachSoonAfterItCame_cellsStayFew() {
        ScheduledTask<Void> stays = task();
        roster.enter(stays);
        for (int i = 0; i < 100_000; i++) {
            roster.crossOut(roster.enter(task()));
        }
        assertEquals(Set.of(stays), met());
        assertTrue(roster.cells() <= 2 * Roster.EMPTY_FLOOR, () -> roster.cells() + " cells");
    }

    @Test
    void enterAndCrossOut_byManyThreads_noneIsLost() throws Exception {
        AtomicInteger left = new AtomicInteger();
        LifeFixtures.inParallel(3, n -> {
            Random random = new Random(n);
            List<Roster.Cell> mine = new ArrayList<>();
            for (int i = 0; i < 100_000; i++) {
                if (mine.isEmpty() || random.nextInt(20) < 11) {
                    mine.add(roster.enter(task()));
                } else {
                    roster.crossOut(mine.remove(random.nextInt(mine.size())));
                }
            }
            left.addAndGet(mine.size());
        });
        assertEquals(left.get(), met().size());
    }

    // ---- of views ----

    /** Whoever walks through a queue locks it. Here all queues are locked, and full of the timers of others. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_besideManyTimersOfOthers_looksAtNoQueue(boolean now) throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            for (int i = 0; i < 10_000; i++) {
                s.after(Duration.ofHours(1), NOTHING);
            }
            List<ScheduledFuture<?>> tasks = List.of(view.schedule(NOTHING, 1, HOURS),
                    view.scheduleAtFixedRate(NOTHING, 1, 1, HOURS), view.scheduleWithFixedDelay(NOTHING, 1, 1, HOURS));
            view.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            FutureTask<List<Runnable>> end = new FutureTask<>(() -> {
                if (now) {
                    return view.shutdownNow();
                }
                view.shutdown();
                return List.of();
            });
            for (TimerQueue q : s.engine.queues) {
                Inside.lock(q).lock();
            }
            try {
                new Thread(end).start();
                List<Runnable> returned = end.get(Fixtures.PATIENCE_SECONDS, SECONDS);
                assertEquals(now ? Set.copyOf(tasks) : Set.of(), Set.copyOf(returned));
            } finally {
                for (TimerQueue q : s.engine.queues) {
                    Inside.lock(q).unlock();
                }
            }
            tasks.forEach(f -> assertEquals(!now, f.isCancelled()));
            assertTrue(view.awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
            assertEquals(10_000, s.pending());
        }
    }

    @Test
    void view_tasksOfEachKindEnd_areUnreachable() throws Exception {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            List<WeakReference<Object>> gone = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Object ran = view.schedule(NOTHING, 1, MILLISECONDS);
                ScheduledFuture<?> cancelled = view.scheduleAtFixedRate(NOTHING, 1, 1, MILLISECONDS);
                clock.advance(Duration.ofMillis(3));
                assertTrue(cancelled.cancel(false));
                gone.add(new WeakReference<>(ran));
                gone.add(new WeakReference<>(cancelled));
            }
            clock.advance(Duration.ofMillis(10));
            ScheduledFuture<?> stays = view.schedule(NOTHING, 1, HOURS);
            for (WeakReference<Object> ref : gone) {
                Fixtures.awaitCollected(ref);
            }
            assertFalse(stays.isDone());
        }
    }

    private static WeakReference<Object> rejected(SchedulerExecutor view) {
        Object payload = new Object();
        assertThrows(RejectedExecutionException.class, () -> view.execute(payload::hashCode));
        return new WeakReference<>(payload);
    }

    @Test
    void view_submissionIsRejected_leavesNothingBehind() throws Exception {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).maxPending(1).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            ScheduledFuture<?> only = view.schedule(NOTHING, 1, HOURS);
            for (int i = 0; i < 1_000; i++) {
                assertThrows(RejectedExecutionException.class,
                        () -> view.execute(NOTHING));
            }
            Fixtures.awaitCollected(rejected(view));
            assertEquals(List.of(only), view.shutdownNow());
            assertTrue(view.isTerminated());
        }
    }
}
