package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How the sources are cut: sizes of files, what refers to what. See docs/internals/design.md. */
@Timeout(120)
class HouseTest {
    private static final Path ROOT = Path.of("src/main/java/io/pendula");
    private static final Path QUEUE = ROOT.resolve("internal/queue");
    private static final int MOST_LINES = 500;
    private static final int MOST_FILES_OF_THE_API = 30;
    /** The Compactor has the TimerHeap and its Blocks sweep, and tells them what is stale. */
    private static final int LARGEST_CIRCLE_IN_QUEUE = 3;
    /** The sealed interfaces of timers, the nodes behind them, and what lists them; the workers; the builders. */
    private static final int LARGEST_CIRCLE = 5;
    private static final Pattern NAME = Pattern.compile("\\b[A-Z]\\w+\\b");
    private static final Pattern NO_CODE = Pattern.compile("/\\*.*?\\*/|//[^\\n]*|\"(\\\\.|[^\"\\\\])*\"|(?m:^import [^\\n]*$)"
            + "|\\bpermits [^{]*", Pattern.DOTALL);

    private static List<Path> sources(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(f -> f.toString().endsWith(".java")).toList();
        }
    }

    /** TimerScheduler's builder is a thin front of Options, and mostly Javadoc. */
    @Test
    void files_butForTheBuilder_areNoLongerThanOneCanHoldInTheHead() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (Path f : sources(ROOT)) {
            String text = Files.readString(f);
            int builder = text.indexOf("public static final class Builder");
            long lines = (builder < 0 ? text : text.substring(0, builder)).lines().count();
            if (lines > MOST_LINES) {
                tooLong.add(f.getFileName() + ": " + lines);
            }
        }
        assertEquals(List.of(), tooLong);
    }

    @Test
    void queue_itsFolderAlone_compiles(@TempDir Path out) throws IOException {
        assertCompiles(sources(QUEUE), out);
    }

    @Test
    void sleepers_withTheQueueAlone_compile(@TempDir Path out) throws IOException {
        List<Path> files = new ArrayList<>(sources(QUEUE));
        files.addAll(sources(ROOT.resolve("internal/standby")));
        assertCompiles(files, out);
    }

    private static void assertCompiles(List<Path> sources, Path out) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter said = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(said, files, null, List.of("--release", "17", "-Xlint:all", "-Werror",
                    "-proc:none", "-d", out.toString(), "-cp", out.toString()), null,
                    files.getJavaFileObjectsFromPaths(sources)).call();
            assertTrue(compiled, said::toString);
        }
    }

    @Test
    void queue_itsClasses_nameEachOtherInSmallCircles() throws IOException {
        Map<String, Set<String>> names = names(QUEUE);
        assertTrue(names.size() > 15, names::toString);
        assertEquals(List.of(), circles(names, LARGEST_CIRCLE_IN_QUEUE));
    }

    @Test
    void all_theirClasses_nameEachOtherInSmallCircles() throws IOException {
        Map<String, Set<String>> names = names(ROOT);
        assertTrue(names.size() > 60, names::toString);
        assertTrue(names.get("Worker").contains("Engine"), names::toString); // what follows the imports was read
        assertEquals(List.of(), circles(names, LARGEST_CIRCLE));
    }

    /** The packages of the picture, from the top down. */
    private static List<String> packagesOfTheDesign() throws IOException {
        return Files.readAllLines(Path.of("docs/internals/design.md")).stream().dropWhile(line -> !line.equals("## Parts"))
                .dropWhile(line -> !line.equals("```")).skip(1).takeWhile(line -> !line.equals("```"))
                .map(line -> line.replaceFirst(" .*", "")).filter(line -> !line.isEmpty()).toList();
    }

    @Test
    void packages_ofTheDesign_nameNoneAbove() throws IOException {
        List<String> packages = packagesOfTheDesign();
        Map<String, Integer> rows = new HashMap<>();
        for (Path f : sources(ROOT)) {
            String folder = ROOT.relativize(f.getParent()).toString().replace(File.separatorChar, '.');
            int row = packages.indexOf(folder.isEmpty() ? "io.pendula" : folder);
            assertTrue(row >= 0, () -> f + " is in none of " + packages);
            rows.put(f.getFileName().toString().replace(".java", ""), row);
        }
        assertEquals(packages.size(), Set.copyOf(rows.values()).size(), () -> "without a class: one of " + packages);
        Map<String, Set<String>> names = names(ROOT);
        List<String> upwards = names.keySet().stream().flatMap(n -> names.get(n).stream()
                .filter(m -> rows.containsKey(m) && rows.get(m) < rows.get(n)).map(m -> n + " names " + m)).toList();
        assertEquals(List.of(), upwards);
    }

    @Test
    void api_isAFolderThatOneCanLookOver() throws IOException {
        try (Stream<Path> files = Files.list(ROOT)) {
            List<Path> ofTheApi = files.filter(Files::isRegularFile).toList();
            assertTrue(ofTheApi.size() <= MOST_FILES_OF_THE_API, ofTheApi::toString);
        }
    }

    /** By class, what occurs in its file outside of comments, texts, imports, and the lists of who may implement it. */
    private static Map<String, Set<String>> names(Path folder) throws IOException {
        Map<String, Set<String>> names = new HashMap<>();
        for (Path f : sources(folder)) {
            String code = NO_CODE.matcher(Files.readString(f)).replaceAll(" ");
            names.put(f.getFileName().toString().replace(".java", ""),
                    NAME.matcher(code).results().map(MatchResult::group).collect(Collectors.toSet()));
        }
        names.remove("package-info");
        return names;
    }

    /** Those with more than {@code most} members. */
    private static List<Set<String>> circles(Map<String, Set<String>> names, int most) {
        Map<String, Set<String>> reached = names.keySet().stream()
                .collect(Collectors.toMap(n -> n, n -> reachedFrom(n, names)));
        return names.keySet().stream().map(n -> reached.get(n).stream().filter(m -> reached.get(m).contains(n))
                .collect(Collectors.<String, Set<String>>toCollection(TreeSet::new)))
                .distinct().filter(c -> c.size() > most).toList();
    }

    private static Set<String> reachedFrom(String from, Map<String, Set<String>> names) {
        Set<String> reached = new HashSet<>();
        List<String> open = new ArrayList<>(List.of(from));
        while (!open.isEmpty()) {
            String n = open.remove(open.size() - 1);
            names.get(n).stream().filter(m -> names.containsKey(m) && !m.equals(n) && reached.add(m)).forEach(open::add);
        }
        return reached;
    }
}
