import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Writes the states of jcstress from rows of tables. A table is Java, but for its rows, in which each line break may be
 * left out:
 *
 * <pre>
 *     race StopVsRun(Given.Waiting, ZIL) stop: r.r1 = queue.stop(timer) | run: r.r2 = worker.runDue(queue, DUE) |
 *             settle: r.r3 = audit(1, one(r.r1), 0)
 *         + a member of the class, perhaps an initializer
 *         => true, 0, ok: Stopped. | false, 1, ok; false, 2, ok: Claimed before.
 * </pre>
 *
 * <p>These are the class, its superclass, if any, and result; two actors, the arbiter; and what results are allowed, and why.
 * A row ends at an empty line, or at the brace of its class.
 */
final class Races {
    private static final Pattern ROW = Pattern.compile("    race (\\w+)\\((?:([\\w.]+), )?(\\w+)\\)((?:\n?(?!}).+)+)\n");

    private Races() {}

    /** From a folder with tables to one with sources. */
    public static void main(String[] args) throws IOException {
        Path sources = Files.createDirectories(Path.of(args[1]));
        try (Stream<Path> tables = Files.list(Path.of(args[0]))) {
            for (Path table : tables.toList()) {
                String name = table.getFileName().toString().replace(".races", ".java");
                Files.writeString(sources.resolve(name), source(Files.readString(table)));
            }
        }
    }

    private static String source(String table) {
        String source = ROW.matcher(table).replaceAll(row -> Matcher.quoteReplacement(state(row.group(1),
                row.group(2) == null ? "" : " extends " + row.group(2), row.group(3), row.group(4))));
        return source.replaceFirst(";\n", """
                ;

                import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

                import org.openjdk.jcstress.annotations.*;
                import org.openjdk.jcstress.infra.results.*;
                """);
    }

    private static String state(String name, String parent, String result, String rest) {
        StringBuilder members = new StringBuilder();
        StringBuilder row = new StringBuilder();
        for (String line : rest.split("\n")) {
            String text = line.strip();
            if (text.startsWith("+")) {
                members.append("        ").append(text.substring(1)).append('\n');
            } else {
                row.append(' ').append(text);
            }
        }
        String[] halves = row.toString().split(" => ");
        if (halves.length != 2) {
            throw new IllegalArgumentException(name + " is no row: " + row);
        }
        StringBuilder state = new StringBuilder("    @JCStressTest @State\n");
        for (String outcome : parts(halves[1])) {
            String[] both = outcome.split(": ", 2);
            state.append("    @Outcome(id = {\"").append(both[0].replace("; ", "\", \""))
                    .append("\"}, expect = ACCEPTABLE, desc = \"").append(both[1]).append("\")\n");
        }
        state.append("    public static class ").append(name).append(parent).append(" {\n").append(members);
        for (String actor : parts(halves[0])) {
            String[] both = actor.split(": ", 2);
            state.append("        @").append(both[0].equals("settle") ? "Arbiter" : "Actor").append(" public void ")
                    .append(both[0]).append('(').append(result).append("_Result r) { ").append(both[1]).append("; }\n");
        }
        return state.append("    }\n").toString();
    }

    private static List<String> parts(String line) {
        return Stream.of(line.split(" \\| ")).map(String::strip).toList();
    }
}
