package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.RemovalCause;
import com.github.benmanes.caffeine.cache.Scheduler;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Caffeine evicts what has expired although nobody touches the cache, if it has a scheduler. It keeps at most one task
 * waiting there, which it paces by about a second, and has no close: a cache that is empty again leaves none.
 */
class CaffeineTest {
    private static final long LIFE = 100;

    /** Who was evicted when, and how often anybody was evicted. */
    private static final class Evictions {
        final Map<Integer, Long> instants = new ConcurrentHashMap<>();
        final AtomicInteger count = new AtomicInteger();
        final Queue<Long> onOtherThreads = new ConcurrentLinkedQueue<>();
        final CountDownLatch all;
        private final Subject subject;

        Evictions(int expected, Subject subject) {
            this.all = new CountDownLatch(expected);
            this.subject = subject;
        }

        void heard(Integer key, String value, RemovalCause cause) {
            assertEquals(RemovalCause.EXPIRED, cause);
            long now = System.nanoTime();
            instants.put(key, now);
            count.incrementAndGet();
            if (!subject.isOwnThread()) {
                onOtherThreads.add(now);
            }
            all.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource
    void expiredEntries_areEvictedWithoutAnyAccess(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            int entries = 1_000;
            Evictions evictions = new Evictions(entries, subject);
            Cache<Integer, String> cache = Caffeine.newBuilder()
                    .expireAfterWrite(Duration.ofMillis(LIFE))
                    .scheduler(Scheduler.forScheduledExecutorService(subject.executor))
                    .executor(subject.executor)
                    .evictionListener(evictions::heard)
                    .build();
            long start = System.nanoTime();
            for (int i = 0; i < entries; i++) {
                cache.put(i, "value " + i);
            }
            long lastAccess = System.nanoTime();
            Patience.await(evictions.all);
            Patience.until("empty", () -> cache.estimatedSize() == 0);
            assertEquals(entries, evictions.count.get());
            assertEquals(entries, evictions.instants.size());
            evictions.instants.values().forEach(end -> Patience.assertElapsed(LIFE, start, end));
            evictions.onOtherThreads.forEach(instant -> assertTrue(instant <= lastAccess, "on whose thread?"));
            cache.cleanUp(); // waits for the maintenance that has evicted them
            subject.letRunsEnd();
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void earlierExpiry_takesThePlaceOfALaterOne(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Evictions evictions = new Evictions(1, subject);
            Cache<Integer, String> cache = Caffeine.newBuilder()
                    .expireAfter(Expiry.creating((Integer key, String value) -> Duration.ofMillis(key)))
                    .scheduler(Scheduler.forScheduledExecutorService(subject.executor))
                    .executor(subject.executor)
                    .evictionListener(evictions::heard)
                    .build();
            int hour = 3_600_000;
            cache.put(hour, "late");
            subject.letRunsEnd(); // its maintenance; Caffeine may leave what is put meanwhile to the next one
            long start = System.nanoTime();
            cache.put((int) LIFE, "early");
            Patience.await(evictions.all);
            cache.cleanUp(); // waits for the maintenance that has evicted it
            subject.letRunsEnd();
            assertEquals(Map.of(hour, "late"), cache.asMap());
            assertEquals(1, evictions.count.get());
            Patience.assertElapsed(LIFE, start, evictions.instants.get((int) LIFE));
            subject.assertLeftRunning(1); // for the late one
        }
    }
}
