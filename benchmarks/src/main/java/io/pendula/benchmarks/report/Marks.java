package io.pendula.benchmarks.report;

import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Results.Spread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Figures in Markdown files that come from the results. A figure stands between comments, the first of which says what
 * it is: {@code <!--figure CASE; SETTINGS; SUBJECT; FIGURE-->47<!--/figure-->}, where SUBJECT may be a ratio, A / B. A
 * table is likewise: {@code <!--table CASE; SETTINGS; SUBJECT, SUBJECT; FIGURE-->}. The settings must choose one cell
 * for a figure; java=17 or so may be among them, else the first JDK of the results counts. {@code <!--behind N-->} is a
 * list of the N cells in which Pendula is farthest behind, for each JDK. {@code <!--about KEY, KEY-->} tells what the
 * head of the results says.
 */
final class Marks {
    private static final Pattern MARK = Pattern.compile("<!--(figure|table|behind|about) ([^>]*)-->(.*?)<!--/\\1-->",
            Pattern.DOTALL);
    /** What is at most this times another figure is level with it. */
    private static final double LEVEL = 1.1;
    private static final Pattern FENCE = Pattern.compile("(?ms)^```.*?^```$");

    private Marks() {}

    /** All files of a repository that may have marks. */
    static List<Path> files(Path root) throws IOException {
        List<Path> files = new ArrayList<>(List.of(root.resolve("README.md"), root.resolve("benchmarks/README.md")));
        try (Stream<Path> docs = Files.walk(root.resolve("docs"))) {
            docs.filter(f -> f.toString().endsWith(".md")).sorted().forEach(files::add);
        }
        return files;
    }

    static void renew(Path root, Results results) throws IOException {
        for (Path file : files(root)) {
            String text = Files.readString(file);
            String renewed = CellTable.renewed(renewed(text, results), results);
            if (!renewed.equals(text)) {
                Files.writeString(file, renewed);
                System.err.println("renewed: " + file);
            }
        }
    }

    static int count(String text) {
        return (int) MARK.matcher(withoutCode(text)).results().count();
    }

    /** What a text would be with the results' figures. */
    static String renewed(String text, Results results) {
        Matcher m = MARK.matcher(withoutCode(text));
        StringBuilder renewed = new StringBuilder();
        int end = 0;
        while (m.find()) {
            renewed.append(text, end, m.start(3)).append(content(m.group(1), m.group(2), results));
            end = m.end(3);
        }
        return renewed.append(text.substring(end)).toString();
    }

    /** The first figure that is not the results', in words; null if there is none. */
    static String firstDifference(String text, Results results) {
        Matcher m = MARK.matcher(withoutCode(text));
        while (m.find()) {
            String is = m.group(3);
            String expected = content(m.group(1), m.group(2), results);
            if (!is.equals(expected)) {
                return m.group(1) + " " + m.group(2) + " is '" + is + "', but the results say '" + expected + "'";
            }
        }
        return null;
    }

    /** An example in a block of code is no mark; the places stay. */
    private static String withoutCode(String text) {
        return FENCE.matcher(text).replaceAll(block -> " ".repeat(block.end() - block.start()));
    }

    /** The median of what {@code CASE; SETTINGS; SUBJECT; FIGURE} says. */
    static String figure(String description, Results results) {
        return content("figure", description, results);
    }

    private static String content(String kind, String description, Results results) {
        if (kind.equals("behind")) {
            return behind(results, Integer.parseInt(description.trim()));
        }
        if (kind.equals("about")) {
            return Stream.of(description.trim().split(" *, *")).map(key -> key + " " + results.about().get(key))
                    .collect(Collectors.joining("; "));
        }
        String[] parts = description.split(";");
        if (parts.length != 4) {
            throw new IllegalArgumentException("mark must be CASE; SETTINGS; SUBJECT; FIGURE, but is '" + description
                    + "'");
        }
        String name = parts[0].trim();
        String subject = parts[2].trim();
        String figure = parts[3].trim();
        Map<String, String> only = new LinkedHashMap<>(CellText.parse(parts[1]));
        String version = only.remove("java");
        Results some = results.only(f -> f.name().equals(name) && (version == null || f.java().startsWith(version))
                && CellText.parse(f.cell()).keySet().containsAll(only.keySet())
                && CellText.allow(only, CellText.parse(f.cell())));
        if (some.isEmpty()) {
            throw new IllegalArgumentException("no results for '" + description + "'");
        }
        String java = some.javas().get(0);
        return kind.equals("table") ? table(some, java, List.of(subject.split(" *, *")), figure)
                : figure(some, java, subject, figure, description);
    }

    private static String behind(Results results, int count) {
        StringBuilder list = new StringBuilder("\n");
        for (String java : results.javas()) {
            List<HeatTable.Behind> all = HeatTable.behind(results, java);
            if (results.javas().size() > 1) {
                list.append("\nJDK ").append(java.split("\\.")[0]).append(":\n\n");
            }
            all.stream().limit(count).forEach(b -> list.append("* ").append(b.words()).append('\n'));
            if (all.size() > count) {
                list.append("* and ").append(all.size() - count).append(" more, by less\n");
            }
        }
        return list.toString();
    }

    private static String figure(Results some, String java, String subject, String figure, String description) {
        if (some.cells().size() != 1) {
            throw new IllegalArgumentException("settings must choose one cell, but choose " + some.cells() + " in '"
                    + description + "'");
        }
        String cell = some.cells().get(0);
        String[] ratio = subject.split(" */ *");
        Spread spread = ratio.length == 1 ? some.spread(java, cell, subject, figure)
                : some.ratio(java, cell, ratio[0], ratio[1], figure);
        if (spread == null) {
            throw new IllegalArgumentException("no results for '" + description + "'");
        }
        return Tables.number(spread.median());
    }

    /** A row for each cell with what differs between them; in bold the best, and what is level with it. */
    private static String table(Results some, String java, List<String> subjects, String figure) {
        for (String subject : subjects) {
            if (!some.subjects().contains(subject)) {
                throw new IllegalArgumentException("no results of " + subject + " for " + figure);
            }
        }
        Set<String> keys = CellText.varying(some.cells());
        List<String> columns = new ArrayList<>(keys.isEmpty() ? List.of("") : keys);
        StringBuilder table = new StringBuilder("\n| ").append(String.join(" | ", columns)).append(" | ")
                .append(String.join(" | ", subjects)).append(" |\n").append("|---".repeat(columns.size()))
                .append("|--:".repeat(subjects.size())).append("|\n");
        for (String cell : some.cells()) {
            Map<String, String> settings = CellText.parse(cell);
            double best = subjects.stream().map(s -> some.spread(java, cell, s, figure)).filter(s -> s != null)
                    .mapToDouble(Spread::median).min().orElse(Double.NaN);
            table.append("|");
            columns.forEach(key -> table.append(' ').append(settings.getOrDefault(key, "")).append(" |"));
            for (String subject : subjects) {
                Spread s = some.spread(java, cell, subject, figure);
                String number = s == null ? "" : Tables.number(s.median());
                boolean isBest = s != null && s.median() <= best * LEVEL;
                table.append(' ').append(isBest ? "**" + number + "**" : number).append(" |");
            }
            table.append('\n');
        }
        return table.toString();
    }
}
