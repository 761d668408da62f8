package io.pendula.adapters.nocode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerExecutors;
import io.pendula.adapters.Patience;
import io.pendula.adapters.Warnings;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;
import org.springframework.scheduling.support.CronTrigger;

/** Spring's scheduling on an executor of Pendula. */
@Timeout(60)
class SpringTest {
    @Configuration
    @EnableScheduling
    static class Application {
        final AtomicInteger rate = new AtomicInteger();
        final AtomicInteger delay = new AtomicInteger();
        final ConcurrentLinkedQueue<Instant> cron = new ConcurrentLinkedQueue<>();
        final ConcurrentLinkedQueue<String> threads = new ConcurrentLinkedQueue<>();

        @Bean(destroyMethod = "close")
        SchedulerExecutor executor() {
            return TimerExecutors.newScheduledThreadPool(2);
        }

        @Bean
        TaskScheduler taskScheduler(SchedulerExecutor executor) {
            return new ConcurrentTaskScheduler(executor);
        }

        @Scheduled(fixedRate = 10)
        void atFixedRate() {
            rate.incrementAndGet();
            threads.add(Thread.currentThread().getName());
        }

        @Scheduled(fixedDelay = 10)
        void withFixedDelay() {
            delay.incrementAndGet();
        }

        @Scheduled(cron = "* * * * * *")
        void eachSecond() {
            cron.add(Instant.now());
        }
    }

    @Test
    void scheduledMethods_runOnThePool_andEndWithTheContext() {
        Application application;
        SchedulerExecutor executor;
        try (var context = new AnnotationConfigApplicationContext(Application.class)) {
            application = context.getBean(Application.class);
            executor = context.getBean(SchedulerExecutor.class);
            Patience.until("all ran", () -> application.rate.get() >= 20 && application.delay.get() >= 10
                    && application.cron.size() >= 2);
        }
        assertTrue(executor.isTerminated());
        assertTrue(application.threads.stream().allMatch(name -> name.startsWith("pendula-")),
                application.threads::toString);
        Instant before = null;
        for (Instant instant : application.cron) {
            assertTrue(before == null || instant.getEpochSecond() > before.getEpochSecond(), "twice in " + instant);
            before = instant;
        }
    }

    /** So the count says nothing of {@code @Scheduled} methods. */
    @Test
    void periodicTaskThatThrows_isLoggedBySpring_goesOnAndIsNotCounted() throws Exception {
        Warnings warnings = new Warnings(Class.forName("org.springframework.scheduling.support.TaskUtils$LoggingErrorHandler"));
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(1);
        try {
            new ConcurrentTaskScheduler(pool).scheduleAtFixedRate(() -> {
                throw new IllegalStateException("meant");
            }, Duration.ofMillis(5));
            Patience.until("it has gone on", () -> warnings.thrown().size() >= 3);
            assertEquals(0, pool.stats().callbacksThrew());
        } finally {
            pool.shutdownNow();
            assertTrue(pool.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS));
            warnings.close();
        }
        assertEquals(Set.of("meant"), Set.copyOf(warnings.thrown()));
    }

    @Test
    void taskScheduler_onceFixedRateAndCron() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2)) {
            TaskScheduler scheduler = new ConcurrentTaskScheduler(pool);
            CountDownLatch once = new CountDownLatch(1);
            Instant due = Instant.now().plusMillis(50);
            ConcurrentLinkedQueue<Instant> ran = new ConcurrentLinkedQueue<>();
            scheduler.schedule(() -> {
                ran.add(Instant.now());
                once.countDown();
            }, due);
            Patience.await(once);
            assertTrue(ran.peek().isAfter(due.minusMillis(5)), ran.peek() + " is before " + due); // two clocks

            AtomicInteger ticks = new AtomicInteger();
            ScheduledFuture<?> rate = scheduler.scheduleAtFixedRate(ticks::incrementAndGet, Duration.ofMillis(5));
            AtomicInteger crons = new AtomicInteger();
            ScheduledFuture<?> cron = scheduler.schedule(crons::incrementAndGet, new CronTrigger("*/1 * * * * *"));
            Patience.until("both ran", () -> ticks.get() >= 10 && crons.get() >= 2);
            assertTrue(rate.cancel(false));
            assertTrue(cron.cancel(false));
            int before = crons.get();
            CountDownLatch later = new CountDownLatch(1);
            scheduler.schedule(later::countDown, Instant.now().plusMillis(1_200));
            Patience.await(later);
            assertTrue(crons.get() <= before + 1); // one may have been running
            assertEquals(0, pool.shutdownNow().size());
        }
    }
}
