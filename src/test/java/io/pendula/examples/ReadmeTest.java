package io.pendula.examples;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the README and the recipes quote is what is compiled and tested. */
class ReadmeTest {
    private static final List<String> TAGS = List.of("// tag::readme[]", "// tag::recipe[]");
    private static final List<String> ENDS = List.of("// end::readme[]", "// end::recipe[]");

    @ParameterizedTest
    @ValueSource(classes = {RequestTimeout.class, Heartbeat.class, MetricsTicker.class, Polling.class, EchoLoop.class})
    void readme_taggedRegion_isQuotedVerbatim(Class<?> example) throws IOException {
        assertQuoted(example, "README.md");
    }

    @ParameterizedTest
    @ValueSource(classes = {Debouncer.class, Throttle.class, Retry.class, Sessions.class, WallClock.class,
        TimerGroup.class})
    void recipes_taggedRegion_isQuotedVerbatim(Class<?> example) throws IOException {
        assertQuoted(example, "docs/recipes.md");
    }

    private static void assertQuoted(Class<?> example, String page) throws IOException {
        String readme = unindented(Files.readAllLines(Path.of(page)));
        Path source = Path.of("src/test/java", example.getName().replace('.', '/') + ".java");
        List<String> regions = regions(Files.readAllLines(source));
        assertFalse(regions.isEmpty(), "no region in " + source);
        for (String region : regions) {
            assertTrue(readme.contains("\n" + region + "\n"), page + " lacks this of " + source + ":\n" + region);
        }
    }

    private static List<String> regions(List<String> lines) {
        List<String> regions = new ArrayList<>();
        int begin = -1;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (TAGS.contains(line)) {
                assertTrue(begin < 0, "a tag inside a region, in line " + (i + 1));
                begin = i + 1;
            } else if (ENDS.contains(line)) {
                assertTrue(begin >= 0 && begin < i, "an end without a region, in line " + (i + 1));
                regions.add(unindented(lines.subList(begin, i)));
                begin = -1;
            }
        }
        assertTrue(begin < 0, "a region without an end");
        return regions;
    }

    private static String unindented(List<String> lines) {
        return lines.stream().map(String::strip).collect(joining("\n"));
    }
}
