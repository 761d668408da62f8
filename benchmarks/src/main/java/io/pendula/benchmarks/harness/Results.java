package io.pendula.benchmarks.harness;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.csv.CsvGenerator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
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
    private static final String COMMENT = "# ";
    private static final CsvMapper CSV = CsvMapper.builder().disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(CsvParser.Feature.FAIL_ON_MISSING_COLUMNS).enable(CsvGenerator.Feature.STRICT_CHECK_FOR_QUOTING)
            .build();
    private static final CsvSchema COLUMNS = CSV.schemaFor(Figure.class);

    /** One figure of one JVM. */
    public record Figure(@JsonProperty("case") String name, String java, String cell, String subject, int round,
            String figure, double value) {}

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
        String text = Files.readString(file);
        text.lines().takeWhile(line -> line.startsWith(COMMENT)).filter(line -> line.contains(": "))
                .map(line -> line.substring(COMMENT.length()).split(": ", 2))
                .forEach(pair -> results.about.put(pair[0], pair[1]));
        try (MappingIterator<Figure> figures = CSV.readerFor(Figure.class)
                .with(COLUMNS.withHeader().withStrictHeaders(true).withComments()).readValues(text)) {
            figures.readAll(results.figures);
        }
        return results;
    }

    /** Begins a file, which {@link #append} continues, so that nothing is lost when the run is interrupted. */
    public static void create(Path file, Map<String, String> about) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        StringBuilder head = new StringBuilder();
        about.forEach((key, value) -> head.append(COMMENT).append(key).append(": ").append(value).append('\n'));
        Files.writeString(file, head + String.join(",", COLUMNS.getColumnNames()) + "\n");
    }

    public static void append(Path file, List<Figure> more) throws IOException {
        Files.writeString(file, CSV.writer(COLUMNS).writeValueAsString(more), StandardOpenOption.APPEND);
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
