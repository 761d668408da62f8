package io.pendula;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A fault that is planted in the library's source: in each of the places a text is replaced by another.
 *
 * @param group the file that lists it, without its suffix
 * @param name what it is called on the command line
 * @param says what is wrong then
 * @param traps the beginnings of the rows of docs/internals/traps.md, or headings of docs/guarantees.md, whose mechanism it takes out
 * @param tests {@code Class} or {@code Class#method}; each of them must fail
 * @param slow whether the short form leaves it out
 * @param changes what is replaced
 */
record PlantedFault(String group, String name, String says, List<String> traps, List<String> tests, boolean slow,
        List<Change> changes) {
    /** In a file of the library. */
    record Change(String file, String old, String replacement) {}

    private static final String OLD = "<<<<";
    private static final String NEW = "====";
    private static final String END = ">>>>";

    /** All that a file lists. Lines that begin with '#' outside of a change are comments. */
    static List<PlantedFault> read(Path list) throws IOException {
        String group = list.getFileName().toString().replaceFirst("\\.\\w+$", "");
        List<PlantedFault> faults = new ArrayList<>();
        Reader reader = new Reader(list);
        while (reader.skipToFault()) {
            faults.add(reader.fault(group));
        }
        return faults;
    }

    private static final class Reader {
        private final Path path;
        private final List<String> lines;
        private int next;

        Reader(Path path) throws IOException {
            this.path = path;
            this.lines = Files.readAllLines(path);
        }

        private IllegalArgumentException wrong(String what) {
            return new IllegalArgumentException(path + ":" + (next + 1) + ": " + what);
        }

        boolean skipToFault() {
            while (next < lines.size() && (lines.get(next).isBlank() || lines.get(next).startsWith("#"))) {
                next++;
            }
            return next < lines.size();
        }

        PlantedFault fault(String group) {
            String name = null;
            String says = null;
            String file = null;
            boolean slow = false;
            List<String> traps = new ArrayList<>();
            List<String> tests = new ArrayList<>();
            List<Change> changes = new ArrayList<>();
            for (; next < lines.size() && !lines.get(next).isBlank(); next++) {
                String line = lines.get(next);
                int colon = line.indexOf(": ");
                String value = colon < 0 ? "" : line.substring(colon + 2).strip();
                switch (line.equals(OLD) ? OLD : colon < 0 ? "" : line.substring(0, colon)) {
                    case "fault" -> name = value;
                    case "says" -> says = value;
                    case "guards" -> traps.add(value);
                    case "in" -> file = value;
                    case "killed by" -> tests.addAll(List.of(value.split(", *")));
                    case "slow" -> slow = true;
                    case OLD -> {
                        next++;
                        changes.add(new Change(file, textUntil(NEW), textUntil(END)));
                        next--;
                    }
                    default -> throw wrong("not understood: " + line);
                }
            }
            if (name == null || says == null || tests.isEmpty() || changes.isEmpty()) {
                throw wrong("a fault needs a name, a sentence, a test and a change: " + name);
            }
            return new PlantedFault(group, name, says, traps, tests, slow, changes);
        }

        private String textUntil(String end) {
            StringBuilder text = new StringBuilder();
            for (; next < lines.size() && !lines.get(next).equals(end); next++) {
                if (lines.get(next).startsWith("fault: ")) {
                    throw wrong("no " + end + " before the next fault");
                }
                text.append(lines.get(next)).append('\n');
            }
            if (next == lines.size()) {
                throw wrong("no " + end);
            }
            next++;
            return text.toString();
        }
    }

    /** Indentation does not count, so that moving code to another level breaks no list. */
    static String plant(String source, Change change) {
        List<String> lines = source.lines().toList();
        List<String> old = change.old().lines().map(String::strip).toList();
        int found = -1;
        for (int i = 0; i + old.size() <= lines.size(); i++) {
            if (lines.subList(i, i + old.size()).stream().map(String::strip).toList().equals(old)) {
                if (found >= 0) {
                    throw new IllegalArgumentException("more than once in " + change.file() + ":\n" + change.old());
                }
                found = i;
            }
        }
        if (found < 0) {
            throw new IllegalArgumentException("not found in " + change.file() + ":\n" + change.old());
        }
        List<String> planted = new ArrayList<>(lines.subList(0, found));
        planted.addAll(change.replacement().lines().toList());
        planted.addAll(lines.subList(found + old.size(), lines.size()));
        return String.join("\n", planted) + "\n";
    }
}
