package io.pendula.lines;

import io.pendula.Timer;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.BiFunction;

/** What is counted, by the public API alone. Loaded together with the rewritten classes, as which it is not rewritten. */
public final class LineWorkload implements BiFunction<Integer, Integer, Map<String, String>> {
    private static final Duration FAR = Duration.ofSeconds(60);
    private static final Duration NEAR = Duration.ofMillis(1);
    private static final long AT_REST_NANOS = 5_000_000;
    /** So many fill an inbox, and the next arming thread drains it. */
    private static final int ARMED_EACH = 2048;
    private static final int IN_FLIGHT = 16;
    private static final int FIRED_EACH = 600;
    private static final int FILED_EACH = 1000;
    private static final long LONGEST_SLEEP_NANOS = 1_000_000_000;
    private static final int WARM_UP = 32;
    private static final int ONE_BY_ONE = 64;

    private TimerScheduler scheduler;
    private final List<LineTurns.Model> users = new ArrayList<>();
    private int fired;

    /** So many threads and workers: by operation the cell of its table, and the rows of the lines that threads share. */
    @Override
    public Map<String, String> apply(Integer threads, Integer workers) {
        Map<String, LineCounter.Figures> all = new LinkedHashMap<>();
        with(threads, workers, this::armAndStop);
        all.put("arm", LineCounter.figures("arm", 0));
        all.put("stop", LineCounter.figures("stop", 0));
        with(threads, workers, this::stopFiled);
        all.put("filed", LineCounter.figures("filed", 0));
        with(threads, workers, () -> fireMany(workers));
        all.put("fire", LineCounter.figures("fire", 0));
        with(threads, workers, this::fireOneByOne);
        all.put("alone", LineCounter.figures("alone", ONE_BY_ONE));
        Map<String, String> texts = new LinkedHashMap<>();
        all.forEach((name, f) -> {
            texts.put(name, f.text());
            texts.put("lines of " + name, f.rows(name));
        });
        return texts;
    }

    private void with(int threads, int workers, Runnable what) {
        LineTurns.begin();
        users.clear();
        scheduler = TimerScheduler.builder().workers(workers).build();
        LineTurns.settle();
        for (int i = 0; i < threads; i++) {
            LineTurns.Model user = LineTurns.user();
            users.add(user);
            LineTurns.runAs(user, () -> scheduler.after(Duration.ofHours(1), () -> {}));
        }
        LineTurns.pass(AT_REST_NANOS);
        what.run();
        LineCounter.end();
        scheduler.shutdownNow(); // a close would wait, and no other thread have its turn
        LineTurns.pass(AT_REST_NANOS);
    }

    /** Each thread keeps some in flight; no time passes. */
    private void armAndStop() {
        List<Queue<Timer>> inFlight = new ArrayList<>();
        users.forEach(u -> inFlight.add(new ArrayDeque<>()));
        LineCounter.begin();
        for (int n = 0; n < ARMED_EACH; n++) {
            for (int i = 0; i < users.size(); i++) {
                Queue<Timer> own = inFlight.get(i);
                LineTurns.runAs(users.get(i), () -> {
                    LineCounter.open();
                    own.add(scheduler.after(FAR, () -> {}));
                    LineCounter.close("arm");
                    if (own.size() > IN_FLIGHT) {
                        stop(own, "stop");
                    }
                });
                LineTurns.settle();
            }
        }
    }

    private static void stop(Queue<Timer> from, String name) {
        LineCounter.open();
        from.remove().stop();
        LineCounter.close(name);
    }

    /** The worker has taken all of them out of the inboxes before the first is stopped. */
    private void stopFiled() {
        List<Queue<Timer>> armed = new ArrayList<>();
        for (LineTurns.Model user : users) {
            Queue<Timer> own = new ArrayDeque<>();
            armed.add(own);
            LineTurns.runAs(user, () -> {
                for (int n = 0; n < FILED_EACH; n++) {
                    own.add(scheduler.after(FAR, () -> {}));
                }
            });
        }
        LineTurns.pass(LONGEST_SLEEP_NANOS);
        LineCounter.begin();
        for (int n = 0; n < FILED_EACH; n++) {
            for (int i = 0; i < users.size(); i++) {
                Queue<Timer> own = armed.get(i);
                LineTurns.runAs(users.get(i), () -> stop(own, "filed"));
                LineTurns.settle();
            }
        }
    }

    /** Many for one instant in each queue. Of their firings the middle third counts, when all workers are up. */
    private void fireMany(int workers) {
        fired = 0;
        int all = workers * FIRED_EACH;
        for (int i = 0; i < workers; i++) {
            LineTurns.Model user = i < users.size() ? users.get(i) : LineTurns.user();
            LineTurns.runAs(user, () -> {
                for (int n = 0; n < FIRED_EACH; n++) {
                    scheduler.after(NEAR, () -> fired(all));
                }
            });
        }
        LineTurns.pass(AT_REST_NANOS);
    }

    private void fired(int all) {
        LineCounter.close("fire");
        fired++;
        if (fired == all / 3) {
            LineCounter.begin();
        } else if (fired == all / 3 * 2) {
            LineCounter.end();
        }
        LineCounter.open();
        LineTurns.pause();
    }

    /** One is armed, a worker wakes up for it, and then the next one is armed. */
    private void fireOneByOne() {
        for (int n = 0; n < WARM_UP + ONE_BY_ONE; n++) {
            if (n == WARM_UP) {
                LineCounter.begin();
            }
            LineCounter.openAll();
            LineTurns.runAs(users.get(n % users.size()), () -> scheduler.after(NEAR, () -> {}));
            LineTurns.settle();
            LineTurns.pass(2 * NEAR.toNanos());
            LineCounter.closeAll("alone");
        }
    }
}
