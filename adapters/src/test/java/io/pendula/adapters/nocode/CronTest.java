package io.pendula.adapters.nocode;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.scheduling.support.CronExpression;

/** An expression of Spring's as the "next" of docs/recipes.md, over the changes of summer time. */
class CronTest {
    static UnaryOperator<Instant> cron(String expression, ZoneId zone) {
        CronExpression parsed = CronExpression.parse(expression);
        return after -> parsed.next(after.atZone(zone)).toInstant();
    }

    private static List<Instant> instants(String... texts) {
        return Stream.of(texts).map(Instant::parse).toList();
    }

    private static List<Instant> first(int count, UnaryOperator<Instant> next, String after) {
        List<Instant> instants = new ArrayList<>();
        Instant last = Instant.parse(after);
        for (int i = 0; i < count; i++) {
            last = next.apply(last);
            instants.add(last);
        }
        return instants;
    }

    @Test
    void cron_eachDay_leavesOutATimeThatIsSkipped_andTakesOneThatComesTwiceTwice() {
        UnaryOperator<Instant> next = cron("0 30 2 * * *", ZoneId.of("Europe/Berlin"));
        assertEquals(instants("2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"),
                first(3, next, "2026-03-27T12:00:00Z"));
        assertEquals(instants("2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
                first(3, next, "2026-10-23T12:00:00Z"));
    }

    @Test
    void cron_eachQuarterOfAnHour_isElapsedTime() {
        UnaryOperator<Instant> next = cron("0 */15 * * * *", ZoneId.of("Europe/Berlin"));
        for (String night : List.of("2026-03-28T23:00:00Z", "2026-10-24T22:00:00Z")) {
            Instant instant = Instant.parse(night);
            for (int i = 1; i <= 24; i++) {
                assertEquals(instant.plusSeconds(900), next.apply(instant), "after " + instant);
                instant = next.apply(instant);
            }
        }
    }
}
