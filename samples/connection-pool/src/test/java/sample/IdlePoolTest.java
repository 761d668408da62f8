package sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.adapters.junit.PendulaTest;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

@PendulaTest
class IdlePoolTest {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Duration INSTANT = Duration.ofNanos(1);

    private static final class Connection implements Closeable {
        private boolean closed;

        @Override
        public void close() {
            closed = true;
        }
    }

    private final ManualClock clock;
    private final IdlePool<Connection> pool;

    IdlePoolTest(ManualClock clock, TimerScheduler timers) {
        this.clock = clock;
        this.pool = new IdlePool<>(timers, LIMIT, Connection::new);
    }

    @Test
    void connection_idle_isClosedAtTheLimitAndNotBefore() {
        Connection first = pool.take();
        pool.giveBack(first);
        clock.advance(LIMIT.minus(INSTANT));
        assertFalse(first.closed);
        clock.advance(INSTANT);
        assertTrue(first.closed);
        assertNotSame(first, pool.take());
    }

    @Test
    void connection_taken_isNotClosed_andItsLimitBeginsAnew() throws IOException {
        Connection first = pool.take();
        pool.giveBack(first);
        clock.advance(LIMIT.minus(INSTANT));
        assertSame(first, pool.take());
        assertEquals(0, clock.advance(LIMIT), "nothing was to be closed");
        pool.giveBack(first);
        clock.advance(LIMIT.minus(INSTANT));
        assertFalse(first.closed);
        pool.close(); // @PendulaTest fails a test that leaves a timer
        assertTrue(first.closed);
    }
}
