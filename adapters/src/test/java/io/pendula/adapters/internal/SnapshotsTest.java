package io.pendula.adapters.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SnapshotsTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler scheduler = TimerScheduler.builder().clock(clock).build();
    private long now = -5; // any instant will do
    private int taken;
    private final Snapshots<TimerScheduler> snapshots = new Snapshots<>(scheduler, s -> {
        taken++;
        return s.stats();
    }, () -> now);

    private void fire(int count) {
        for (int i = 0; i < count; i++) {
            scheduler.after(Duration.ZERO, () -> {});
        }
        clock.advance(Duration.ZERO);
    }

    @Test
    void readersOfOneScrape_shareASnapshot() {
        TimerStats first = snapshots.get(scheduler, 0);
        taken = 0;
        fire(3);
        for (int reader = 1; reader < 64; reader++) {
            assertSame(first, snapshots.get(scheduler, reader));
        }
        assertEquals(0, taken);
    }

    @Test
    void readerThatAsksAgain_beginsTheNextScrape() {
        TimerStats first = snapshots.get(scheduler, 0);
        fire(1);
        assertEquals(1, snapshots.get(scheduler, 0).fired());
        assertNotSame(first, snapshots.get(scheduler, 1));
        fire(1);
        assertEquals(1, snapshots.recent(scheduler, 2).count());
        assertEquals(2, snapshots.recent(scheduler, 2).count());
    }

    @Test
    void readerThatAlwaysAsksAlone_getsNothingStale() {
        snapshots.get(scheduler, 0);
        fire(1);
        now += Snapshots.STALE_NANOS;
        assertEquals(0, snapshots.get(scheduler, 1).fired());
        now += 1;
        assertEquals(1, snapshots.get(scheduler, 2).fired());
    }

    @Test
    void recent_goesBackAMinute_howeverOftenItIsRead() {
        long second = TimeUnit.SECONDS.toNanos(1);
        for (int i = 1; i <= 300; i++) { // one firing a second
            now += second;
            fire(1);
            long count = snapshots.recent(scheduler, 0).count();
            if (i <= 60) {
                assertEquals(i, count);
            } else {
                assertEquals(65, count, 5, "after " + i + " s");
            }
        }
    }

    @Test
    void recent_isTheTimeSinceTheScrapeBefore_ifScrapesAreRare() {
        fire(5);
        assertEquals(5, snapshots.recent(scheduler, 0).count());
        now += TimeUnit.HOURS.toNanos(1);
        fire(2);
        assertEquals(2, snapshots.recent(scheduler, 0).count());
        now += TimeUnit.HOURS.toNanos(1);
        assertEquals(0, snapshots.recent(scheduler, 0).count());
    }
}
