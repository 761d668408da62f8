package io.pendula.docs;

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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The accesses that a proof argues with have labels, as SB-A1. A label is named in the comment at the head of the class
 * that has the proof, and stands at the one statement that it names: a line comment behind the statement begins with it.
 */
@Timeout(60)
class ProofLabelsTest {
    private static final Path SOURCES = Path.of("src/main/java");
    /** Which class has the proof. */
    private static final Map<String, String> PROOFS = Map.of("WG", "WakeGate", "SB", "Standby", "SE", "Seat", "SW",
            "StallWatch", "QC", "QueueCloser");
    private static final String LABEL = "[A-Z]{2}-[A-Z]\\d";
    private static final Pattern LABELS = Pattern.compile("(?<![\\w-])" + LABEL + "(?!\\w)");
    private static final Pattern STANDS = Pattern.compile("// (" + LABEL + "(?:, " + LABEL + ")*)(?![\\w-])");
    /** As W1, without its proof. */
    private static final Pattern BARE = Pattern.compile("(?<![\\w-])[A-Z]\\d'?(?![\\w'])");
    private static final Pattern TOKEN = Pattern.compile(
            "\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])+'|/\\*.*?\\*/|//[^\\n]*", Pattern.DOTALL);

    /** By label: the classes whose comments of several lines name it. */
    private static final Map<String, Set<String>> NAMED = new TreeMap<>();
    /** By label: the places, as "Class: line", at which it stands. */
    private static final Map<String, List<String>> STANDING = new TreeMap<>();
    /** In any other comment. */
    private static final Map<String, String> MENTIONED = new TreeMap<>();
    private static final List<String> WRONG = new ArrayList<>();

    @BeforeAll
    static void read() throws IOException {
        for (Path f : files(SOURCES, ".java")) {
            String text = Files.readString(f);
            String name = f.getFileName().toString().replace(".java", "");
            TOKEN.matcher(text).results().filter(t -> t.group().startsWith("/")).forEach(t -> {
                BARE.matcher(t.group()).results().forEach(r -> WRONG.add(name + ": label without a proof: " + r.group()));
                if (t.group().startsWith("//")) {
                    readLine(name, text, t);
                } else {
                    labels(t.group()).forEach(l -> NAMED.computeIfAbsent(l, k -> new TreeSet<>()).add(name));
                }
            });
        }
    }

    private static void readLine(String name, String text, MatchResult comment) {
        Matcher stands = STANDS.matcher(comment.group());
        String rest = comment.group();
        if (stands.lookingAt()) {
            rest = rest.substring(stands.end());
            String line = text.substring(text.lastIndexOf('\n', comment.start()) + 1, comment.start()).strip();
            for (String l : stands.group(1).split(", ")) {
                STANDING.computeIfAbsent(l, k -> new ArrayList<>()).add(name + ": " + line);
                if (line.isEmpty()) {
                    WRONG.add(name + ": " + l + " stands at no statement");
                }
            }
        }
        labels(rest).forEach(l -> MENTIONED.put(l, name));
    }

    private static List<String> labels(String text) {
        return LABELS.matcher(text).results().map(MatchResult::group).toList();
    }

    private static List<Path> files(Path folder, String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(f -> f.toString().endsWith(suffix)).sorted().toList();
        }
    }

    @Test
    void labels_namedInAProof_standAtOneStatementEach() {
        assertTrue(NAMED.size() > 30, NAMED::toString);
        assertEquals(NAMED.keySet(), STANDING.keySet());
        STANDING.forEach((label, places) -> assertEquals(1, places.size(), () -> label + " stands at " + places));
        assertEquals(List.of(), WRONG);
    }

    @Test
    void labels_beginWithTheirProof_whichNamesThem() {
        Set<String> used = new TreeSet<>();
        NAMED.forEach((label, classes) -> {
            String proof = label.substring(0, 2);
            used.add(proof);
            assertTrue(classes.contains(PROOFS.get(proof)), () -> label + " is named in " + classes);
        });
        assertEquals(new TreeSet<>(PROOFS.keySet()), used);
    }

    /** Comments of one line, the pages, and the tests. */
    @Test
    void labels_mentionedElsewhere_exist() throws IOException {
        List<String> unknown = new ArrayList<>();
        MENTIONED.forEach((label, where) -> note(label, where, unknown));
        List<Path> files = new ArrayList<>(files(Path.of("docs"), ".md"));
        files.add(Path.of("CONTRIBUTING.md"));
        files.addAll(files(Path.of("src/test"), ".java"));
        files.addAll(files(Path.of("src/test/planted"), ".txt"));
        files.addAll(files(Path.of("jcstress-tests/src"), ".java"));
        files.addAll(files(Path.of("jcstress-tests/src"), ".races"));
        files.addAll(files(Path.of("fray-tests/src"), ".java"));
        int found = 0;
        for (Path f : files) {
            List<String> labels = labels(Files.readString(f));
            labels.forEach(l -> note(l, f.toString(), unknown));
            found += labels.size();
        }
        assertTrue(found > 5, "only " + found + " on pages and in tests");
        assertEquals(List.of(), unknown);
    }

    private static void note(String label, String where, List<String> unknown) {
        if (!STANDING.containsKey(label)) {
            unknown.add(label + " in " + where);
        }
    }
}
