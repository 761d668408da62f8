package io.pendula.adapters.nocode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.pendula.SchedulerExecutor;
import io.pendula.TimerExecutors;
import io.pendula.adapters.Patience;
import io.pendula.adapters.micrometer.PendulaMetrics;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;

/** The configuration of docs/adapters.md in an application of Spring Boot, once with 4 and once with 3.5. */
@Timeout(60)
class SpringBootAppTest {
    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Timers {
        /** Asked for by name only, so @Async keeps Boot's executor; shutdownNow, so the context closes at once. */
        @Bean(defaultCandidate = false, destroyMethod = "shutdownNow")
        SchedulerExecutor timers() {
            return TimerExecutors.builder().threads(4).name("scheduled").build(); // in dumps and meters
        }

        @Bean
        SchedulingConfigurer scheduledMethods(@Qualifier("timers") SchedulerExecutor timers) {
            return registrar -> registrar.setScheduler(timers);
        }

        @Bean
        MeterBinder timerMetrics(@Qualifier("timers") SchedulerExecutor timers) {
            return new PendulaMetrics(timers);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableAsync
    @Import(Timers.class)
    static class Application {
        final CompletableFuture<String> scheduledOn = new CompletableFuture<>();

        @Scheduled(fixedRate = 10)
        void scheduled() {
            scheduledOn.complete(Thread.currentThread().getName());
        }

        @Bean
        Asynchronous asynchronous() {
            return new Asynchronous();
        }
    }

    static class Asynchronous {
        @Async
        public CompletableFuture<String> thread() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    private static ConfigurableApplicationContext start() {
        return new SpringApplicationBuilder(Application.class).bannerMode(Banner.Mode.OFF).logStartupInfo(false).run();
    }

    private static String name(CompletableFuture<String> thread) throws Exception {
        return thread.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void scheduledMethods_runOnPendula_andAsynchronousOnesDoNot() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            String scheduled = name(context.getBean(Application.class).scheduledOn);
            assertTrue(scheduled.startsWith("pendula-"), scheduled);
            String asynchronous = name(context.getBean(Asynchronous.class).thread());
            assertTrue(asynchronous.startsWith("task-"), asynchronous);
        }
    }

    @Test
    void meters_areInBootsRegistry() {
        try (ConfigurableApplicationContext context = start()) {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            Patience.until("the scheduled method ran",
                    () -> registry.get("pendula.fired").functionCounter().count() >= 1);
        }
    }

    @Test
    void context_closes_thoughATaskIsAnHourAhead() {
        SchedulerExecutor pool;
        ScheduledFuture<?> later;
        CountDownLatch ran = new CountDownLatch(1);
        long start;
        try (ConfigurableApplicationContext context = start()) {
            pool = context.getBean("timers", SchedulerExecutor.class);
            later = pool.schedule(ran::countDown, 1, TimeUnit.HOURS);
            start = System.nanoTime();
        }
        assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(Patience.SECONDS));
        Patience.until("the threads have ended", pool::isTerminated);
        assertEquals(1, ran.getCount());
        assertFalse(later.isDone(), "a task that shutdownNow has returned is as the JDK's pool leaves it");
    }

    @Test
    void boot_isOfTheVersionThatTheBuildMeans() {
        String version = SpringBootVersion.getVersion();
        assertTrue(version.startsWith(System.getProperty("boot.version")), version);
    }
}
