package io.pendula.benchmarks.loads;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.benchmarks.loads.Shots.Run;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShotsTest {
    @Test
    void oneRunsNanos_timerThatWaitsBehindOne_countsFromWhenItIsLate() {
        assertEquals(20, Shots.oneRunsNanos(List.of(new Run(0, 0, 50), new Run(20, 50, 60)), 10));
    }

    @Test
    void oneRunsNanos_timerThatIsNotLateEnough_isNone() {
        assertEquals(0, Shots.oneRunsNanos(List.of(new Run(0, 0, 50), new Run(20, 29, 60)), 10));
    }

    @Test
    void oneRunsNanos_twoOrNoneRun_isNone() {
        List<Run> two = List.of(new Run(0, 0, 50), new Run(0, 0, 40), new Run(0, 50, 60));
        assertEquals(10, Shots.oneRunsNanos(two, 10), "from 40 to 50");
        assertEquals(0, Shots.oneRunsNanos(List.of(new Run(0, 0, 50), new Run(40, 90, 100)), 10), "ran until 50");
    }
}
