package io.pendula.benchmarks.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Results.Spread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Results as Markdown. */
public final class Tables {
    private Tables() {}

    /** All figures, as tables of all cases in Markdown, and their medians as JSON. */
    static void write(Results results, Path folder) throws IOException {
        StringBuilder tables = new StringBuilder("# Figures\n\nWritten by `report`; see [how](../README.md).\n\n");
        results.about().forEach((key, value) -> tables.append("* ").append(key).append(": ").append(value)
                .append('\n'));
        List<Median> medians = new ArrayList<>();
        for (Case c : Cases.ALL) {
            Results own = results.only(f -> f.name().equals(c.name()));
            if (own.isEmpty()) {
                continue;
            }
            tables.append("\n## ").append(c.name()).append("\n\n").append(of(own, c.ratios()))
                    .append(c.remarks(own));
            for (String java : own.javas()) {
                for (String cell : own.cells()) {
                    for (String subject : own.subjects()) {
                        for (String figure : own.names()) {
                            Spread s = own.spread(java, cell, subject, figure);
                            if (s != null) {
                                medians.add(new Median(c.name(), java, cell, subject, figure, s));
                            }
                        }
                    }
                }
            }
        }
        Files.writeString(folder.resolve("tables.md"), tables);
        DefaultPrettyPrinter aLineEach = new DefaultPrettyPrinter()
                .withArrayIndenter(DefaultIndenter.SYSTEM_LINEFEED_INSTANCE)
                .withObjectIndenter(DefaultPrettyPrinter.FixedSpaceIndenter.instance);
        new ObjectMapper().writer(aLineEach).writeValue(folder.resolve("report.json").toFile(),
                new Summary(results.about(), medians));
    }

    private record Summary(Map<String, String> about, List<Median> figures) {}

    private record Median(@JsonProperty("case") String name, String java, String cell, String subject, String figure,
            @JsonUnwrapped Spread spread) {}

    /** All figures of one case, and how each subject's main figures relate to the first subject's. */
    public static String of(Results results, List<String> ratios) {
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
    public static String number(double value) {
        double size = Math.abs(value);
        String format = size >= 100 || value == Math.rint(value) ? "%.0f" : size >= 10 ? "%.1f"
                : size >= 0.1 ? "%.2f" : "%.3f";
        return String.format(Locale.ROOT, format, value);
    }
}
