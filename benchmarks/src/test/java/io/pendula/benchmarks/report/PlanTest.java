package io.pendula.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.jmh.JmhCases;
import io.pendula.benchmarks.peers.SchedulerType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
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
    void full_threeRounds_isUnderThreeHours() {
        double seconds = 3 * Plan.full(JmhCases.SCALE).seconds();
        assertTrue(seconds < 3 * 3600, "takes " + seconds);
    }

    @Test
    void history_threeRounds_isUnderAnHourAndAHalf() {
        double seconds = 3 * Plan.history().seconds();
        assertTrue(seconds < 90 * 60, "takes " + seconds);
    }

    /** The benchmarks of others are in the plan of the history. */
    @Test
    void fullAndHistory_cases_areAll() {
        Set<String> full = cases(Plan.full(JmhCases.SCALE));
        Set<String> all = Cases.ALL.stream().map(Case::name).collect(Collectors.toSet());
        assertEquals(Set.of("gobench", "foreign", "delayed"), all.stream().filter(name -> !full.contains(name)).collect(Collectors.toSet()));
        assertTrue(cases(Plan.history()).containsAll(Set.of("gobench", "foreign", "delayed")));
    }

    private static Set<String> cases(Plan plan) {
        return plan.steps().stream().map(s -> s.measured().name()).collect(Collectors.toSet());
    }

    @Test
    void history_designs_areAllInEachCase() {
        Set<String> foreign = Set.of("gobench", "foreign", "delayed");
        Set<String> designs = SchedulerType.DESIGNS.stream().map(Enum::name).collect(Collectors.toSet());
        for (Plan.Step step : Plan.history().steps()) {
            Set<String> subjects = step.subjects().stream().map(Subject::spec).collect(Collectors.toSet());
            assertTrue(foreign.contains(step.measured().name()) || subjects.containsAll(designs),
                    () -> step.measured().name() + " has " + subjects);
            assertTrue(step.subjects().get(step.subjects().size() - 1).label().endsWith(" again"),
                    () -> step.measured().name() + " has no control");
        }
    }

    @Test
    void history_cellsOfPause_areThoseThatDesignsCanRun() {
        Plan.history().steps().stream().filter(s -> s.measured().name().equals("pause")).flatMap(s -> s.cells().stream())
                .forEach(cell -> assertEquals("100000", cell.get("putOff"), cell::toString));
    }

    @Test
    void measurements_ofAPlan_areMadeOnceARound() {
        List.of(Plan.quick(), Plan.full(JmhCases.SCALE), Plan.history()).forEach(PlanTest::assertOnceARound);
    }

    private static void assertOnceARound(Plan plan) {
        Set<String> seen = new HashSet<>();
        for (Plan.Step step : plan.steps()) {
            step.cells().forEach(cell -> step.subjects().forEach(subject -> assertTrue(seen.add(step.measured().name()
                    + cell + subject.label()), () -> "twice: " + step.measured().name() + cell + subject.label())));
        }
    }

    @Test
    void fullAndHistory_schedulers_areAllThere() {
        Set<String> subjects = new HashSet<>();
        for (Plan plan : List.of(Plan.full(JmhCases.SCALE), Plan.history())) {
            plan.steps().forEach(s -> s.subjects().forEach(subject -> subjects.add(subject.spec())));
        }
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
            Path source = Path.of("src/main/java", measured.getClass().getName().replace('.', '/') + ".java");
            Set<String> given = new HashSet<>();
            measured.cells().forEach(cell -> given.addAll(cell.keySet()));
            for (Matcher m = asked.matcher(Files.readString(source)); m.find(); found++) {
                assertTrue(given.contains(m.group(1)), () -> measured.name() + " asks for " + m.group(1));
            }
        }
        assertTrue(found > 5, "settings found: " + found);
    }
}
