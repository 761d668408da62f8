package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PlanTest {
    @Test
    void quick_oneRound_isUnderSixMinutes() {
        assertTrue(Plan.quick().seconds() < 6 * 60, "takes " + Plan.quick().seconds());
    }

    @Test
    void full_threeRounds_isUnderFourHours() {
        double seconds = 3 * Plan.full(JmhCases.SCALE).seconds();
        assertTrue(seconds < 4 * 3600, "takes " + seconds);
    }

    @Test
    void full_cases_areAll() {
        Set<String> planned = Plan.full(JmhCases.SCALE).steps().stream().map(s -> s.measured().name())
                .collect(Collectors.toSet());
        assertEquals(Cases.ALL.stream().map(Case::name).collect(Collectors.toSet()), planned);
    }

    @Test
    void full_measurements_areMadeOnceARound() {
        Set<String> seen = new HashSet<>();
        for (Plan.Step step : Plan.full(JmhCases.SCALE).steps()) {
            step.cells().forEach(cell -> step.subjects().forEach(subject -> assertTrue(seen.add(step.measured().name()
                    + cell + subject.label()), () -> "twice: " + step.measured().name() + cell + subject.label())));
        }
    }

    @Test
    void full_schedulers_areAllThere() {
        Set<String> subjects = new HashSet<>();
        Plan.full(JmhCases.SCALE).steps().forEach(s -> s.subjects().forEach(subject -> subjects.add(subject.spec())));
        for (SchedulerType type : SchedulerType.values()) {
            assertTrue(subjects.contains(type.name()), () -> type + " is not measured");
        }
    }

    /** A smoke run gives all cases short times, so it does not find out. */
    @Test
    void cases_settingsWithoutADefault_areThoseOfTheirCells() throws IOException {
        Pattern asked = Pattern.compile("child\\.(?:number|text)\\(\"(\\w+)\"\\)");
        int found = 0;
        for (Case measured : Cases.ALL) {
            Path source = Path.of("src/main/java/io/pendula", measured.getClass().getSimpleName() + ".java");
            Set<String> given = new HashSet<>();
            measured.cells().forEach(cell -> given.addAll(cell.keySet()));
            for (Matcher m = asked.matcher(Files.readString(source)); m.find(); found++) {
                assertTrue(given.contains(m.group(1)), () -> measured.name() + " asks for " + m.group(1));
            }
        }
        assertTrue(found > 5, "settings found: " + found);
    }
}
