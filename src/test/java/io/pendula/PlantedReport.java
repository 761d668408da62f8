package io.pendula;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The page that .ci/planted writes: what is planted, where, and which test finds it; and which traps have no fault, and why. */
final class PlantedReport {
    private static final String NUMBERED = "## \\d+\\. ";
    private static final String HEAD = """
            # What proves that the tests can fail

            Written by `.ci/planted`, which plants each fault below in a copy of the library, and runs the tests beside it:
            they pass without the fault, and fail with it. The faults are listed in `src/test/planted`, as fragments to
            be replaced. `.ci/planted --short` leaves out those whose tests take long. `.ci/planted NAME` plants one
            fault, or the faults of one list. A fault that gets through is planted up to twice more, and each further
            attempt is printed: its test depends on chance.

            Small changes of the byte code of a queue's parts, by PIT: `mvn -Ppit test-compile`, ten minutes; the
            report is in `target/pit-reports`.
            """;

    private PlantedReport() {}

    static String of(List<PlantedFault> faults, String traps, String guarantees, List<String> wrong) {
        StringBuilder text = new StringBuilder(HEAD);
        Map<String, List<PlantedFault>> groups = faults.stream().collect(Collectors.groupingBy(PlantedFault::group,
                TreeMap::new, Collectors.toList()));
        groups.forEach((group, list) -> {
            text.append("\n## ").append(group.substring(0, 1).toUpperCase()).append(group.substring(1))
                    .append("\n\n| fault | in | found by |\n|---|---|---|\n");
            list.forEach(f -> text.append("| ").append(f.says()).append(" | ").append(files(f)).append(" | ")
                    .append(f.tests().stream().map(t -> "`" + t.replace('#', '.') + "`")
                            .collect(Collectors.joining(", "))).append(" |\n"));
        });
        Map<String, String> rows = rows(traps);
        Map<String, String> promises = promises(guarantees);
        appendRows(text, "Traps, and the faults that take their mechanism out", rows, faults);
        appendRows(text, "Promises, and the faults that break them", promises, faults);
        rows.putAll(promises);
        checkAnchors(faults, new ArrayList<>(rows.keySet()), wrong);
        return text.toString();
    }

    private static String files(PlantedFault f) {
        return f.changes().stream().map(c -> "`" + c.file().replace(".java", "") + "`").distinct()
                .collect(Collectors.joining(", "));
    }

    /** The first and the second cell of each row of all tables. */
    private static Map<String, String> rows(String traps) {
        Map<String, String> rows = new LinkedHashMap<>();
        traps.lines().filter(l -> l.startsWith("| ") && !l.startsWith("| trap |")).forEach(l -> {
            int middle = l.indexOf(" | ", 2);
            rows.put(l.substring(2, middle), l.substring(middle + 3, l.length() - 2));
        });
        return rows;
    }

    private static Map<String, String> promises(String guarantees) {
        Map<String, String> promises = new LinkedHashMap<>();
        guarantees.lines().filter(l -> l.matches(NUMBERED + ".*"))
                .forEach(l -> promises.put(l.replaceFirst(NUMBERED, ""), "the tests that docs/guarantees.md names"));
        return promises;
    }

    private static void appendRows(StringBuilder text, String title, Map<String, String> rows,
            List<PlantedFault> faults) {
        List<String> all = new ArrayList<>(rows.keySet());
        StringBuilder without = new StringBuilder();
        text.append("\n## ").append(title).append("\n\n");
        for (String row : all) {
            List<PlantedFault> theirs = faults.stream()
                    .filter(f -> f.traps().stream().anyMatch(t -> isMeant(row, t, all))).toList();
            if (theirs.isEmpty()) {
                without.append("- ").append(row).append(": ").append(rows.get(row)).append('\n');
            } else {
                text.append("- ").append(row).append('\n');
                theirs.forEach(f -> text.append("  - ").append(f.says()).append('\n'));
            }
        }
        if (!without.isEmpty()) {
            text.append("\nWithout a fault: there is nothing to take out, or only a race would show it:\n\n").append(without);
        }
    }

    /** The whole row, or its beginning. */
    private static boolean isMeant(String row, String guarded, List<String> rows) {
        return row.equals(guarded) || row.startsWith(guarded) && !rows.contains(guarded);
    }

    private static void checkAnchors(List<PlantedFault> faults, List<String> rows, List<String> wrong) {
        for (PlantedFault f : faults) {
            for (String guarded : f.traps()) {
                long n = rows.stream().filter(row -> isMeant(row, guarded, rows)).count();
                if (n != 1) {
                    wrong.add(f.name() + ": " + n + " rows of docs/internals/traps.md or headings of docs/guarantees.md begin with: "
                            + guarded);
                }
            }
        }
    }
}
