package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.core.Scheduler;
import io.reactivex.rxjava3.core.Single;
import io.reactivex.rxjava3.disposables.Disposable;
import io.reactivex.rxjava3.plugins.RxJavaPlugins;
import io.reactivex.rxjava3.schedulers.Schedulers;
import io.reactivex.rxjava3.schedulers.Timed;
import io.reactivex.rxjava3.subjects.PublishSubject;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** RxJava's time operators on {@code Schedulers.from(executor)}; such a scheduler never closes its executor. */
class RxJavaTest {
    private static final long PERIOD = 20;
    private static final long LIMIT = 100;

    /** Errors that RxJava could tell nobody. */
    private final Queue<Throwable> undeliverable = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void listen() {
        RxJavaPlugins.setErrorHandler(undeliverable::add);
    }

    @AfterEach
    void nothingWasUndeliverable() {
        RxJavaPlugins.setErrorHandler(null);
        assertEquals(List.of(), List.copyOf(undeliverable));
    }

    private static void assertGrid(long start, long firstMillis, long periodMillis, List<Long> instants) {
        for (int k = 0; k < instants.size(); k++) {
            Patience.assertElapsed(firstMillis + k * periodMillis, start, instants.get(k));
        }
    }

    @ParameterizedTest
    @EnumSource
    void interval_ticksOnItsGrid_andEndsWithTheLastOneTaken(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Scheduler scheduler = Schedulers.from(subject.executor);
            AtomicInteger emitted = new AtomicInteger();
            AtomicInteger onOwnThread = new AtomicInteger();
            List<Long> instants = new ArrayList<>();
            long start = System.nanoTime();
            List<Long> ticks = Observable.interval(3 * PERIOD, PERIOD, TimeUnit.MILLISECONDS, scheduler)
                    .doOnNext(k -> {
                        emitted.incrementAndGet();
                        instants.add(System.nanoTime());
                        onOwnThread.addAndGet(subject.isOwnThread() ? 1 : 0);
                    })
                    .take(10)
                    .toList()
                    .timeout(Patience.SECONDS, TimeUnit.SECONDS)
                    .blockingGet();
            assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L), ticks);
            assertGrid(start, 3 * PERIOD, PERIOD, instants);
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
            int streams = 20;
            AtomicInteger emitted = new AtomicInteger();
            CountDownLatch someTicks = new CountDownLatch(5 * streams);
            List<Disposable> running = new ArrayList<>();
            for (int i = 0; i < streams; i++) {
                running.add(Observable.interval(PERIOD, TimeUnit.MILLISECONDS, Schedulers.from(subject.executor))
                        .subscribe(k -> {
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
            Scheduler scheduler = Schedulers.from(subject.executor);
            int sources = 100;
            AtomicInteger values = new AtomicInteger();
            Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
            Queue<Long> lives = new ConcurrentLinkedQueue<>();
            CountDownLatch ended = new CountDownLatch(2 * sources);
            for (int i = 0; i < sources; i++) {
                long start = System.nanoTime();
                Single.<Integer>never().timeout(LIMIT, TimeUnit.MILLISECONDS, scheduler)
                        .subscribe(v -> values.incrementAndGet(), e -> {
                            lives.add(System.nanoTime() - start);
                            errors.add(e);
                            ended.countDown();
                        });
                Single.just(i).delay(1, TimeUnit.MILLISECONDS, scheduler)
                        .timeout(Patience.SECONDS, TimeUnit.SECONDS, scheduler)
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
    void timeoutBetweenValues_isPutOffByEachValue(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            int values = 1_000;
            PublishSubject<Integer> source = PublishSubject.create();
            AtomicInteger received = new AtomicInteger();
            AtomicLong last = new AtomicLong();
            AtomicReference<Throwable> error = new AtomicReference<>();
            AtomicLong end = new AtomicLong();
            CountDownLatch ended = new CountDownLatch(1);
            source.timeout(LIMIT, TimeUnit.MILLISECONDS, Schedulers.from(subject.executor))
                    .subscribe(v -> {
                        received.incrementAndGet();
                        last.set(System.nanoTime());
                    }, e -> {
                        end.set(System.nanoTime());
                        error.set(e);
                        ended.countDown();
                    });
            for (int i = 0; i < values; i++) {
                source.onNext(i);
            }
            Patience.await(ended);
            assertInstanceOf(TimeoutException.class, error.get());
            assertTrue(received.get() > 0);
            Patience.assertElapsed(LIMIT, last.get(), end.get());
            assertFalse(source.hasObservers());
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void delay_onOneWorker_keepsOrderAndDistance(ExecutorKind kind) {
        try (Subject subject = kind.open(1)) { // with more of them RxJava's worker mixes what is due at the same time
            int values = 1_000;
            long start = System.nanoTime();
            List<Timed<Integer>> delayed = Observable.range(0, values)
                    .delay(LIMIT, TimeUnit.MILLISECONDS, Schedulers.from(subject.executor))
                    .map(v -> new Timed<>(v, System.nanoTime(), TimeUnit.NANOSECONDS))
                    .toList()
                    .timeout(Patience.SECONDS, TimeUnit.SECONDS)
                    .blockingGet();
            assertEquals(values, delayed.size());
            for (int i = 0; i < values; i++) {
                assertEquals(i, delayed.get(i).value());
                Patience.assertElapsed(LIMIT, start, delayed.get(i).time());
            }
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void disposal_interruptsTheRunningTask_andNotTheNext(ExecutorKind kind) {
        try (Subject subject = kind.open(1)) {
            Scheduler scheduler = Schedulers.from(subject.executor, true);
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch never = new CountDownLatch(1);
            CountDownLatch interrupted = new CountDownLatch(1);
            Disposable task = scheduler.scheduleDirect(() -> {
                running.countDown();
                try {
                    never.await(Patience.SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    interrupted.countDown();
                }
            }, 1, TimeUnit.MILLISECONDS);
            Patience.await(running);
            task.dispose();
            Patience.await(interrupted);
            assertEquals("undisturbed", Single.fromCallable(() -> Thread.interrupted() ? "disturbed" : "undisturbed")
                    .subscribeOn(scheduler)
                    .timeout(Patience.SECONDS, TimeUnit.SECONDS)
                    .blockingGet());
            subject.assertLeftRunning(0);
        }
    }
}
