package io.pendula.benchmarks.loads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.pendula.benchmarks.rivals.Rival;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Requests that come at random instants, each with a time limit, and are answered after times whose logarithms are
 * normal. One thread sends and answers: it arms a request's limit, and stops it when the answer comes first. All is fixed
 * beforehand, so a thread that is late sends and answers what it has missed.
 */
public final class Purgatory {
    private static final long LIMIT = MILLISECONDS.toNanos(200);
    private static final double MEDIAN_NANOS = MILLISECONDS.toNanos(20);
    /** So that three of four answers take up to 60 ms, and one in twelve comes too late. */
    private static final double SPREAD = Math.log(3) / 0.6745;

    private final Request[] requests;

    private Purgatory(int count, double meanGap) {
        SplittableRandom random = new SplittableRandom(count);
        requests = new Request[count];
        double at = 0;
        for (int i = 0; i < count; i++) {
            at -= Math.log(1 - random.nextDouble()) * meanGap;
            requests[i] = new Request((long) at, (long) (MEDIAN_NANOS * Math.exp(SPREAD * gaussian(random))));
        }
    }

    /** By the method of Box and Muller. */
    private static double gaussian(SplittableRandom random) {
        return Math.sqrt(-2 * Math.log(1 - random.nextDouble())) * Math.cos(2 * Math.PI * random.nextDouble());
    }

    /** Returns when each request has been answered or has expired. */
    public static Purgatory run(Rival rival, int rate, long millis) throws InterruptedException {
        int count = (int) Math.max(1, rate * millis / 1_000);
        Purgatory purgatory = new Purgatory(count, SECONDS.toNanos(1) / (double) rate);
        purgatory.send(rival);
        while (!Arrays.stream(purgatory.requests).allMatch(r -> r.wasAnswered || r.hasExpired)) {
            Thread.sleep(1);
        }
        return purgatory;
    }

    public int requests() {
        return requests.length;
    }

    /** Of those that expired. */
    public Histogram lateness() {
        Histogram lateness = new Histogram(3);
        for (Request r : requests) {
            if (r.hasExpired) {
                lateness.recordValue(Math.max(0, r.lateness));
            }
        }
        return lateness;
    }

    private void send(Rival rival) {
        PriorityQueue<Request> open = new PriorityQueue<>(Comparator.comparingLong((Request r) -> r.answerAt));
        long began = System.nanoTime();
        for (int next = 0; next < requests.length || !open.isEmpty(); ) {
            long now = System.nanoTime() - began;
            for (; next < requests.length && requests[next].sentAt <= now; next++) {
                Request r = requests[next];
                r.due = System.nanoTime() + LIMIT;
                r.handle = rival.schedule(LIMIT, r);
                open.add(r);
            }
            for (Request r; (r = open.peek()) != null && r.answerAt <= now; ) {
                open.poll().answer(rival);
            }
            long then = Math.min(next < requests.length ? requests[next].sentAt : Long.MAX_VALUE,
                    open.isEmpty() ? Long.MAX_VALUE : open.peek().answerAt);
            LockSupport.parkNanos(Math.min(then - now, LIMIT));
        }
    }

    private static final class Request implements Rival.Task {
        final long sentAt;
        final long answerAt;
        long due;
        Object handle;
        long lateness;
        volatile boolean wasAnswered;
        volatile boolean hasExpired;

        Request(long sentAt, long answerAfter) {
            this.sentAt = sentAt;
            this.answerAt = sentAt + Math.min(answerAfter, 2 * LIMIT); // what has expired by then need not be kept longer
        }

        void answer(Rival rival) {
            if (!hasExpired) {
                rival.cancel(handle); // some schedulers do not say whether that came in time
                wasAnswered = true;
            }
        }

        @Override
        public void run() {
            lateness = System.nanoTime() - due;
            hasExpired = true;
        }
    }
}
