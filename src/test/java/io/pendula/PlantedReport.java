package io.pendula;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** docs/testing.md: what is planted, where, and which test finds it; and which traps have no fault, and why. */
final class PlantedReport {
    private static final String PROMISES = "## What it promises";
    /** Begins a row of a group's table of things for which no fault can be planted. */
    private static final String HEAD = """
            # What proves that the tests can fail

            Written by `.ci/planted`, which plants each fault below in a copy of the library, and runs the tests beside it:
            they pass without the fault, and fail with it. The faults are listed in `src/test/planted`, as texts to
            be replaced. `.ci/planted --short` leaves out those whose tests take long; it also fails if this file is not
            what the lists say. `.ci/planted NAME` plants one fault, or the faults of one list.

            Small changes of the byte code, by PIT: `mvn -Ppit test-compile` (report in `target/pit-reports`).
            """;

    private PlantedReport() {}

    static String of(List<PlantedFault> faults, String traps, String readme, List<String> wrong) {
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
        appendRows(text, "Traps", rows(traps), faults, wrong);
        appendRows(text, "Promises", promises(readme), faults, wrong);
        checkAnchors(faults, traps, readme, wrong);
        return text.toString();
    }

    private static String files(PlantedFault f) {
        return f.changes().stream().map(c -> "`" + c.file().replace(".java", "") + "`").distinct()
                .collect(Collectors.joining(", "));
    }

    /** The first cells of all tables. */
    private static List<String> rows(String traps) {
        return traps.lines().filter(l -> l.startsWith("| ") && !l.startsWith("| trap |"))
                .map(l -> l.substring(2, l.indexOf(" |", 2))).toList();
    }

    private static List<String> promises(String readme) {
        int begin = readme.indexOf(PROMISES);
        String section = readme.substring(begin, readme.indexOf("\n## ", begin + 1));
        return section.lines().filter(l -> l.matches("([-*]|\\d+\\.) .*")).map(l -> l.replaceFirst("^\\S+ +", ""))
                .toList();
    }

    private static void appendRows(StringBuilder text, String title, List<String> rows, List<PlantedFault> faults,
            List<String> wrong) {
        Map<String, List<String>> found = new LinkedHashMap<>();
        List<String> without = new ArrayList<>();
        for (String row : rows) {
            List<String> names = faults.stream().filter(f -> f.traps().stream().anyMatch(t -> isMeant(row, t, rows)))
                    .map(PlantedFault::says).toList();
            if (names.isEmpty()) {
                without.add(row);
            } else {
                found.put(row, names);
            }
        }
        text.append("\n## ").append(title).append(", and the faults that take their mechanism out\n\n");
        found.forEach((row, names) -> {
            text.append("- ").append(row).append('\n');
            names.forEach(n -> text.append("  - ").append(n).append('\n'));
        });
        if (!without.isEmpty()) {
            text.append("\nWithout a fault:\n\n");
            without.forEach(row -> text.append("- ").append(row).append('\n'));
        }
    }

    /** The whole row, or its beginning. */
    private static boolean isMeant(String row, String guarded, List<String> rows) {
        return row.equals(guarded) || row.startsWith(guarded) && !rows.contains(guarded);
    }

    private static void checkAnchors(List<PlantedFault> faults, String traps, String readme, List<String> wrong) {
        List<String> rows = new ArrayList<>(rows(traps));
        rows.addAll(promises(readme));
        for (PlantedFault f : faults) {
            for (String guarded : f.traps()) {
                long n = rows.stream().filter(row -> isMeant(row, guarded, rows)).count();
                if (n != 1) {
                    wrong.add(f.name() + ": " + n + " rows of docs/traps.md or the README's promises begin with: "
                            + guarded);
                }
            }
        }
    }
}
