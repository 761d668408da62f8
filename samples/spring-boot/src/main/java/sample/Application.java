package sample;

import io.pendula.NanoClock;
import io.pendula.TimerScheduler;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.SchedulingConfigurer;

@SpringBootApplication
@EnableScheduling
public class Application {
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** Closed with the context. A test adds a clock. */
    @Bean
    TimerScheduler timers(ObjectProvider<NanoClock> clock) {
        return TimerScheduler.builder().name("app").clock(clock.getIfAvailable(NanoClock::system)).build();
    }

    /** Methods with @Scheduled run on the same threads. */
    @Bean
    SchedulingConfigurer scheduledMethods(TimerScheduler timers) {
        return registrar -> registrar.setScheduler(timers.asScheduledExecutorService());
    }
}
