package io.pendula.adapters.nocode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import io.pendula.ManualClock;
import io.pendula.Schedule;
import io.pendula.TimerHandle;
import io.pendula.TimerScheduler;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.scheduling.support.CronExpression;

/** Other libraries' expressions as schedules of docs/recipes.md, over the changes of summer time. */
class CronTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    static final class Spring {
        static Schedule cron(String expression, ZoneId zone) {
            CronExpression parsed = CronExpression.parse(expression);
            return after -> parsed.next(after.atZone(zone)).toInstant();
        }
    }

    static final class CronUtils {
        static Schedule cron(CronType type, String expression, ZoneId zone) {
            CronParser parser = new CronParser(CronDefinitionBuilder.instanceDefinitionFor(type));
            ExecutionTime times = ExecutionTime.forCron(parser.parse(expression));
            return after -> times.nextExecution(after.atZone(zone)).map(ZonedDateTime::toInstant).orElse(null);
        }
    }

    private static List<Instant> instants(String... texts) {
        return Stream.of(texts).map(Instant::parse).toList();
    }

    /** On a manual clock, in milliseconds. */
    private static List<Instant> runs(int days, Schedule schedule, String start) {
        ManualClock clock = new ManualClock();
        Clock wall = clock.asClock(Instant.parse(start), BERLIN);
        List<Instant> runs = new ArrayList<>();
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).build()) {
            timers.schedule(schedule, wall, () -> runs.add(wall.instant()));
            clock.advance(Duration.ofDays(days));
        }
        return runs;
    }

    @Test
    void eachDay_leavesOutATimeThatIsSkipped() {
        for (Schedule schedule : List.of(Spring.cron("0 30 2 * * *", BERLIN),
                CronUtils.cron(CronType.UNIX, "30 2 * * *", BERLIN))) {
            assertEquals(instants("2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"),
                    runs(4, schedule, "2026-03-27T12:00:00Z"));
        }
    }

    @Test
    void eachDay_timeThatComesTwice_isTwiceForSpringAndOnceForCronUtils() {
        assertEquals(instants("2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
                runs(2, Spring.cron("0 30 2 * * *", BERLIN), "2026-10-23T12:00:00Z"));
        assertEquals(instants("2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z"),
                runs(2, CronUtils.cron(CronType.UNIX, "30 2 * * *", BERLIN), "2026-10-23T12:00:00Z"));
    }

    @Test
    void eachQuarterOfAnHour_isElapsedTime() {
        for (Schedule schedule : List.of(Spring.cron("0 */15 * * * *", BERLIN),
                CronUtils.cron(CronType.UNIX, "*/15 * * * *", BERLIN))) {
            for (String night : List.of("2026-03-28T23:00:00Z", "2026-10-24T22:00:00Z")) {
                Instant start = Instant.parse(night);
                assertEquals(Stream.iterate(start.plusSeconds(900), t -> t.plusSeconds(900)).limit(96).toList(),
                        runs(1, schedule, night));
            }
        }
    }

    @Test
    void cronUtils_yearIsOver_endsTheTimer() {
        ManualClock clock = new ManualClock();
        Clock wall = clock.asClock(Instant.parse("2026-12-30T12:00:00Z"), BERLIN);
        List<Instant> runs = new ArrayList<>();
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).build()) {
            TimerHandle handle = timers.schedule(CronUtils.cron(CronType.QUARTZ, "0 30 2 * * ? 2026", BERLIN), wall,
                    () -> runs.add(wall.instant()));
            clock.advance(Duration.ofDays(3));
            assertEquals(instants("2026-12-31T01:30:00Z"), runs);
            assertFalse(handle.isPending());
        }
    }
}
