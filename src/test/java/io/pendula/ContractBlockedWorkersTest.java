package io.pendula;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * While all workers but one are blocked, the free one runs what is due, whichever thread scheduled it and when. The
 * bounds are generous; how late it is on a quiet machine is for the benchmarks to tell.
 */
class ContractBlockedWorkersTest extends ContractCase implements ContractSubjects.SeveralWorkers {
    private static final int ROUNDS = 12;
    private static final long DELAY = 1_500_000;

    enum Source {
        /** By the tasks that then block, for now. */
        INSIDE_NOW,
        /** By the tasks that then block, for a while later. */
        INSIDE_LATER,
        /** From outside before the others block, for a time when they do. */
        BEFORE,
        /** From outside while they are blocked, for now. */
        OUTSIDE_NOW,
        /** From outside while they are blocked, for a while later. */
        OUTSIDE_LATER
    }

    private final List<Long> lateness = Collections.synchronizedList(new ArrayList<>());

    private void schedule(ScheduledExecutorService pool, long delay, CountDownLatch ran) {
        long due = System.nanoTime() + delay;
        pool.schedule(() -> {
            lateness.add(System.nanoTime() - due);
            ran.countDown();
        }, delay, NANOSECONDS);
    }

    private void round(ScheduledExecutorService pool, Source source) {
        int blocked = subject.workers() - 1;
        CountDownLatch ran = new CountDownLatch(blocked);
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < blocked; i++) {
            Hold hold = hold();
            holds.add(hold);
            if (source == Source.BEFORE) {
                schedule(pool, 2 * DELAY, ran);
            }
            pool.execute(() -> {
                if (source == Source.INSIDE_NOW || source == Source.INSIDE_LATER) {
                    schedule(pool, source == Source.INSIDE_NOW ? 0 : DELAY, ran);
                }
                hold.run();
            });
        }
        holds.forEach(hold -> await(hold.begun));
        if (source == Source.OUTSIDE_NOW || source == Source.OUTSIDE_LATER) {
            for (int i = 0; i < blocked; i++) {
                schedule(pool, source == Source.OUTSIDE_NOW ? 0 : DELAY, ran);
            }
        }
        await(ran);
        open(holds);
        holds.forEach(hold -> await(hold.ended));
    }

    @ParameterizedTest
    @EnumSource
    void schedule_allWorkersButOneBlocked_theFreeOneRunsItSoon(Source source) throws Exception {
        ScheduledExecutorService pool = pool();
        // A view has the workers of its scheduler, which wait for the monitor to notice a blocked one.
        long bound = subject.ownsThreads() ? 5_000_000 : 50_000_000;
        inTimeAtLeastOnce(() -> {
            lateness.clear();
            for (int i = 0; i < ROUNDS; i++) {
                round(pool, source);
            }
            Collections.sort(lateness);
            assertTrue(lateness.get(0) >= 0, () -> "early by " + -lateness.get(0) + " ns");
            long most = lateness.get(lateness.size() * 9 / 10);
            LifeFixtures.figure("%s, others blocked, %s: lateness p90 %.2f ms, max %.2f ms", subject, source,
                    LifeFixtures.millis(most), LifeFixtures.millis(lateness.get(lateness.size() - 1)));
            return most < bound;
        });
    }
}
