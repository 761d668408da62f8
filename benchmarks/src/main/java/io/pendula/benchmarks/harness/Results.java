package io.pendula.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Figures as they were measured, and what a table or a plot says of them. */
public final class Results {
    private static final String COLUMNS = "case,java,cell,subject,round,figure,value";
    private static final String COMMENT = "# ";

    /** One figure of one JVM. */
    public record Figure(String name, String java, String cell, String subject, int round, String figure,
            double value) {
        private String line() {
            return String.join(",", name, java, cell, subject, String.valueOf(round), figure, String.valueOf(value));
        }
    }

    /** A median of rounds with what it lies between. */
    public record Spread(double median, double min, double max) {
        public static Spread of(double... values) {
            double[] sorted = values.clone();
            Arrays.sort(sorted);
            int n = sorted.length;
            return new Spread((sorted[(n - 1) / 2] + sorted[n / 2]) / 2, sorted[0], sorted[n - 1]);
        }
    }

    private final Map<String, String> about = new LinkedHashMap<>();
    private final List<Figure> figures = new ArrayList<>();

    /** @throws IOException also if the file is not one of these */
    public static Results read(Path file) throws IOException {
        Results results = new Results();
        boolean head = false;
        for (String line : Files.readAllLines(file)) {
            if (line.startsWith(COMMENT)) {
                String[] keyAndValue = line.substring(COMMENT.length()).split(": ", 2);
                results.about.put(keyAndValue[0], keyAndValue.length > 1 ? keyAndValue[1] : "");
            } else if (!head) {
                if (!line.equals(COLUMNS)) {
                    throw new IOException("first line must be '" + COLUMNS + "', but is '" + line + "' in " + file);
                }
                head = true;
            } else if (!line.isBlank()) {
                String[] c = line.split(",");
                if (c.length != 7) {
                    throw new IOException("line must have 7 columns, but is '" + line + "' in " + file);
                }
                results.figures.add(new Figure(c[0], c[1], c[2], c[3], Integer.parseInt(c[4]), c[5],
                        Double.parseDouble(c[6])));
            }
        }
        return results;
    }

    /** Begins a file, which {@link #append} continues, so that nothing is lost when the run is interrupted. */
    public static void create(Path file, Map<String, String> about) throws IOException {
        if (file.toAbsolutePath().getParent() != null) {
            Files.createDirectories(file.toAbsolutePath().getParent());
        }
        List<String> lines = new ArrayList<>();
        about.forEach((key, value) -> lines.add(COMMENT + key + ": " + value));
        lines.add(COLUMNS);
        Files.write(file, lines);
    }

    public static void append(Path file, List<Figure> more) throws IOException {
        Files.write(file, more.stream().map(Figure::line).toList(), StandardOpenOption.APPEND);
    }

    public void add(List<Figure> more) {
        figures.addAll(more);
    }

    /** Machine, commit and the like. */
    public Map<String, String> about() {
        return about;
    }

    public List<Figure> figures() {
        return figures;
    }

    public Results only(Predicate<Figure> wanted) {
        Results some = new Results();
        some.about.putAll(about);
        figures.stream().filter(wanted).forEach(some.figures::add);
        return some;
    }

    public boolean isEmpty() {
        return figures.isEmpty();
    }

    public List<String> javas() {
        return figures.stream().map(Figure::java).distinct().toList();
    }

    public List<String> cells() {
        return figures.stream().map(Figure::cell).distinct().toList();
    }

    public List<String> subjects() {
        return figures.stream().map(Figure::subject).distinct().toList();
    }

    public List<String> names() {
        return figures.stream().map(Figure::figure).distinct().toList();
    }

    /** By round. */
    Map<Integer, Double> values(String java, String cell, String subject, String figure) {
        Map<Integer, Double> values = new LinkedHashMap<>();
        for (Figure f : figures) {
            if (f.java.equals(java) && f.cell.equals(cell) && f.subject.equals(subject) && f.figure.equals(figure)) {
                values.put(f.round, f.value);
            }
        }
        return values;
    }

    /** Null if it was not measured. */
    public Spread spread(String java, String cell, String subject, String figure) {
        Map<Integer, Double> values = values(java, cell, subject, figure);
        return values.isEmpty() ? null : Spread.of(values.values().stream().mapToDouble(d -> d).toArray());
    }

    /** One subject's figure through another's, round by round; null if there is no round with both. */
    public Spread ratio(String java, String cell, String subject, String through, String figure) {
        Map<Integer, Double> above = values(java, cell, subject, figure);
        Map<Integer, Double> below = values(java, cell, through, figure);
        double[] ratios = above.keySet().stream().filter(round -> below.getOrDefault(round, 0.0) > 0)
                .mapToDouble(round -> above.get(round) / below.get(round)).toArray();
        return ratios.length == 0 ? null : Spread.of(ratios);
    }
}
