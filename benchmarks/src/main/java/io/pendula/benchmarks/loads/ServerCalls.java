package io.pendula.benchmarks.loads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.pendula.benchmarks.rivals.Rival;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a busy server does to a scheduler beside the timers that fire, at a steady pace until the JVM ends: two threads
 * arm timeouts of requests, stop those that were armed 20 ms ago, and reset the idle timeouts of connections.
 */
public final class ServerCalls {
    /** All calls of all threads together. */
    private static final int CALLS_PER_SECOND = 20_000;
    private static final int THREADS = 2;
    private static final long BATCH_NANOS = MILLISECONDS.toNanos(5);
    /** A batch arms, stops and resets so many timers each. */
    private static final int OF_EACH = (int) (CALLS_PER_SECOND * BATCH_NANOS / SECONDS.toNanos(1) / THREADS / 3);
    /** A request is answered after so many batches. */
    private static final int ANSWERED_AFTER = 4;
    private static final int CONNECTIONS = 5_000;
    private static final long LIMIT = MILLISECONDS.toNanos(200);
    private static final long IDLE_LIMIT = SECONDS.toNanos(600);


    private ServerCalls() {}

    /** Returns the threads that call. */
    public static Set<Thread> begin(Rival rival) {
        Set<Thread> threads = Stream.generate(() -> new Thread(() -> call(rival), "server-calls")).limit(THREADS)
                .collect(Collectors.toSet());
        threads.forEach(t -> {
            t.setDaemon(true);
            t.start();
        });
        return threads;
    }

    private static void call(Rival rival) {
        Object[] idle = new Object[CONNECTIONS];
        for (int i = 0; i < CONNECTIONS; i++) {
            idle[i] = rival.schedule(IDLE_LIMIT, Rival.Task.NOTHING);
        }
        Object[] requests = new Object[OF_EACH * ANSWERED_AFTER];
        int request = 0;
        int connection = 0;
        for (long next = System.nanoTime(); ; next += BATCH_NANOS) {
            for (long left; (left = next - System.nanoTime()) > 0; ) {
                LockSupport.parkNanos(left);
            }
            for (int i = 0; i < OF_EACH; i++) {
                if (requests[request] != null) {
                    rival.cancel(requests[request]);
                }
                requests[request] = rival.schedule(LIMIT, Rival.Task.NOTHING);
                request = (request + 1) % requests.length;
                idle[connection] = rival.reset(idle[connection], IDLE_LIMIT, Rival.Task.NOTHING);
                connection = (connection + 1) % CONNECTIONS;
            }
        }
    }
}
