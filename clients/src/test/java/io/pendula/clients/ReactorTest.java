package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Reactor's time operators on {@code Schedulers.fromExecutorService(executor)}. Disposing of such a scheduler shuts its
 * executor down, so the one who owns the executor leaves that out, or gives a view of a scheduler away.
 */
class ReactorTest {
    private static final long PERIOD = 20;
    private static final long LIMIT = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(Patience.SECONDS);

    private static Duration ms(long millis) {
        return Duration.ofMillis(millis);
    }

    @ParameterizedTest
    @EnumSource
    void interval_ticksOnItsGrid_andEndsWithTheLastOneTaken(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Scheduler scheduler = Schedulers.fromExecutorService(subject.executor);
            AtomicInteger emitted = new AtomicInteger();
            AtomicInteger onOwnThread = new AtomicInteger();
            List<Long> instants = new ArrayList<>();
            long start = System.nanoTime();
            List<Long> ticks = Flux.interval(ms(3 * PERIOD), ms(PERIOD), scheduler)
                    .doOnNext(k -> {
                        emitted.incrementAndGet();
                        instants.add(System.nanoTime());
                        onOwnThread.addAndGet(subject.isOwnThread() ? 1 : 0);
                    })
                    .take(10)
                    .collectList()
                    .block(PATIENCE);
            assertEquals(LongStream.range(0, 10).boxed().toList(), ticks);
            for (int k = 0; k < 10; k++) {
                Patience.assertElapsed((3 + k) * PERIOD, start, instants.get(k));
            }
            subject.letPass(3 * PERIOD);
            assertEquals(10, emitted.get());
            assertEquals(10, onOwnThread.get());
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void interval_disposedFromOutside_ticksNoMore(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Scheduler scheduler = Schedulers.fromExecutorService(subject.executor);
            int streams = 20;
            AtomicInteger emitted = new AtomicInteger();
            CountDownLatch someTicks = new CountDownLatch(5 * streams);
            List<Disposable> running = new ArrayList<>();
            for (int i = 0; i < streams; i++) {
                running.add(Flux.interval(ms(PERIOD), scheduler).subscribe(k -> {
                    emitted.incrementAndGet();
                    someTicks.countDown();
                }));
            }
            Patience.await(someTicks);
            running.forEach(Disposable::dispose);
            subject.letRunsEnd();
            int atDisposal = emitted.get();
            subject.letPass(5 * PERIOD);
            assertEquals(atDisposal, emitted.get());
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeout_endsEachSlowSourceOnce_andNoFastOne(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Scheduler scheduler = Schedulers.fromExecutorService(subject.executor);
            int sources = 100;
            AtomicInteger values = new AtomicInteger();
            Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
            Queue<Long> lives = new ConcurrentLinkedQueue<>();
            CountDownLatch ended = new CountDownLatch(2 * sources);
            for (int i = 0; i < sources; i++) {
                long start = System.nanoTime();
                Mono.<Integer>never().timeout(ms(LIMIT), scheduler)
                        .subscribe(v -> values.incrementAndGet(), e -> {
                            lives.add(System.nanoTime() - start);
                            errors.add(e);
                            ended.countDown();
                        });
                Mono.just(i).delayElement(ms(1), scheduler).timeout(PATIENCE, scheduler)
                        .subscribe(v -> {
                            values.incrementAndGet();
                            ended.countDown();
                        }, errors::add);
            }
            Patience.await(ended);
            subject.letPass(LIMIT);
            assertEquals(sources, values.get());
            assertEquals(sources, errors.size());
            errors.forEach(e -> assertInstanceOf(TimeoutException.class, e));
            lives.forEach(nanos -> Patience.assertElapsed(LIMIT, 0, nanos));
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void delayElements_keepsOrderAndDistance(ExecutorKind kind) {
        try (Subject subject = kind.open(4)) {
            int values = 20;
            List<Long> instants = new ArrayList<>();
            instants.add(System.nanoTime());
            List<Integer> delayed = Flux.range(0, values)
                    .delayElements(ms(5), Schedulers.fromExecutorService(subject.executor))
                    .doOnNext(v -> instants.add(System.nanoTime()))
                    .collectList()
                    .block(PATIENCE);
            assertEquals(IntStream.range(0, values).boxed().toList(), delayed);
            for (int i = 1; i <= values; i++) {
                Patience.assertElapsed(5, instants.get(i - 1), instants.get(i));
            }
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void worker_disposedOf_dropsWhatItScheduled_andNothingElse(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Scheduler scheduler = Schedulers.fromExecutorService(subject.executor);
            Scheduler.Worker worker = scheduler.createWorker();
            AtomicInteger dropped = new AtomicInteger();
            CountDownLatch kept = new CountDownLatch(1);
            worker.schedule(dropped::incrementAndGet, LIMIT, TimeUnit.MILLISECONDS);
            worker.schedulePeriodically(dropped::incrementAndGet, LIMIT, LIMIT, TimeUnit.MILLISECONDS);
            scheduler.schedule(kept::countDown, LIMIT, TimeUnit.MILLISECONDS);
            worker.dispose();
            subject.letRunsEnd();
            int atDisposal = dropped.get();
            Patience.await(kept);
            subject.letPass(2 * LIMIT);
            assertEquals(atDisposal, dropped.get());
            assertThrows(RejectedExecutionException.class, () -> worker.schedule(() -> {}));
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void disposingOfTheScheduler_shutsItsExecutorDown(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Scheduler scheduler = Schedulers.fromExecutorService(subject.executor);
            AtomicInteger ran = new AtomicInteger();
            scheduler.schedule(ran::incrementAndGet, 1, TimeUnit.HOURS);
            scheduler.dispose();
            assertThrows(RejectedExecutionException.class, () -> scheduler.schedule(ran::incrementAndGet));
            subject.assertShutDown();
            assertEquals(0, ran.get());
        }
    }
}
