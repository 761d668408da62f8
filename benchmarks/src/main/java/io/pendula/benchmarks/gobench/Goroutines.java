package io.pendula.benchmarks.gobench;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** What runs goroutines: as many threads as Go has processors. They are there from the start. */
final class Goroutines extends ThreadPoolExecutor {
    Goroutines(int threads) {
        super(threads, threads, 0, TimeUnit.NANOSECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread t = new Thread(task, "goroutines");
            t.setDaemon(true);
            return t;
        });
        prestartAllCoreThreads();
    }
}
