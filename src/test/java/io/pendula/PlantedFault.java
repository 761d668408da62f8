package io.pendula;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A fault that is planted in the library's source: in each of the places a fragment is replaced by another. A list in
 * src/test/planted says it so, and {@link PlantedSource} finds the place:
 *
 * <pre>
 * fault: claims-early
 * says: a timer is claimed a nanosecond before its deadline
 * guards: Never early
 * killed by: TimerQueueModelTest#randomOperations_fixedSeeds_matchTheModel
 * in: DueTimers.claimDue: $when &gt; $now ==&gt; $when &gt; $now + 1
 * </pre>
 *
 * <p>{@code in} names the class, nested ones with the outer one, and its method or field; a constructor is called as its
 * class, and a class alone stands for all of it. The fragment before the arrow must be there once, in whichever method of
 * that name. It should be short, and a whole expression or statement. Spaces and comments do not count. {@code $when} is
 * whatever name stands there, as that of a local variable, also behind the arrow; a local that the fragment does not have
 * keeps its own name there. With nothing behind the arrow the fragment is left out. What takes several lines stands below
 * the place, the fragment behind {@code -}, the other behind {@code +}. A fault that changes two places has {@code in} twice.
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
    /** In a class of the library, or a member of one. */
    record Change(String place, String old, String replacement) {
        String file() {
            return place.replaceFirst("\\..*", "") + ".java";
        }
    }

    /** All that a file lists. Lines that begin with '#' are comments. */
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
            boolean slow = false;
            List<String> traps = new ArrayList<>();
            List<String> tests = new ArrayList<>();
            List<Change> changes = new ArrayList<>();
            for (; next < lines.size() && !lines.get(next).isBlank(); next++) {
                String line = lines.get(next);
                int colon = line.indexOf(": ");
                String value = colon < 0 ? "" : line.substring(colon + 2).strip();
                switch (colon < 0 ? "" : line.substring(0, colon)) {
                    case "fault" -> name = value;
                    case "says" -> says = value;
                    case "guards" -> traps.add(value);
                    case "killed by" -> tests.addAll(List.of(value.split(", *")));
                    case "slow" -> slow = true;
                    case "in" -> changes.add(value.contains(" ==>") ? change(value) : longChange(value));
                    default -> throw wrong("not understood: " + line);
                }
            }
            if (name == null || says == null || tests.isEmpty() || changes.isEmpty()) {
                throw wrong("a fault needs a name, a sentence, a test and a change: " + name);
            }
            return new PlantedFault(group, name, says, traps, tests, slow, changes);
        }

        private Change change(String value) {
            int colon = value.indexOf(": ");
            int arrow = value.indexOf(" ==>");
            if (colon < 0 || colon > arrow) {
                throw wrong("a change needs a place and a fragment: " + value);
            }
            return new Change(value.substring(0, colon), value.substring(colon + 2, arrow).strip(),
                    value.substring(arrow + 4).strip());
        }

        private Change longChange(String place) {
            next++;
            Change change = new Change(place, fragment("- "), fragment("+ "));
            next--;
            return change;
        }

        /** The lines that begin so. */
        private String fragment(String mark) {
            StringBuilder text = new StringBuilder();
            for (; next < lines.size() && lines.get(next).startsWith(mark); next++) {
                text.append(text.isEmpty() ? "" : "\n").append(lines.get(next).substring(mark.length()));
            }
            if (text.isEmpty() && mark.equals("- ")) {
                throw wrong("a change needs a fragment to be replaced");
            }
            return text.toString();
        }
    }
}
