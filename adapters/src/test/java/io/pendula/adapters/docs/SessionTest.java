package io.pendula.adapters.docs;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.adapters.junit.PendulaTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

// Quoted by docs/testing.md.
@PendulaTest
class SessionTest {
    @Test
    void session_unused_expires(ManualClock clock, TimerScheduler timers) {
        Session session = new Session(timers, Duration.ofMinutes(30));
        clock.advance(Duration.ofMinutes(30));
        assertTrue(session.isExpired());
    }

    @Test
    @PendulaTest(allowPending = true)
    void session_new_isNotExpired(TimerScheduler timers) {
        assertFalse(new Session(timers, Duration.ofMinutes(30)).isExpired());
    }
}

/** As on that page. */
final class Session {
    private boolean expired;

    Session(TimerScheduler timers, Duration limit) {
        timers.after(limit, () -> expired = true);
    }

    boolean isExpired() {
        return expired;
    }
}
