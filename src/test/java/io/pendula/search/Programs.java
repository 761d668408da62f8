package io.pendula.search;

import static io.pendula.search.Spec.arm;
import static io.pendula.search.Spec.of;
import static io.pendula.search.Spec.reset;
import static io.pendula.search.Spec.stop;

import io.pendula.search.Spec.Call;
import io.pendula.search.Spec.Op;
import io.pendula.search.Spec.Owner;
import io.pendula.search.Spec.Stall;
import io.pendula.search.Spec.Start;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Makes programs: all small ones, or one by chance. */
final class Programs {
    private static final List<Start> STARTS = List.of(Start.NEW, Start.QUEUED, Start.FILED, Start.FILED_FAR,
            Start.STOPPED_QUEUED, Start.STOPPED_FILED, Start.FIRED);
    private static final long[] OF_FIRST = {Spec.NOW, Spec.SOON, Spec.LATE};
    private static final long[] OF_SECOND = {Spec.SOON};
    private static final long[] INSTANTS = {Spec.NOW, Spec.SOON, Spec.BETWEEN, Spec.FILED, Spec.LATE, Spec.DISTANT,
        Spec.FAR};
    private static final List<List<Stall>> STALLS = List.of(List.of(), List.of(), List.of(Stall.LONG),
            List.of(Stall.SHORT, Stall.LONG), List.of(Stall.LONG, Stall.LONG));
    /** A timer that is drawn is armed for so many of them. */
    private static final int DRAWN_INSTANTS = 4;

    private Programs() {}

    /** One timer in any state, and another that is filed, or new: all that users can do to both. */
    static List<Spec> all(Owner owner) {
        List<Spec> all = new ArrayList<>();
        for (Start first : STARTS) {
            all.add(with(owner, first, Start.FILED));
            all.add(with(owner, first, Start.NEW));
        }
        return all;
    }

    static Spec with(Owner owner, Start first, Start second) {
        List<Call> calls = new ArrayList<>();
        add(calls, 0, first, OF_FIRST);
        add(calls, 1, second, OF_SECOND);
        addOthers(calls, owner);
        return new Spec(owner, List.of(first, second), calls, 1, List.of(), 0, 1);
    }

    private static void add(List<Call> calls, int timer, Start start, long... instants) {
        for (long when : instants) {
            if (start == Start.NEW) {
                calls.add(arm(timer, when));
            }
            calls.add(reset(timer, when));
        }
        calls.add(stop(timer));
    }

    private static void addOthers(List<Call> calls, Owner owner) {
        calls.add(of(Op.HELP));
        if (owner.queues == 0) {
            calls.add(of(Op.LEAVE));
        }
        calls.add(of(Op.CLOSE));
    }

    /** Up to eight calls, three timers, any owner, two returns from park without a cause, perhaps stalls. */
    static Spec drawn(SplittableRandom random) {
        Owner owner = Owner.values()[random.nextInt(Owner.values().length)];
        List<Start> timers = new ArrayList<>();
        List<Call> calls = new ArrayList<>();
        for (int i = 2 + random.nextInt(2); i > 0; i--) {
            Start start = Start.values()[random.nextInt(Start.values().length)];
            long[] instants = random.longs(DRAWN_INSTANTS, 0, INSTANTS.length).map(n -> INSTANTS[(int) n]).distinct()
                    .toArray();
            add(calls, timers.size(), start, instants);
            timers.add(start);
        }
        addOthers(calls, owner);
        int most = 3 + random.nextInt(6);
        List<Stall> stalls = STALLS.get(random.nextInt(STALLS.size()));
        return new Spec(owner, timers, calls, most, stalls, random.nextInt(3), 1 + random.nextInt(2));
    }
}
