package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** How the sources are cut: sizes of files, what refers to what. See docs/design.md. */
@Timeout(120)
class HouseTest {
    private static final Path ROOT = Path.of("src/main/java/io/pendula");
    private static final Path QUEUE = ROOT.resolve("internal/queue");
    private static final int MOST_LINES = 500;
    /** TimerQueue, QueueHost and QueueView name each other. */
    private static final int LARGEST_CIRCLE = 3;
    private static final Pattern NAME = Pattern.compile("\\b[A-Z]\\w+\\b");
    private static final Pattern NO_CODE = Pattern.compile("/\\*.*?\\*/|//[^\\n]*|\"(\\\\.|[^\"\\\\])*\"|(?m:^import .*$)",
            Pattern.DOTALL);

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
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter said = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(said, files, null, List.of("--release", "17", "-Xlint:all", "-Werror",
                    "-proc:none", "-d", out.toString(), "-cp", out.toString()), null,
                    files.getJavaFileObjectsFromPaths(sources(QUEUE))).call();
            assertTrue(compiled, said::toString);
        }
    }

    @Test
    void queue_itsClasses_nameEachOtherInSmallCircles() throws IOException {
        Map<String, Set<String>> names = new HashMap<>();
        for (Path f : sources(QUEUE)) {
            String code = NO_CODE.matcher(Files.readString(f)).replaceAll(" ");
            names.put(f.getFileName().toString().replace(".java", ""),
                    NAME.matcher(code).results().map(MatchResult::group).collect(Collectors.toSet()));
        }
        Map<String, Set<String>> reached = names.keySet().stream()
                .collect(Collectors.toMap(n -> n, n -> reachedFrom(n, names)));
        Set<Set<String>> circles = names.keySet().stream().map(n -> reached.get(n).stream()
                .filter(m -> reached.get(m).contains(n)).collect(Collectors.<String, Set<String>>toCollection(TreeSet::new)))
                .collect(Collectors.toSet());
        assertTrue(names.size() > 20, names::toString);
        assertEquals(List.of(), circles.stream().filter(c -> c.size() > LARGEST_CIRCLE).toList());
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
