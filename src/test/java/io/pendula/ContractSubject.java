package io.pendula;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;

/**
 * A kind of executor that the contract is tested against. The JDK's own pool is among them: what fails there is a
 * fault of the test.
 *
 * @param workers how many tasks it runs at once
 * @param ownsThreads whether its threads begin and end with it
 * @param patienceSeconds how long a test waits for what should come at once
 */
record ContractSubject(String name, int workers, boolean ownsThreads, long patienceSeconds, Maker maker) {
    interface Maker {
        /** Makes one, and hands over what is to be done when it has ended. */
        ScheduledExecutorService make(int workers, ThreadFactory threads, Consumer<Runnable> afterwards);
    }

    static ContractSubject jdk(int workers) {
        return new ContractSubject("jdk " + workers, workers, true, Fixtures.PATIENCE_SECONDS, (n, threads, end) -> {
            ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(n, threads);
            pool.setRemoveOnCancelPolicy(true);
            return pool;
        });
    }

    static ContractSubject pendula(int workers) {
        return new ContractSubject("pendula " + workers, workers, true, Fixtures.PATIENCE_SECONDS,
                (n, threads, end) -> TimerExecutors.newScheduledThreadPool(n, threads));
    }

    static ContractSubject view(int workers) {
        return new ContractSubject("view of " + workers, workers, false, Fixtures.PATIENCE_SECONDS,
                (n, threads, end) -> {
                    TimerScheduler s = TimerScheduler.builder().workers(n).maxThreads(n).threadFactory(threads).build();
                    end.accept(s::close);
                    return s.asScheduledExecutorService();
                });
    }

    /** A view of a scheduler whose workers hand all callbacks to an executor of so many threads. */
    static ContractSubject handOff(int workers) {
        return new ContractSubject("hand-off to " + workers, workers, false, Fixtures.PATIENCE_SECONDS,
                (n, threads, end) -> {
                    ExecutorService callbacks = Executors.newFixedThreadPool(n, threads);
                    TimerScheduler s = TimerScheduler.builder().workers(2).executor(callbacks).build();
                    end.accept(s::close);
                    end.accept(callbacks::shutdown);
                    return s.asScheduledExecutorService();
                });
    }

    /** A pool whose one thread hands all tasks to an executor of so many threads. */
    static ContractSubject poolOn(int workers) {
        return new ContractSubject("pool on " + workers, workers, false, Fixtures.PATIENCE_SECONDS,
                (n, threads, end) -> {
                    ExecutorService callbacks = Executors.newFixedThreadPool(n, threads);
                    end.accept(callbacks::shutdown);
                    return TimerExecutors.builder().executor(callbacks).build();
                });
    }

    static List<ContractSubject> all() {
        List<ContractSubject> all = new ArrayList<>(jdkAlone());
        all.addAll(pendulaAlone());
        return all;
    }

    static List<ContractSubject> jdkAlone() {
        return List.of(jdk(1), jdk(2));
    }

    static List<ContractSubject> pendulaAlone() {
        return List.of(pendula(1), pendula(4), view(2), handOff(2), poolOn(2));
    }

    @Override
    public String toString() {
        return name;
    }
}
