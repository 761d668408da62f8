package io.pendula.adapters.nocode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CoroutineDispatcher;
import kotlinx.coroutines.DelayKt;
import kotlinx.coroutines.ExecutorsKt;
import kotlinx.coroutines.TimeoutCancellationException;
import kotlinx.coroutines.TimeoutKt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Kotlin's coroutines, called as a compiler of Kotlin calls them, on an executor of Pendula. */
@Timeout(60)
class KotlinTest {
    @Test
    void delay_isATimerOfPendula_notEarly() throws Exception {
        try (TimerScheduler timers = TimerScheduler.builder().name("kotlin").build();
                SchedulerExecutor view = timers.asScheduledExecutorService()) {
            CoroutineDispatcher dispatcher = ExecutorsKt.from(view);
            long armed = timers.stats().armed();
            long start = System.nanoTime();
            String[] thread = new String[1];
            BuildersKt.runBlocking(dispatcher, (scope, continuation) -> {
                thread[0] = Thread.currentThread().getName();
                return DelayKt.delay(100, continuation);
            });
            Patience.assertElapsed(100, start, System.nanoTime());
            assertTrue(thread[0].startsWith("pendula-kotlin"), thread[0]);
            assertTrue(timers.stats().armed() >= armed + 2, "a dispatch and a delay");
        }
    }

    @Test
    void timeout_endsAWait_andLeavesNothing() throws Exception {
        try (TimerScheduler timers = TimerScheduler.builder().name("kotlin").build();
                SchedulerExecutor view = timers.asScheduledExecutorService()) {
            CoroutineDispatcher dispatcher = ExecutorsKt.from(view);
            long start = System.nanoTime();
            Throwable thrown = assertThrows(Throwable.class, () -> BuildersKt.runBlocking(dispatcher,
                    (scope, continuation) -> TimeoutKt.withTimeout(100,
                            (inner, innerContinuation) -> DelayKt.delay(3_600_000, innerContinuation), continuation)));
            assertInstanceOf(TimeoutCancellationException.class, thrown);
            Patience.assertElapsed(100, start, System.nanoTime());
            Patience.until("the delay is cancelled", () -> timers.pending() == 0);
            assertEquals(0, timers.pending());
        }
    }
}
