package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.TimeoutException;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.smallrye.mutiny.subscription.UniEmitter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Mutiny's time-outs, delays, ticks and retries, with an executor for each or with one that is the default. */
class MutinyTest {
    private static final Duration LIMIT = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(Patience.SECONDS);

    /** 2,000,000 time-outs of one minute, each of which ends when 10,000 younger ones have begun. */
    static void answerInTime(ScheduledExecutorService executor) {
        Queue<UniEmitter<? super Integer>> asked = new ArrayDeque<>();
        for (int i = 0; i < 2_000_000; i++) {
            Uni.createFrom().<Integer>emitter(asked::add).ifNoItem().after(Duration.ofMinutes(1)).on(executor).fail()
                    .subscribe().with(answer -> {});
            if (asked.size() > 10_000) {
                asked.remove().complete(i);
            }
        }
        asked.forEach(emitter -> emitter.complete(0));
    }

    @ParameterizedTest
    @EnumSource
    void timeout_endsEachSlowSource_andNoFastOne(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            int sources = 100;
            Queue<Integer> values = new ConcurrentLinkedQueue<>();
            Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
            Queue<Long> lives = new ConcurrentLinkedQueue<>();
            CountDownLatch ended = new CountDownLatch(2 * sources);
            for (int i = 0; i < sources; i++) {
                long start = System.nanoTime();
                Uni.createFrom().<Integer>nothing().ifNoItem().after(LIMIT).on(subject.executor).fail()
                        .onTermination().invoke(ended::countDown)
                        .subscribe().with(values::add, thrown -> {
                            lives.add(System.nanoTime() - start);
                            errors.add(thrown);
                        });
                Uni.createFrom().item(i).onItem().delayIt().onExecutor(subject.executor).by(Duration.ofMillis(1))
                        .ifNoItem().after(PATIENCE).on(subject.executor).fail()
                        .subscribe().with(value -> {
                            values.add(value);
                            ended.countDown();
                        }, errors::add);
            }
            Patience.await(ended);
            subject.letPass(LIMIT.toMillis());
            assertEquals(sources, values.size());
            assertEquals(sources, errors.size());
            errors.forEach(thrown -> assertInstanceOf(TimeoutException.class, thrown));
            lives.forEach(nanos -> Patience.assertElapsed(LIMIT.toMillis(), 0, nanos));
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void ticks_comeAtTheirRate_untilCancelled(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            List<Long> instants = new ArrayList<>();
            long start = System.nanoTime();
            List<Long> ticks = Multi.createFrom().ticks().onExecutor(subject.executor).every(Duration.ofMillis(5))
                    .onItem().invoke(() -> instants.add(System.nanoTime()))
                    .select().first(20).collect().asList().await().atMost(PATIENCE);
            assertEquals(LongStream.range(0, 20).boxed().toList(), ticks);
            for (int i = 0; i < 20; i++) {
                Patience.assertElapsed(5L * i, start, instants.get(i));
            }
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void defaultExecutor_runsRetries_andIsShutDownWhenTheNextIsSet(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            List<Long> attempts = new ArrayList<>();
            Infrastructure.setDefaultExecutor(subject.executor);
            try {
                Uni<Boolean> call = Uni.createFrom().item(() -> {
                    attempts.add(System.nanoTime());
                    if (attempts.size() < 4) {
                        throw new IllegalStateException("attempt " + attempts.size());
                    }
                    return subject.isOwnThread();
                });
                assertTrue(call.onFailure().retry().withBackOff(LIMIT, LIMIT).withJitter(0).atMost(5)
                        .await().atMost(PATIENCE));
                assertEquals(4, attempts.size());
                Patience.assertSpaced(LIMIT.toMillis(), attempts);
                subject.letRunsEnd();
            } finally {
                Infrastructure.setDefaultExecutor();
            }
            subject.assertShutDown();
        }
    }
}
