package io.pendula.adapters.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.adapters.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What OpenTelemetry's real Java agent does with executors of Pendula is what docs/adapters.md tells. */
@Timeout(120)
class AgentTest {
    private static final String AGENT = "opentelemetry-javaagent-";
    private static final String FLAG = "-Dotel.instrumentation.executors.include=io.pendula.SchedulerExecutor";
    private static final List<String> QUIET = List.of("-Dotel.traces.exporter=none", "-Dotel.metrics.exporter=none",
            "-Dotel.logs.exporter=none", "-Dotel.javaagent.logging=none", "-XX:TieredStopAtLevel=1", "-XX:-PrintWarnings",
            "--enable-native-access=ALL-UNNAMED");

    private static Child start(List<String> options) throws IOException {
        Path agent = Child.jar(AGENT);
        List<String> all = new ArrayList<>(QUIET);
        all.add("-javaagent:" + agent);
        all.addAll(options);
        return Child.start(TracedProgram.class, agent.getFileName().toString(), all);
    }

    /** By way and executor: kept or lost. */
    private static Map<String, String> results(Child child) throws IOException {
        Map<String, String> results = new HashMap<>();
        for (int i = 0; i < 3 * 7 + 2; i++) {
            String[] words = child.line("SPAN").split(" ");
            results.put(words[1] + " " + words[2], words[3]);
        }
        child.line("END");
        return results;
    }

    private static String of(Map<String, String> results, List<String> ways, List<String> subjects) {
        Set<String> found = new HashSet<>();
        for (String way : ways) {
            for (String subject : subjects) {
                found.add(results.get(way + " " + subject));
            }
        }
        assertEquals(1, found.size(), () -> ways + " of " + subjects + " in " + results);
        return found.iterator().next();
    }

    @Test
    void spans_keptAndLost_areThoseOfThePage() throws Exception {
        Map<String, String> without;
        Map<String, String> with;
        try (Child first = start(List.of()); Child second = start(List.of(FLAG))) {
            without = results(first);
            with = results(second);
        }
        List<String> ours = List.of("pool", "view");
        Map<String, List<String>> rows = Map.of(
                "`execute`, `submit`", List.of("execute", "submit-runnable", "submit-callable"),
                "`schedule` of a `Runnable` or a `Callable`", List.of("schedule-runnable", "schedule-callable"),
                "`scheduleAtFixedRate`, `scheduleWithFixedDelay`", List.of("rate", "delay"));
        List<String> page = Files.readAllLines(Path.of("..", "docs", "adapters.md"));
        assertTrue(page.contains(FLAG));
        rows.forEach((text, ways) -> assertRow(page, "| " + text + " | " + of(without, ways, List.of("jdk")) + " | "
                + of(without, ways, ours) + " | " + of(with, ways, ours) + " |"));
        List<String> timers = List.of("after", "every");
        assertRow(page, "| `TimerScheduler.after`, `every` | | " + of(without, timers, List.of("timers")) + " | "
                + of(with, timers, List.of("timers")) + " |");
    }

    private static void assertRow(List<String> page, String row) {
        assertTrue(page.stream().anyMatch(line -> line.replace("*", "").equals(row)), row);
    }
}
