package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Timer;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The pages fit the code: their links lead somewhere, their code is compiled and run, their tests exist. */
@Timeout(60)
class DocsTest {
    /** Where the code of the pages is compiled and run: here, and for other libraries in the adapters' tests. */
    private static final List<Path> QUOTED = List.of(Path.of("src/test/java/io/pendula/docs"),
            Path.of("src/test/java/io/pendula/examples"), Path.of("adapters/src/test"));

    private static final Pattern TEST_NAME =
            Pattern.compile("`(\\w+(?:Test|Races))(?:\\.(\\w+))?(?: \\([^`]*\\))?`");
    private static final Pattern CLASS_NAME = Pattern.compile("`([A-Z]\\w*[a-z]\\w*)(?:\\.(\\w+))?(?:\\(\\))?`");
    private static final Pattern DECLARATION = Pattern.compile("\\b(?:class|interface|record|enum|race) ([A-Z]\\w*)");
    private static final List<String> PACKAGES = List.of("java.lang", "java.lang.invoke", "java.nio.channels", "java.util",
            "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks");
    /** A class of another library, and the end of many a name. */
    private static final Set<String> OTHERS = Set.of("HashedWheelTimer", "Races");
    private static final Pattern FILE_NAME =
            Pattern.compile("`((?:\\.ci|adapters|benchmarks|bom|clients|docs|fray-tests|jcstress-tests|parent|samples|site|src)/[\\w./-]+)`");
    private static final Pattern DEPENDENCY =
            Pattern.compile("<groupId>io\\.pendula</groupId>\\s*<artifactId>([\\w-]+)</artifactId>");
    private static final Pattern REGION =
            Pattern.compile("// tag::\\w+\\[]\n(.*?)\n\\s*// end::\\w+\\[]", Pattern.DOTALL);

    @Test
    void links_ofAllPages_leadSomewhere() throws Exception {
        List<String> broken = new ArrayList<>();
        int checked = 0;
        for (Path page : Pages.all()) {
            for (Pages.Link link : Pages.links(page)) {
                Path folder = page.getParent() == null ? Path.of("") : page.getParent();
                Path target = link.target().isEmpty() ? page : folder.resolve(link.target()).normalize();
                if (!Files.exists(target)) {
                    broken.add(page + ": no such file: " + link.target());
                } else if (!link.anchor().isEmpty() && !Pages.anchors(target).contains(link.anchor())) {
                    broken.add(page + ": no such heading: " + link.target() + "#" + link.anchor());
                }
                checked++;
            }
        }
        assertEquals(List.of(), broken);
        assertTrue(checked > 20, "only " + checked + " links were found");
    }

    /** A reader who begins with the README finds every page. */
    @Test
    void pages_areReachedFromTheReadme() throws Exception {
        Set<Path> reached = new TreeSet<>();
        Deque<Path> open = new ArrayDeque<>(List.of(Path.of("README.md")));
        while (!open.isEmpty()) {
            Path page = open.pop();
            if (reached.add(page)) {
                Path folder = page.getParent() == null ? Path.of("") : page.getParent();
                for (Pages.Link link : Pages.links(page)) {
                    if (link.target().endsWith(".md")) {
                        open.push(folder.resolve(link.target()).normalize());
                    }
                }
            }
        }
        Set<Path> all = new TreeSet<>(Pages.all());
        assertTrue(all.size() > 15, all::toString);
        all.removeAll(reached);
        assertEquals(Set.of(), all);
    }

    @Test
    void fileNames_onPages_exist() throws Exception {
        List<String> unknown = new ArrayList<>();
        int checked = 0;
        for (Path page : Pages.all()) {
            Path folder = page.getParent() == null ? Path.of("") : page.getParent();
            for (String line : Pages.prose(page)) {
                Matcher m = FILE_NAME.matcher(line);
                while (m.find()) {
                    checked++;
                    String name = m.group(1);
                    if (!name.contains("/target/") && !Files.exists(Path.of(name)) && !Files.exists(folder.resolve(name))) {
                        unknown.add(page + ": " + name);
                    }
                }
            }
        }
        assertEquals(List.of(), unknown);
        assertTrue(checked > 10, "only " + checked + " names were found");
    }

    /** A block is compiled and run since it stands, line by line, in an example or in a test. */
    @Test
    void javaAndKotlinBlocks_ofAllPages_areQuotedFromCodeThatIsRun() throws Exception {
        List<String> sources = new ArrayList<>();
        for (Path folder : QUOTED) {
            try (Stream<Path> files = Files.walk(folder)) {
                files.filter(f -> f.toString().matches(".*\\.(java|kt)")).map(Pages::lines).map(Pages::stripped)
                        .forEach(sources::add);
            }
        }
        List<String> unknown = new ArrayList<>();
        Map<Path, Integer> checked = new TreeMap<>();
        for (Path page : Pages.all()) {
            for (Pages.Block block : Pages.blocks(page)) {
                if (block.language().matches("java|kotlin")) {
                    checked.merge(page, 1, Integer::sum);
                    if (sources.stream().noneMatch(s -> s.contains(block.text()))) {
                        unknown.add(block.toString());
                    }
                }
            }
        }
        assertEquals("", String.join("\n\n", unknown));
        assertTrue(checked.values().stream().mapToInt(n -> n).sum() >= 55, checked::toString);
        assertTrue(checked.keySet().containsAll(List.of(Path.of("README.md"), Path.of("docs/adapters.md"),
                Path.of("docs/beyond-one-process.md"), Path.of("docs/observability.md"))), checked::toString);
    }

    /** Nothing is on Maven Central yet, so a dependency needs a command. {@code .ci/install} runs what the pages say. */
    @Test
    void dependencies_onPages_haveACommandThatInstallsThem() throws Exception {
        int checked = 0;
        for (Path page : Pages.all()) {
            List<Pages.Block> blocks = Pages.blocks(page);
            for (Pages.Block block : blocks) {
                Matcher m = DEPENDENCY.matcher(block.text());
                if (m.find()) {
                    checked++;
                    assertTrue(blocks.stream().anyMatch(b -> b.language().equals("sh") && b.text().contains(" install")
                            && b.text().contains(":" + m.group(1))), () -> page + ": " + m.group(1));
                }
            }
        }
        assertTrue(checked >= 2, "only " + checked + " dependencies were found");
    }

    /** What an example marks as worth quoting is quoted. */
    @Test
    void taggedRegions_ofTheExamples_areQuoted() throws Exception {
        List<String> pages = Pages.all().stream().map(Pages::lines).map(Pages::stripped).toList();
        List<String> forgotten = new ArrayList<>();
        int checked = 0;
        try (Stream<Path> files = Files.list(Path.of("src/test/java/io/pendula/examples"))) {
            for (Path f : files.filter(f -> f.toString().endsWith(".java")).sorted().toList()) {
                Matcher m = REGION.matcher(Files.readString(f));
                while (m.find()) {
                    checked++;
                    String region = Pages.stripped(m.group(1).lines().toList());
                    if (pages.stream().noneMatch(page -> page.contains(region))) {
                        forgotten.add(f + ":" + region);
                    }
                }
            }
        }
        assertEquals("", String.join("\n", forgotten));
        assertTrue(checked > 5, "only " + checked + " regions were found");
    }

    private static Map<String, String> testSources() throws IOException {
        return sources("src/test/java", "jcstress-tests/src/main", "fray-tests/src/main/java", "benchmarks/src/test/java",
                "adapters/src/test/java", "clients/src/test/java", "demonstrations/src/main/java",
                "demonstrations/src/test/java");
    }

    /** By the name of the file. */
    private static Map<String, String> sources(String... roots) throws IOException {
        Map<String, String> sources = new HashMap<>();
        for (String root : roots) {
            if (Files.isDirectory(Path.of(root))) {
                try (Stream<Path> files = Files.walk(Path.of(root))) {
                    for (Path f : files.filter(f -> f.toString().matches(".*\\.(java|races)")).toList()) {
                        sources.put(f.getFileName().toString().replaceFirst("\\.\\w+$", ""), Files.readString(f));
                    }
                }
            }
        }
        return sources;
    }

    @Test
    void testNames_onPages_exist() throws Exception {
        Map<String, String> sources = testSources();
        Map<Path, Integer> checked = new TreeMap<>();
        List<String> unknown = new ArrayList<>();
        for (Path page : Pages.all()) {
            for (String line : Pages.prose(page)) {
                Matcher m = TEST_NAME.matcher(line);
                while (m.find()) {
                    checked.merge(page, 1, Integer::sum);
                    String source = sources.get(m.group(1));
                    String member = m.group(2);
                    if (source == null
                            || member != null && !Pattern.compile("\\b" + member + "\\b").matcher(source).find()) {
                        unknown.add(page + ": " + m.group());
                    }
                }
            }
        }
        assertEquals(List.of(), unknown);
        for (String page : List.of("docs/guarantees.md", "docs/internals/tests.md", "docs/internals/traps.md")) {
            assertTrue(checked.getOrDefault(Path.of(page), 0) > 10, checked::toString);
        }
    }

    /** Of the library, of its tests, of the benchmarks, or of the JDK; a member that is named with its class occurs there. */
    @Test
    void classNames_onPagesForMaintainers_exist() throws Exception {
        Map<String, String> declared = new HashMap<>();
        // some names are those of several classes
        for (Map<String, String> files : List.of(testSources(), sources("src/main/java"), sources("benchmarks/src/main/java"))) {
            files.values().forEach(source -> DECLARATION.matcher(source).results()
                    .forEach(r -> declared.merge(r.group(1), source, String::concat)));
        }
        List<String> unknown = new ArrayList<>();
        int checked = 0;
        for (Path page : Pages.all()) {
            if (page.startsWith("docs/internals") || page.endsWith("guarantees.md")) {
                Matcher m = CLASS_NAME.matcher(String.join("\n", Pages.prose(page)));
                while (m.find()) {
                    checked++;
                    String source = declared.getOrDefault(m.group(1), isOfOthers(m.group(1)) ? m.group() : "");
                    String member = m.group(2) == null ? "" : m.group(2);
                    if (source.isEmpty() || !Pattern.compile("\\b" + member + "\\b").matcher(source).find()) {
                        unknown.add(page + ": " + m.group());
                    }
                }
            }
        }
        assertEquals(List.of(), unknown);
        assertTrue(checked > 300, "only " + checked + " names were found");
    }

    private static boolean isOfOthers(String name) {
        return OTHERS.contains(name) || PACKAGES.stream().anyMatch(p -> {
            try {
                Class.forName(p + "." + name, false, null);
                return true;
            } catch (ClassNotFoundException e) {
                return false;
            }
        });
    }

    /** A type that a user can name, and that no page mentions, is one that a user does not find. */
    @Test
    void publicTypes_areMentioned() throws Exception {
        StringBuilder text = new StringBuilder();
        for (Path page : Pages.all()) {
            if (page.startsWith("docs") || page.equals(Path.of("README.md"))) {
                text.append(String.join("\n", Pages.lines(page)));
            }
        }
        List<String> missing = new ArrayList<>();
        List<String> types = publicTypes();
        for (String type : types) {
            if (!Pattern.compile("\\b" + Pattern.quote(type) + "\\b").matcher(text).find()) {
                missing.add(type);
            }
        }
        assertEquals(List.of(), missing);
        assertTrue(types.contains("Timer") && types.contains("TimerStats.Queue"), types::toString);
    }

    @Test
    void publicTypesOfTheAdapters_areMentioned() throws Exception {
        String text = String.join("\n", Pages.lines(Path.of("docs/adapters.md")));
        List<String> missing = new ArrayList<>();
        int checked = 0;
        try (Stream<Path> files = Files.walk(Path.of("adapters/src/main/java"))) {
            for (Path f : files.filter(f -> f.toString().endsWith(".java") && !f.toString().contains("internal"))
                    .sorted().toList()) {
                String type = f.getFileName().toString().replace(".java", "");
                if (Pattern.compile("(?m)^public .*\\b" + type + "\\b").matcher(Files.readString(f)).find()) {
                    checked++;
                    if (!Pattern.compile("\\b" + type + "\\b").matcher(text).find()) {
                        missing.add(type);
                    }
                }
            }
        }
        assertEquals(List.of(), missing);
        assertTrue(checked > 5, "only " + checked + " types were found");
    }

    private static List<String> publicTypes() throws Exception {
        Path classes = Path.of(Timer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<String> types = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes.resolve("io/pendula"))) {
            for (Path f : files.filter(f -> f.toString().endsWith(".class")).sorted().toList()) {
                String name = f.getFileName().toString().replace(".class", "");
                Class<?> type = Class.forName("io.pendula." + name, false, Timer.class.getClassLoader());
                boolean visible = !type.isSynthetic() && !type.isAnonymousClass() && !name.equals("package-info");
                for (Class<?> c = type; c != null; c = c.getDeclaringClass()) {
                    visible &= Modifier.isPublic(c.getModifiers());
                }
                if (visible) {
                    types.add(name.replace('$', '.'));
                }
            }
        }
        return types;
    }
}
