package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.LoopFixtures.Actor;
import io.pendula.LoopFixtures.Bell;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A loop and a model of it live through the same random history. The clock only moves when the test says so, yet it is
 * no manual one, so a loop's inbox is as lazy as in earnest: it is left alone until something in it could be due.
 *
 * <p>The model is a map of deadlines. A loop waits for as long as it was told, or until its bell rings; whenever it has
 * been up, nothing may be left that was due, and nothing may have run that was not.
 */
@Timeout(60)
class LoopHistoryTest {
    private static final int STEPS = 700;
    private static final long[] SCALES = {1, 1_000, 1_000_000, 60_000_000, 2_000_000_000, 100_000_000_000L};

    private long time = 1;
    private final Bell bell = new Bell();
    private final TimerScheduler timers = TimerScheduler.builder().clock(() -> time).workers(0).build();
    private final Actor other = new Actor("other");
    private TimerLoop loop = timers.attach(bell);
    /** What is armed, and for when. */
    private final Map<Timer, Long> model = new LinkedHashMap<>();
    private final List<Timer> all = new ArrayList<>();
    private final Set<Timer> dueInThisVisit = new HashSet<>();
    private Random random;
    private boolean callbacksArm;
    private int ran;
    /** What a callback has to complain of. */
    private String wrong;
    /** When the loop's present wait is over. */
    private long waitsUntil;
    private boolean called;

    @AfterEach
    void close() {
        other.close();
    }

    private long delay() {
        return random.nextInt(12) == 0 ? 0 : 1 + (long) (random.nextDouble() * SCALES[random.nextInt(SCALES.length)]);
    }

    // ---- operations, each on the loop and on the model ----

    private void arm() {
        Timer[] self = new Timer[1];
        long delay = delay();
        self[0] = loop.after(delay, TimeUnit.NANOSECONDS, () -> fire(self[0]));
        all.add(self[0]);
        set(self[0], time + delay);
    }

    private void reset(Timer t) {
        reset(t, delay());
    }

    private void reset(Timer t, long delay) {
        assertEquals(model.containsKey(t), t.reset(delay, TimeUnit.NANOSECONDS));
        set(t, time + delay);
    }

    private void stop(Timer t) {
        assertEquals(model.remove(t) != null, t.stop());
    }

    private void set(Timer t, long deadline) {
        model.put(t, deadline);
        called |= deadline < waitsUntil;
        dueInThisVisit.remove(t);
    }

    private void fire(Timer t) {
        ran++;
        Long deadline = model.remove(t);
        if (deadline == null || deadline > time) {
            wrong = "it was stopped, or is early by " + deadline;
        } else if (!dueInThisVisit.remove(t)) {
            wrong = "it was armed by a callback of this visit, for " + deadline + " at " + time;
        }
        if (callbacksArm) {
            switch (random.nextInt(8)) {
                // Not for this very instant: if it was armed for that before, both are the same to its entry.
                case 0 -> reset(t, 1 + delay());
                case 1 -> arm();
                case 2 -> reset(any(), 1 + delay());
                case 3 -> {
                    Timer victim = any();
                    stop(victim);
                    dueInThisVisit.remove(victim);
                }
                case 4 -> timers.pending(); // files what is in the inbox
                default -> { }
            }
        }
    }

    private Timer any() {
        return all.get(random.nextInt(all.size()));
    }

    // ---- the loop's life ----

    /** Asks how long to wait; true if the loop may wait. */
    private boolean ask() {
        long answer = loop.nanosUntilNext();
        bell.rings();
        called = false;
        long next = model.values().stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
        long most = next == Long.MAX_VALUE ? next : Math.max(0, next - time);
        assertTrue(answer <= most, () -> "told to wait " + answer + ", but the next is due in " + most);
        waitsUntil = answer == Long.MAX_VALUE ? answer : time + answer;
        return answer > 0;
    }

    private void runDue() {
        waitsUntil = 0;
        for (int visits = 0; model.values().stream().anyMatch(d -> d <= time); visits++) {
            assertTrue(visits < 100, "something that is due does not run");
            model.forEach((t, deadline) -> {
                if (deadline <= time) {
                    dueInThisVisit.add(t);
                }
            });
            int before = ran;
            int limit = random.nextBoolean() ? Integer.MAX_VALUE : 1 + random.nextInt(1_000);
            int result = loop.runDue(limit);
            assertEquals(null, wrong);
            assertEquals(ran - before, result);
            dueInThisVisit.removeIf(t -> model.get(t) == time); // put off to this instant: the next call has them
            assertTrue(result == limit || dueInThisVisit.isEmpty(), () -> "left: " + dueInThisVisit.size());
            dueInThisVisit.clear();
        }
    }

    /** Until something calls, or the time is over. */
    private void waitAndRun() {
        if (ask() && waitsUntil < Long.MAX_VALUE) {
            time = waitsUntil;
        }
        runDue();
    }

    private void step() {
        int dice = random.nextInt(100);
        if (dice < 40) {
            for (int n = random.nextInt(50) == 0 ? 3_000 : random.nextInt(6); n > 0; n--) {
                arm();
            }
        } else if (dice < 60 && !all.isEmpty()) {
            for (int n = random.nextInt(20) == 0 ? all.size() : random.nextInt(6); n > 0; n--) {
                stop(any());
            }
        } else if (dice < 80 && !all.isEmpty()) {
            for (int n = random.nextInt(40) == 0 ? all.size() / 2 : random.nextInt(6); n > 0; n--) {
                reset(any());
            }
        } else if (dice < 90) {
            ask();
        } else {
            waitAndRun();
        }
        if (called) {
            assertTrue(bell.rings() > 0, "armed for earlier than its wait, and nobody has called the loop");
            called = false;
            waitsUntil = 0; // once for each wait
        }
        if (all.size() > 10_000) {
            all.removeIf(t -> !model.containsKey(t));
        }
    }

    @ParameterizedTest
    @CsvSource({"1, false", "2, false", "3, false", "1, true", "2, true", "3, true"})
    void anyHistory_nothingIsLostNothingIsEarly(long seed, boolean callbacksArm) {
        this.random = new Random(seed);
        this.callbacksArm = callbacksArm;
        for (int i = 0; i < STEPS; i++) {
            step();
        }
        settleAndReturn();
    }

    private void settleAndReturn() {
        callbacksArm = false;
        runDue();
        long rounds = 0;
        long most = 2L * all.size() + 1_000;
        int before = ran;
        int armed = model.size();
        while (model.size() > Math.max(armed / 2, armed - 400)) {
            waitAndRun();
            assertTrue(rounds++ < most, "it wakes up in vain again and again");
        }
        assertEquals(armed - model.size(), ran - before);
        assertEquals(model.size(), timers.pending());
        TimerStats stats = timers.stats();
        assertEquals(stats.armed(), stats.fired() + stats.stopped() + stats.resets() + stats.pending());
        assertEquals(ran, stats.fired());
        for (int n = 0; n < 5_000; n++) {
            arm(); // some stay in the inbox, some are taken out and not filed yet
        }
        List<TimerHandle> returned = loop.detach();
        assertEquals(model.size(), returned.size());
        assertEquals(new HashSet<>(model.keySet()), new HashSet<>(returned));
    }
}
