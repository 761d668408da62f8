package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(60)
class TimerGroupTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Runnable NOTHING = () -> {};

    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().name("t").clock(clock).build();
    private final TimerGroup group = timers.group("g");
    private final List<Long> ran = new ArrayList<>();

    @AfterEach
    void close() {
        timers.close();
    }

    private void note() {
        ran.add(TimeUnit.NANOSECONDS.toSeconds(clock.nanoTime()));
    }

    private static int listed(TimerGroup group) throws ReflectiveOperationException {
        Field members = TimerGroup.class.getDeclaredField("members");
        members.setAccessible(true);
        return ((Object[]) members.get(group)).length;
    }

    private static void assertClosed(Executable call) {
        assertEquals("the timer group 'g' is closed", assertThrows(RejectedExecutionException.class, call).getMessage());
    }

    @Test
    void timer_armedByItsReset_isCancelledWithTheGroup() {
        Timer timer = group.timer(this::note);
        Timer unarmed = group.timer(this::note);
        assertEquals(0, timers.pending());
        timer.reset(HOUR);
        assertEquals(1, group.cancel());
        assertFalse(timer.isPending());
        assertClosed(() -> unarmed.reset(HOUR));
        assertClosed(() -> group.timer(this::note));
    }

    @Test
    void schedule_isCancelledWithTheGroup() {
        Clock wall = clock.asClock(Instant.EPOCH, ZoneOffset.UTC);
        group.schedule(after -> after.plus(HOUR), wall, this::note);
        clock.advance(HOUR);
        assertEquals(1, group.cancel());
        clock.advance(HOUR);
        assertEquals(List.of(3600L), ran);
        assertClosed(() -> group.schedule(after -> after.plus(HOUR), wall, this::note));
    }

    @Test
    void cancel_someHaveFiredOrWereStopped_cancelsAndCountsThoseThatPend() {
        group.after(SECOND, this::note);
        group.after(HOUR, this::note).stop();
        group.after(HOUR, this::note).cancel();
        group.after(HOUR, this::note).reset(HOUR);
        group.at(timers.now() + HOUR.toNanos(), this::note);
        Ticker ticker = group.every(SECOND, this::note);
        timers.after(HOUR, this::note);
        clock.advance(SECOND);

        assertEquals(3, group.cancel());

        clock.advance(HOUR);
        assertEquals(List.of(1L, 1L, 3600L), ran);
        assertFalse(ticker.isPending());
        assertEquals(0, timers.pending());
        assertEquals(0, group.cancel());
    }

    @Test
    void arming_inAClosedGroup_isRefusedInEachForm() {
        group.close();
        assertClosed(() -> group.after(SECOND, this::note));
        assertClosed(() -> group.after(1, TimeUnit.SECONDS, this::note));
        assertClosed(() -> group.at(timers.now(), this::note));
        assertClosed(() -> group.every(SECOND, this::note));
        assertClosed(() -> group.everyAtRandomPhase(SECOND, this::note));
        assertClosed(() -> group.orTimeout(new CompletableFuture<>(), SECOND));
        assertClosed(() -> group.delayedExecutor(SECOND, Runnable::run).execute(this::note));
        assertEquals(0, timers.pending());
    }

    @Test
    void reset_inAClosedGroup_isRefusedWhateverTheTimerDidBefore() throws Exception {
        Timer fired = group.after(SECOND, this::note);
        Timer stopped = group.after(HOUR, this::note);
        Ticker ticker = group.every(HOUR, this::note);
        Timer pending = group.after(HOUR, this::note);
        clock.advance(SECOND);
        stopped.stop();
        ticker.stop();
        for (int i = 0; i < 100; i++) {
            group.after(HOUR, NOTHING); // by now those that do not pend are not in the list
        }
        assertEquals(101, group.cancel());
        assertClosed(() -> fired.reset(SECOND));
        assertClosed(() -> stopped.reset(1, TimeUnit.SECONDS));
        assertClosed(() -> ticker.reset(SECOND));
        assertClosed(() -> pending.reset(SECOND));
        assertEquals(0, timers.pending());
        assertEquals(0, listed(group));
    }

    @Test
    void reset_ofTimersThatHaveLeftTheList_bringsThemBack() {
        Timer fired = group.after(SECOND, this::note);
        Timer stopped = group.after(HOUR, this::note);
        Ticker ticker = group.every(HOUR, this::note);
        clock.advance(SECOND);
        stopped.stop();
        ticker.stop();
        for (int i = 0; i < 100; i++) {
            group.after(HOUR, NOTHING).cancel();
        }
        assertFalse(fired.reset(SECOND));
        assertFalse(stopped.reset(SECOND));
        assertFalse(ticker.reset(SECOND));
        assertTrue(fired.reset(SECOND));
        assertTrue(ticker.reset(SECOND));
        assertEquals(3, group.cancel());
        clock.advance(HOUR);
        assertEquals(List.of(1L), ran);
    }

    /** A timer that fires and is armed again each time would be in the list once for each of its firings. */
    @Test
    void list_ofALongLivedGroup_staysAsShortAsWhatPends() throws Exception {
        assertEquals(0, listed(group));
        Timer again = group.after(SECOND, this::note);
        group.after(HOUR.multipliedBy(100), this::note);
        assertEquals(2, listed(group), "a group of two has a list of two");
        again.reset(SECOND);
        assertEquals(2, listed(group), "a reset of what pends needs no place");
        for (int i = 0; i < 10_000; i++) {
            clock.advance(SECOND);
            again.reset(SECOND);
            group.after(SECOND, this::note);
            group.after(HOUR, NOTHING).cancel();
        }
        assertTrue(listed(group) <= 16, "the list has grown");
        assertEquals(3, group.cancel());
    }

    @Test
    void reset_byItsOwnCallback_isOfTheGroup() {
        Timer[] self = new Timer[1];
        self[0] = group.after(SECOND, () -> {
            note();
            self[0].reset(SECOND);
        });
        clock.advance(SECOND.multipliedBy(3));
        assertEquals(1, group.cancel());
        clock.advance(HOUR);
        assertEquals(List.of(1L, 2L, 3L), ran);
    }

    @Test
    void cancel_byACallbackOfTheGroup_endsTheOthers() {
        group.every(SECOND, () -> {
            note();
            group.close();
            assertClosed(() -> group.after(SECOND, this::note));
        });
        group.after(HOUR, this::note);
        clock.advance(HOUR);
        assertEquals(List.of(1L), ran);
        assertEquals(0, timers.pending());
    }

    @Test
    void groupOfAGroup_isClosedWithItOrAlone() {
        TimerGroup inner = group.group("inner");
        Timer one = inner.after(HOUR, this::note);
        TimerGroup other = group.group("other");
        other.after(HOUR, this::note);
        group.after(HOUR, this::note);
        assertEquals("inner", TimerGroup.nameOf(one));
        assertEquals(1, other.cancel());
        assertEquals(2, group.cancel());
        assertFalse(one.isPending());
        assertClosed(() -> inner.every(SECOND, this::note));
        assertClosed(() -> one.reset(SECOND));
        assertEquals(0, inner.cancel());
        assertEquals(0, timers.pending());
    }

    @Test
    void groupOfALoop_runsOnItsThread() {
        TimerLoop loop = timers.attach(() -> {});
        TimerGroup ofLoop = loop.group("loop");
        try (loop) {
            ofLoop.after(SECOND, this::note);
            ofLoop.every(SECOND, this::note);
            clock.advance(SECOND);
            assertEquals(List.of(), ran);
            assertEquals(2, loop.runDue());
            assertEquals(1, ofLoop.cancel());
        }
        assertThrows(RejectedExecutionException.class, () -> ofLoop.after(SECOND, this::note));
        assertEquals(timers.now(), ofLoop.now());
    }

    @Test
    void pendingBy_nameOf_countsByGroups() {
        group.after(HOUR, NOTHING);
        group.every(HOUR, NOTHING);
        timers.group("g").after(HOUR, NOTHING);
        timers.group("other").orTimeout(new CompletableFuture<>(), HOUR);
        Timer none = timers.after(HOUR, NOTHING);
        assertNull(TimerGroup.nameOf(none));
        assertNull(TimerGroup.nameOf(timers.every(HOUR, NOTHING)));
        none.cancel();
        Map<String, Long> byGroup = timers.pendingBy(TimerGroup::nameOf);
        assertEquals(3, byGroup.get("g"));
        assertEquals(1, byGroup.get("other"));
        assertEquals(1, byGroup.get(null));
        assertEquals("TimerGroup[inner, of TimerGroup[g]]", group.group("inner").toString());
        assertThrows(NullPointerException.class, () -> TimerGroup.nameOf(null));
        assertThrows(NullPointerException.class, () -> timers.group(null));
    }

    @Test
    void cancel_withTimeoutsOfFutures_endsThem() {
        CompletableFuture<String> open = group.orTimeout(new CompletableFuture<>(), HOUR);
        CompletableFuture<String> done = group.orTimeout(new CompletableFuture<>(), HOUR);
        done.complete("done");
        assertEquals(1, group.cancel());
        assertTrue(open.isCancelled());
        open.exceptionally(e -> e.getMessage()).thenAccept(
                text -> assertEquals(group + " was closed before the timeout of 1 h was over", text)).join();
        assertEquals("done", done.join());
    }

    @Test
    void arming_thatTheSchedulerRefuses_keepsNothing() throws Exception {
        TimerScheduler full = TimerScheduler.builder().clock(clock).maxPending(1).build();
        try (full) {
            TimerGroup one = full.group("one");
            one.after(HOUR, this::note);
            for (int i = 0; i < 100; i++) {
                assertThrows(RejectedExecutionException.class, () -> one.after(HOUR, this::note));
            }
            assertThrows(NullPointerException.class, () -> one.after(null, this::note));
            assertThrows(NullPointerException.class, () -> one.after(HOUR, null));
            assertThrows(NullPointerException.class, () -> one.every(HOUR, null));
            assertEquals(2, listed(one));
            assertEquals(1, one.cancel());
        }
        TimerGroup late = full.group("late");
        assertThrows(RejectedExecutionException.class, () -> late.after(HOUR, this::note));
        assertEquals(0, listed(late));
    }

    @Test
    void arming_decoratorThrows_keepsNothing() throws Exception {
        TimerScheduler.Builder builder = TimerScheduler.builder().clock(clock).decorate(task -> {
            throw new IllegalStateException("meant");
        });
        try (TimerScheduler decorated = builder.build()) {
            TimerGroup outer = decorated.group("outer");
            TimerGroup inner = outer.group("inner");
            List<Executable> forms = List.of(() -> inner.after(HOUR, NOTHING), () -> inner.at(inner.now() + 1, NOTHING),
                    () -> inner.every(HOUR, NOTHING), () -> inner.timer(NOTHING),
                    () -> inner.schedule(after -> after.plus(HOUR), clock.asClock(Instant.EPOCH, ZoneOffset.UTC), NOTHING),
                    () -> inner.orTimeout(new CompletableFuture<>(), HOUR), () -> inner.interruptAfter(HOUR));
            for (Executable form : forms) {
                assertEquals("meant", assertThrows(IllegalStateException.class, form).getMessage());
            }
            assertEquals(0, decorated.pending());
            assertEquals(0, listed(inner));
            assertEquals(0, listed(outer));
            assertEquals(0, outer.cancel());
        }
    }

    // ---- the race of arming with a close ----

    /** What one thread has armed, and how often its own calls have prevented a firing. */
    private static final class Armer implements Runnable {
        final TimerGroup group;
        final AtomicInteger runs = new AtomicInteger();
        final CountDownLatch warm;
        int armings;
        int preventions;

        Armer(TimerGroup group, CountDownLatch warm) {
            this.group = group;
            this.warm = warm;
        }

        @Override
        public void run() {
            ThreadLocalRandom r = ThreadLocalRandom.current();
            Timer[] mine = new Timer[20];
            try {
                for (int i = 0; ; i++) {
                    int which = r.nextInt(mine.length);
                    long micros = r.nextInt(3) == 0 ? r.nextInt(200) : 3_600_000_000L;
                    if (mine[which] == null) {
                        mine[which] = group.after(micros, TimeUnit.MICROSECONDS, runs::incrementAndGet);
                        armings++;
                    } else if (r.nextInt(4) == 0) {
                        preventions += mine[which].cancel() ? 1 : 0;
                        mine[which] = null;
                    } else if (r.nextInt(3) == 0) {
                        preventions += mine[which].stop() ? 1 : 0;
                    } else {
                        preventions += mine[which].reset(micros, TimeUnit.MICROSECONDS) ? 1 : 0;
                        armings++;
                    }
                    if (i == 300) {
                        warm.countDown();
                    }
                }
            } catch (RejectedExecutionException closed) {
                warm.countDown();
            }
        }
    }

    @Test
    @Tag("stress")
    void cancel_whileThreadsArmAndReset_leavesNothingArmed() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
            for (int round = 0; round < Scale.of(100, 1_000); round++) {
                TimerGroup outer = s.group("outer");
                CountDownLatch warm = new CountDownLatch(3);
                List<Armer> armers = List.of(new Armer(outer, warm), new Armer(outer, warm), new Armer(outer.group("i"), warm));
                List<Thread> threads = armers.stream().map(Thread::new).toList();
                threads.forEach(Thread::start);
                warm.await();
                int[] cancelled = new int[2];
                Thread second = new Thread(() -> cancelled[1] = outer.cancel());
                second.start();
                cancelled[0] = outer.cancel();
                second.join();
                for (Thread t : threads) {
                    t.join();
                }
                assertEquals(0, s.pending());
                int due = armers.stream().mapToInt(a -> a.armings - a.preventions).sum() - cancelled[0] - cancelled[1];
                LifeFixtures.eventually("those that were claimed before run",
                        () -> armers.stream().mapToInt(a -> a.runs.get()).sum() == due);
            }
        }
    }
}
