package io.pendula.examples;

import io.pendula.Ticker;
import io.pendula.Timer;   // by name, as java.util has a Timer, too
import io.pendula.TimerExecutors;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class FirstTimers {
    public static void main(String[] args) throws InterruptedException {
        Timer timeout = Timer.after(Duration.ofSeconds(5), () -> System.out.println("no answer"));
        timeout.reset(Duration.ofSeconds(5));   // starts the five seconds again
        timeout.cancel();                       // true: it has not run and will not run

        Ticker flush = Ticker.every(Duration.ofMillis(100), () -> System.out.println("flush"));
        Thread.sleep(350);                      // flush, flush, flush
        flush.close();

        ScheduledExecutorService pool = TimerExecutors.newScheduledThreadPool(4);   // was: Executors.
        pool.schedule(() -> System.out.println("later"), 100, TimeUnit.MILLISECONDS);
        pool.shutdown();
    }
}
