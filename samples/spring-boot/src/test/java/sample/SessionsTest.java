package sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.test.annotation.DirtiesContext;

@SpringBootTest
@ExtendWith(OutputCaptureExtension.class)
@DirtiesContext(classMode = DirtiesContext.ClassMode.BEFORE_EACH_TEST_METHOD) // a new clock for each test
class SessionsTest {
    @TestConfiguration
    static class Time {
        @Bean
        ManualClock clock() {
            return new ManualClock();
        }
    }

    @Autowired
    private ManualClock clock;
    @Autowired
    private Sessions sessions;

    @Test
    void session_used_expiresAtTheLimitAfterTheLastUse() {
        sessions.use("ann");
        clock.advance(Duration.ofMinutes(29));
        sessions.use("ann");
        clock.advance(Duration.ofMinutes(30).minusNanos(1));
        assertTrue(sessions.isOpen("ann"));
        clock.advance(Duration.ofNanos(1));
        assertFalse(sessions.isOpen("ann"));
    }

    @Test
    void scheduledMethod_runsEachTenMinutes(CapturedOutput output) {
        sessions.use("ann");
        clock.advance(Duration.ofMinutes(20));
        assertEquals(3, output.getOut().split("open sessions: 1", -1).length - 1, "at 0, 10 and 20 minutes");
    }
}
