package io.pendula.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** How the sources are cut: which package names which. See docs/internals/benchmarks.md, whose table this test reads. */
class RoomsTest {
    private static final Path SOURCES = Path.of("src/main/java");
    private static final Path PAGE = Path.of("../docs/internals/benchmarks.md");
    private static final String ALL = "io.pendula.benchmarks";
    private static final Pattern ROW = Pattern.compile("\\| `(\\w+)` \\|.*");
    private static final Pattern NO_CODE = Pattern.compile("/\\*.*?\\*/|//[^\\n]*|\"(\\\\.|[^\"\\\\])*\"", Pattern.DOTALL);
    private static final Pattern PACKAGE = Pattern.compile("\\bpackage ([\\w.]+);");
    /** In an import, or where a name is written in full. */
    private static final Pattern NAMED = Pattern.compile("(?<!package )\\bio\\.pendula((?:\\.[a-z]\\w*)*)\\.[A-Z*]");

    private static List<String> codes() throws IOException {
        List<String> codes = new ArrayList<>();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path f : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                codes.add(NO_CODE.matcher(Files.readString(f)).replaceAll(" "));
            }
        }
        return codes;
    }

    private static String packageOf(String code) {
        return PACKAGE.matcher(code).results().map(r -> r.group(1)).findFirst().orElseThrow();
    }

    private static Stream<String> packagesNamedIn(String code) {
        return NAMED.matcher(code).results().map((MatchResult r) -> "io.pendula" + r.group(1));
    }

    private static String room(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** By room, the other rooms that it names. */
    private static Map<String, Set<String>> arrows() throws IOException {
        Map<String, Set<String>> arrows = new TreeMap<>();
        for (String code : codes()) {
            String from = packageOf(code);
            if (from.startsWith(ALL)) {
                Set<String> named = arrows.computeIfAbsent(room(from), r -> new TreeSet<>());
                packagesNamedIn(code).filter(p -> p.startsWith(ALL) && !p.equals(from)).map(RoomsTest::room)
                        .forEach(named::add);
            }
        }
        return arrows;
    }

    /** From the uppermost to the lowest. */
    private static List<String> rows() throws IOException {
        return Files.readAllLines(PAGE).stream().dropWhile(line -> !line.startsWith("| room |")).skip(2)
                .takeWhile(line -> line.startsWith("|")).map(ROW::matcher).filter(m -> m.matches()).map(m -> m.group(1))
                .toList();
    }

    @Test
    void rooms_inTheTable_areThoseOfTheSources() throws IOException {
        assertEquals(arrows().keySet(), new TreeSet<>(rows()));
    }

    @Test
    void rooms_inTheTable_nameRoomsBelowOnly() throws IOException {
        List<String> rows = rows();
        Map<String, Set<String>> arrows = arrows();
        assertTrue(arrows.get("cases").containsAll(Set.of("jmh", "harness", "rivals")), arrows::toString); // they were read
        List<String> upwards = arrows.entrySet().stream().flatMap(e -> e.getValue().stream()
                .filter(to -> rows.indexOf(to) < rows.indexOf(e.getKey())).map(to -> e.getKey() + " names " + to)).toList();
        assertEquals(List.of(), upwards);
    }

    /** What a benchmark takes from the inside, each change of the inside may break. */
    @Test
    void insideOfTheLibrary_isNamedNowhere() throws IOException {
        assertEquals(List.of(), codes().stream().filter(code -> !packageOf(code).startsWith(ALL)).toList());
        Set<String> inside = codes().stream()
                .flatMap(RoomsTest::packagesNamedIn).filter(p -> p.contains("internal")).collect(Collectors.toSet());
        assertEquals(Set.of(), inside);
    }
}
