package io.pendula.adapters.nocode

import io.pendula.ManualClock
import io.pendula.Ticker
import io.pendula.Timer
import io.pendula.TimerHandle
import io.pendula.TimerScheduler
import io.pendula.adapters.Patience
import java.util.concurrent.TimeUnit
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** The Kotlin of docs/adapters.md. */
@Timeout(60)
class KotlinPageTest {
    fun TimerScheduler.after(delay: Duration, task: Runnable): Timer = after(delay.toJavaDuration(), task)

    fun Timer.reset(delay: Duration): Boolean = reset(delay.toJavaDuration())

    @Test
    fun durations_ofKotlin_armAndReset() {
        val clock = ManualClock()
        val timers = TimerScheduler.builder().clock(clock).build()
        val said = mutableListOf<String>()

        val timeout = timers.after(5.seconds) { said += "no answer" }
        timeout.reset(10.seconds)

        clock.advance(9.seconds.toJavaDuration())
        assertEquals(listOf<String>(), said)
        clock.advance(1.seconds.toJavaDuration())
        assertEquals(listOf("no answer"), said)
    }

    @Test
    fun dispatcher_delaysAndTimeouts_areTimersOfPendula() {
        TimerScheduler.builder().name("kotlin").build().use { timers ->
            val dispatcher = timers.asScheduledExecutorService().asCoroutineDispatcher()
            runBlocking(dispatcher) {
                delay(20.milliseconds) // a timer of Pendula
                assertNull(withTimeoutOrNull(50.milliseconds) { delay(1.hours) }) // two of them; the later is cancelled
            }
            Patience.until("the delay is cancelled") { timers.pending() == 0L }
        }
    }

    fun kindOf(handle: TimerHandle): String = when (handle) {
        is Timer -> "timer"
        is Ticker -> "ticker"
        else -> "task of an executor"
    }

    @Test
    fun handles_areToldApart() {
        val timers = TimerScheduler.builder().clock(ManualClock()).build()
        timers.after(1.seconds) {}
        timers.every(1.seconds.toJavaDuration()) {}
        timers.asScheduledExecutorService().schedule({}, 1, TimeUnit.SECONDS)
        val kinds = timers.pendingTimers(9).map { kindOf(it.timer()) }
        assertEquals(listOf("task of an executor", "ticker", "timer"), kinds.sorted())
    }
}
