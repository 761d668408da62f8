package io.pendula.benchmarks.report;

import io.pendula.benchmarks.harness.Results;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A table of plain figures in a Markdown file. One comment in the line above it names the results and a resource of
 * this package: {@code <!--cells of RESULTS, by RESOURCE-->}. The resource has a line for each row: {@code WORDS; CASE;
 * SETTINGS; SUBJECT, SUBJECT; FIGURE, FIGURE}. A row begins with the words, and has a cell for each subject.
 */
final class CellTable {
    private static final Pattern TABLE =
            Pattern.compile("(?m)^<!--cells of [^>]*?([\\w-]+\\.txt)-->\\n(\\|.*\\n\\|[-:|]+\\|\\n)((?:\\|.*\\n)*)");

    private CellTable() {}

    static int count(String text) {
        return (int) TABLE.matcher(text).results().count();
    }

    /** What a text would be with the results' figures. The words and the order of the rows are the resource's. */
    static String renewed(String text, Results results) {
        Matcher m = TABLE.matcher(text);
        StringBuilder renewed = new StringBuilder();
        int end = 0;
        while (m.find()) {
            renewed.append(text, end, m.start(3));
            rows(m.group(1), results).forEach(row -> renewed.append(line(row)).append('\n'));
            end = m.end(3);
        }
        return renewed.append(text.substring(end)).toString();
    }

    /** The first cell that is not the results', in words; null if there is none. */
    static String firstDifference(String text, Results results) {
        Matcher m = TABLE.matcher(text);
        while (m.find()) {
            List<List<String>> expected = rows(m.group(1), results);
            List<String> lines = m.group(3).lines().toList();
            if (lines.size() != expected.size()) {
                return m.group(1) + " has " + expected.size() + " rows, but the table has " + lines.size();
            }
            for (int row = 0; row < lines.size(); row++) {
                String difference = firstDifference(lines.get(row), expected.get(row));
                if (difference != null) {
                    return difference;
                }
            }
        }
        return null;
    }

    private static String firstDifference(String line, List<String> expected) {
        List<String> cells = Stream.of(line.split("\\|")).skip(1).map(String::strip).toList();
        if (cells.size() != expected.size()) {
            return "the row '" + line + "' must have " + expected.size() + " cells";
        }
        for (int i = 0; i < cells.size(); i++) {
            if (!cells.get(i).equals(expected.get(i))) {
                return "cell " + (i + 1) + " of '" + line + "' is '" + cells.get(i) + "', but must be '" + expected.get(i)
                        + "'";
            }
        }
        return null;
    }

    private static String line(List<String> cells) {
        return cells.stream().collect(Collectors.joining(" | ", "| ", " |"));
    }

    private static List<List<String>> rows(String resource, Results results) {
        List<List<String>> rows = new ArrayList<>();
        for (String line : lines(resource)) {
            String[] parts = line.split(" *; *", -1);
            if (parts.length != 5) {
                throw new IllegalArgumentException(resource + ": a line must have five parts, but is '" + line + "'");
            }
            List<String> row = new ArrayList<>(List.of(parts[0]));
            for (String subject : parts[3].split(" *, *")) {
                row.add(Stream.of(parts[4].split(" *, *"))
                        .map(figure -> Marks.figure(String.join("; ", parts[1], parts[2], subject, figure), results))
                        .collect(Collectors.joining(" / ")));
            }
            rows.add(row);
        }
        return rows;
    }

    private static List<String> lines(String resource) {
        try (InputStream in = CellTable.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalArgumentException("no such resource: " + resource);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().filter(l -> !l.startsWith("#")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
