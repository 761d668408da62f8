package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Timer;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages fit the code: their links lead somewhere, their code is compiled and run, their tests exist. */
@Timeout(60)
class DocsTest {
    /** The pages whose code is tested here or by the examples; those on libraries have their own tests. */
    private static final List<String> GUIDE = List.of("README.md", "docs/guide.md", "docs/executor.md",
            "docs/event-loops.md", "docs/testing.md", "docs/recipes.md", "docs/tuning.md", "docs/troubleshooting.md",
            "docs/guarantees.md");

    private static final Pattern TEST_NAME =
            Pattern.compile("`(\\w+(?:Test|Races))(?:\\.(\\w+))?(?: \\([^`]*\\))?`");
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

    /** A block is compiled and run since it stands, line by line, in an example or in a test of a page. */
    @Test
    void javaBlocks_ofTheGuide_areQuotedFromCodeThatIsRun() throws Exception {
        List<String> sources = new ArrayList<>();
        for (String folder : List.of("examples", "docs")) {
            try (Stream<Path> files = Files.list(Path.of("src/test/java/io/pendula", folder))) {
                files.filter(f -> f.toString().endsWith(".java")).map(Pages::lines).map(Pages::stripped)
                        .forEach(sources::add);
            }
        }
        List<String> unknown = new ArrayList<>();
        int checked = 0;
        for (String page : GUIDE) {
            for (Pages.Block block : Pages.blocks(Path.of(page))) {
                if (block.language().equals("java")) {
                    checked++;
                    if (sources.stream().noneMatch(s -> s.contains(block.text()))) {
                        unknown.add(block.toString());
                    }
                }
            }
        }
        assertEquals("", String.join("\n\n", unknown));
        assertTrue(checked >= 40, "only " + checked + " blocks were found");
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
        Map<String, String> sources = new HashMap<>();
        for (String root : List.of("src/test/java", "jcstress-tests/src/main/java", "benchmarks/src/test/java")) {
            if (Files.isDirectory(Path.of(root))) {
                try (Stream<Path> files = Files.walk(Path.of(root))) {
                    for (Path f : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                        sources.put(f.getFileName().toString().replace(".java", ""), Files.readString(f));
                    }
                }
            }
        }
        return sources;
    }

    @ParameterizedTest
    @ValueSource(strings = {"docs/guarantees.md", "docs/testing.md", "docs/traps.md"})
    void testNames_onPages_exist(String page) throws Exception {
        Map<String, String> sources = testSources();
        int checked = 0;
        List<String> unknown = new ArrayList<>();
        for (String line : Pages.prose(Path.of(page))) {
            Matcher m = TEST_NAME.matcher(line);
            while (m.find()) {
                checked++;
                String source = sources.get(m.group(1));
                String member = m.group(2);
                if (source == null || member != null && !Pattern.compile("\\b" + member + "\\b").matcher(source).find()) {
                    unknown.add(m.group());
                }
            }
        }
        assertEquals(List.of(), unknown);
        assertTrue(checked > 10, "only " + checked + " names were found");
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
