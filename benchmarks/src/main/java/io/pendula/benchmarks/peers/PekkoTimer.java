package io.pendula.benchmarks.peers;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.pendula.benchmarks.rivals.Rival;
import java.time.Duration;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.LightArrayRevolverScheduler;
import org.apache.pekko.event.NoLogging;
import scala.concurrent.ExecutionContext;

/**
 * Pekko's LightArrayRevolverScheduler as built: a wheel of 512 slots with a tick of 10 ms, and a queue before it.
 * Callbacks run on its one thread; without a delay they run in the caller. The thread reads the clock once and counts
 * all delays that it then finds in the queue from there: a timer that is armed meanwhile may be early.
 */
final class PekkoTimer implements Rival {
    static final Config CONFIG = ConfigFactory.parseString("pekko.scheduler { tick-duration = 10ms, "
            + "ticks-per-wheel = 512, error-on-tick-duration-verification-failed = on, shutdown-timeout = 5s }");

    private final LightArrayRevolverScheduler timer = new LightArrayRevolverScheduler(CONFIG, NoLogging.getInstance(),
            Thread::new);

    @Override
    public Object schedule(long delayNanos, Task task) {
        return timer.scheduleOnce(Duration.ofNanos(delayNanos), task, ExecutionContext.parasitic$.MODULE$);
    }

    @Override
    public boolean cancel(Object handle) {
        return ((Cancellable) handle).cancel();
    }

    @Override
    public void close() {
        timer.close();
    }
}
