package io.pendula.search;

import static io.pendula.search.Spec.LATE;
import static io.pendula.search.Spec.NOW;
import static io.pendula.search.Spec.SOON;
import static io.pendula.search.Spec.arm;
import static io.pendula.search.Spec.reset;
import static io.pendula.search.Spec.stop;

import io.pendula.search.Spec.Call;
import io.pendula.search.Spec.Start;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Makes programs: all small ones, or one by chance. */
final class Programs {
    private static final List<Call> OF_FIRST = List.of(reset(0, NOW), reset(0, SOON), reset(0, LATE), stop(0));
    private static final List<Call> ARMS = List.of(arm(0, NOW), arm(0, SOON), arm(0, LATE));
    private static final List<Start> STARTS = List.of(Start.QUEUED, Start.FILED, Start.STOPPED_QUEUED,
            Start.STOPPED_FILED, Start.FIRED);

    private Programs() {}

    /**
     * One thread arms, resets or stops timer 0, in whatever state that is; each alone, and beside another timer that is
     * filed.
     */
    static List<Spec> ofOneStep() {
        List<Spec> all = new ArrayList<>();
        for (boolean beside : new boolean[] {false, true}) {
            for (Call arm : ARMS) {
                all.add(spec(Start.NEW, beside, List.of(List.of(arm))));
            }
            for (Start start : STARTS) {
                for (Call c : OF_FIRST) {
                    all.add(spec(start, beside, List.of(List.of(c))));
                }
            }
        }
        return all;
    }

    /** Two steps of one thread, or of two threads, which is the same the other way round. */
    static List<Spec> ofTwoSteps() {
        List<Spec> all = new ArrayList<>();
        for (boolean beside : new boolean[] {false, true}) {
            for (Call arm : ARMS) {
                for (Call c : OF_FIRST) {
                    all.add(spec(Start.NEW, beside, List.of(List.of(arm, c))));
                }
            }
            for (Start start : STARTS) {
                for (int i = 0; i < OF_FIRST.size(); i++) {
                    for (int k = 0; k < OF_FIRST.size(); k++) {
                        all.add(spec(start, beside, List.of(List.of(OF_FIRST.get(i), OF_FIRST.get(k)))));
                        if (k >= i) {
                            all.add(spec(start, beside, List.of(List.of(OF_FIRST.get(i)), List.of(OF_FIRST.get(k)))));
                        }
                    }
                }
            }
        }
        return all;
    }

    private static Spec spec(Start start, boolean beside, List<List<Call>> threads) {
        return new Spec(1, 0, beside ? List.of(start, Start.FILED) : List.of(start), threads);
    }

    /** Up to three threads, six steps in all, one or two workers, and two timers. */
    static Spec drawn(SplittableRandom random) {
        List<Start> timers = new ArrayList<>();
        boolean[] isNew = new boolean[2];
        for (int i = 0; i < 2; i++) {
            Start s = Start.values()[random.nextInt(Start.values().length)];
            timers.add(s);
            isNew[i] = s == Start.NEW;
        }
        List<List<Call>> threads = new ArrayList<>();
        int users = 1 + random.nextInt(3);
        for (int u = 0; u < users; u++) {
            List<Call> calls = new ArrayList<>();
            for (int steps = 1 + random.nextInt(6 / users); steps > 0; steps--) {
                int t = random.nextInt(2);
                long when = new long[] {NOW, SOON, Spec.FILED, LATE, Spec.DISTANT, Spec.FAR}[random.nextInt(6)];
                if (isNew[t]) {
                    if (u == 0) {
                        calls.add(arm(t, when)); // no other thread can reach it before
                        isNew[t] = false;
                        timers.set(t, Start.NEW);
                    }
                } else {
                    boolean isOfAnother = timers.get(t) == Start.NEW && u != 0;
                    calls.add(isOfAnother || random.nextInt(5) == 0 ? Spec.help()
                            : random.nextInt(3) == 0 ? stop(t) : reset(t, when));
                }
            }
            threads.add(calls);
        }
        return new Spec(1 + random.nextInt(2), 0, timers, threads);
    }
}
