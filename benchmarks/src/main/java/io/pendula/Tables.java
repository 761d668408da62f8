package io.pendula;

import io.pendula.Results.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** Results as Markdown. */
final class Tables {
    private Tables() {}

    /** All figures of one case, and how each subject's main figures relate to the first subject's. */
    static String of(Results results, List<String> ratios) {
        String first = results.subjects().get(0);
        List<String> names = results.names();
        List<String> head = new ArrayList<>(List.of("setting", "java", "subject"));
        head.addAll(names);
        boolean compared = results.subjects().size() > 1;
        if (compared) {
            ratios.forEach(figure -> head.add("this / " + first + ", " + figure));
        }
        StringBuilder table = new StringBuilder();
        line(table, head);
        table.append("|---".repeat(3)).append("|--:".repeat(head.size() - 3)).append("|\n");
        for (String cell : results.cells()) {
            for (String java : results.javas()) {
                for (String subject : results.subjects()) {
                    List<String> line = new ArrayList<>();
                    names.forEach(figure -> line.add(text(results.spread(java, cell, subject, figure))));
                    if (line.stream().allMatch(String::isEmpty)) {
                        continue;
                    }
                    if (compared) {
                        ratios.forEach(figure -> line.add(subject.equals(first) ? ""
                                : text(results.ratio(java, cell, subject, first, figure))));
                    }
                    line.addAll(0, List.of(cell, java, subject));
                    line(table, line);
                }
            }
        }
        return table.toString();
    }

    private static void line(StringBuilder table, List<String> cells) {
        table.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }

    /** The median, and what it lies between. */
    static String text(Spread spread) {
        if (spread == null) {
            return "";
        }
        String median = number(spread.median());
        String min = number(spread.min());
        String max = number(spread.max());
        return Objects.equals(min, max) ? median : median + " (" + min + ".." + max + ")";
    }

    /** Three digits. */
    static String number(double value) {
        double size = Math.abs(value);
        String format = size >= 100 || value == Math.rint(value) ? "%.0f" : size >= 10 ? "%.1f"
                : size >= 0.1 ? "%.2f" : "%.3f";
        return String.format(Locale.ROOT, format, value);
    }
}
