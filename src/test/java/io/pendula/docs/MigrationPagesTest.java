package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.MissedTicks;
import io.pendula.SchedulerExecutor;
import io.pendula.Timer;
import io.pendula.TimerExecutors;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/from-*.md, and that the comparison with the JDK's pool is complete. */
@Timeout(60)
class MigrationPagesTest {
    private interface Request {
        void fail();
    }

    @Test
    void pool_isBuiltWithTheSettingsOfTheJdks() throws Exception {
        ThreadFactory threads = Executors.defaultThreadFactory();
        CountDownLatch ran = new CountDownLatch(1);
        Runnable job = ran::countDown;

        SchedulerExecutor pool = TimerExecutors.builder()       // was: new ScheduledThreadPoolExecutor(4, threads)
                .threads(4)
                .threadFactory(threads)
                .missedRuns(MissedTicks.SKIP)                   // without this line: caught up, as in the JDK's pool
                .listener(TimerListener.logging())              // without this line: to the thread's handler
                .build();
        ScheduledFuture<?> report = pool.scheduleAtFixedRate(job, 0, 10, TimeUnit.SECONDS);

        assertTrue(ran.await(30, TimeUnit.SECONDS));
        assertFalse(report.isDone());
        pool.close();
        assertTrue(report.isCancelled());
    }

    @Test
    void scheduler_standsInForAWheel() {
        List<String> failed = new ArrayList<>();
        Request request = () -> failed.add("no answer");

        TimerScheduler timers = TimerScheduler.builder().name("requests").build();   // was: new HashedWheelTimer()
        Timer timeout = timers.after(30, TimeUnit.SECONDS, request::fail);           // was: newTimeout(t -> request.fail(), ...)
        timeout.reset(30, TimeUnit.SECONDS);                                         // was: cancel and newTimeout
        timeout.cancel();
        List<TimerHandle> unfired = timers.shutdownNow();                            // was: stop
        timers.close();                                                              // waits for callbacks in progress

        assertEquals(List.of(), unfired);
        assertEquals(List.of(), failed);
    }

    /** A method of the JDK's pool that we lack, and that the page does not name, would be a silent difference. */
    @Test
    void page_namesEachMethodOfTheJdkPoolThatIsMissing() {
        Set<String> ours = new TreeSet<>();
        for (Method m : SchedulerExecutor.class.getMethods()) {
            ours.add(m.getName());
        }
        String page = String.join("\n", Pages.lines(Path.of("docs/from-scheduled-thread-pool-executor.md")));
        List<String> silent = new ArrayList<>();
        for (Method m : ScheduledThreadPoolExecutor.class.getMethods()) {
            if (!Modifier.isStatic(m.getModifiers()) && m.getDeclaringClass() != Object.class
                    && !ours.contains(m.getName()) && !page.contains("`" + m.getName() + "`")) {
                silent.add(m.getName());
            }
        }
        assertEquals(List.of(), silent);
    }
}
