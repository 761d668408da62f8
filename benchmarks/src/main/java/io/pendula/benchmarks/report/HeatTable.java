package io.pendula.benchmarks.report;

import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Results.Spread;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** One figure of one case: a row for each cell, a column for each subject, the best subject first. */
public final class HeatTable {
    /**
     * What stands in the table.
     *
     * @param spread what the median lies between, in words
     * @param ratio to the best of the row
     * @param heat from 0 to 1
     */
    public record Cell(String median, String spread, double ratio, double heat, boolean isBehind) {}

    private static final String AGAIN = " again";
    /** Who is behind by less is not called so, even if the run could resolve it. */
    private static final double LEAST = 0.10;
    /** From so many times the best on a cell has the full colour. */
    private static final double HOT = 20;

    private final Results results;
    private final String figure;
    private final String java;
    private final List<String> subjects;
    private final Map<String, Double> best = new LinkedHashMap<>();
    private final Map<String, Double> control;

    HeatTable(Results results, String figure, String java) {
        this.results = results;
        this.figure = figure;
        this.java = java;
        for (String cell : results.cells()) {
            for (String subject : results.subjects()) {
                Spread s = results.spread(java, cell, subject, figure);
                if (s != null && s.median() > 0 && !subject.endsWith(AGAIN)) {
                    best.merge(cell, s.median(), Math::min);
                }
            }
        }
        Map<String, Double> order = new LinkedHashMap<>();
        for (String subject : results.subjects()) {
            double mean = mean(subject);
            if (!Double.isNaN(mean) && !subject.endsWith(AGAIN)) {
                order.put(subject, mean);
            }
        }
        subjects = order.entrySet().stream().sorted(Map.Entry.comparingByValue()).map(Map.Entry::getKey).toList();
        control = control();
    }

    public String figure() {
        return figure;
    }

    public String java() {
        return java;
    }

    public List<String> subjects() {
        return subjects;
    }

    public Set<String> cells() {
        return best.keySet();
    }

    boolean isEmpty() {
        return best.isEmpty();
    }

    /** Of the logarithms of the ratios to the best. */
    private double mean(String subject) {
        return best.keySet().stream().map(cell -> ratio(cell, subject)).filter(r -> !Double.isNaN(r))
                .mapToDouble(Math::log).average().orElse(Double.NaN);
    }

    private double ratio(String cell, String subject) {
        Spread s = results.spread(java, cell, subject, figure);
        return s == null ? Double.NaN : s.median() / best.get(cell);
    }

    /**
     * How far the control is from what it repeats, as a part of it, by cells: what the run cannot resolve. Empty
     * without a control.
     */
    private Map<String, Double> control() {
        Map<String, Double> control = new LinkedHashMap<>();
        for (String subject : results.subjects()) {
            for (String cell : best.keySet()) {
                if (subject.endsWith(AGAIN)) {
                    Spread ratio = results.ratio(java, cell, subject,
                            subject.substring(0, subject.length() - AGAIN.length()), figure);
                    if (ratio != null && ratio.median() > 0) {
                        control.put(cell, Math.exp(Math.abs(Math.log(ratio.median()))) - 1);
                    }
                }
            }
        }
        return control;
    }

    /** The settings that all rows have, and what the run can resolve, in words. */
    public String note() {
        Set<String> varying = CellText.varying(best.keySet());
        Map<String, String> common = new LinkedHashMap<>();
        CellText.parse(best.keySet().iterator().next()).forEach((key, value) -> {
            if (!varying.contains(key)) {
                common.put(key, value);
            }
        });
        String all = common.isEmpty() ? "" : "With " + common.entrySet().stream()
                .map(e -> e.getKey() + " " + grouped(e.getValue())).collect(Collectors.joining(", ")) + ". ";
        return all + resolution();
    }

    private String resolution() {
        if (control.isEmpty()) {
            return subjects.size() > 1 ? "No control." : "";
        }
        Spread apart = Spread.of(control.values().stream().mapToDouble(d -> d).toArray());
        return "The control is apart by " + percent(apart.median()) + " in the middle, by " + percent(apart.max())
                + " at most.";
    }

    private static String percent(double part) {
        return part < 9 ? String.format(Locale.ROOT, "%.0f %%", part * 100) : "more than tenfold";
    }

    /** Whether Pendula is behind by more than a tenth, and by more than the control there and in the middle. */
    private boolean isBehind(String cell, String subject) {
        double middle = control.isEmpty() ? 0
                : Spread.of(control.values().stream().mapToDouble(d -> d).toArray()).median();
        return subject.startsWith("PENDULA")
                && ratio(cell, subject) > 1 + Math.max(LEAST, Math.max(middle, control.getOrDefault(cell, 0.0)));
    }

    /** A cell in words. */
    public record Behind(String words, double ratio) {}

    /** The cells where Pendula, as it is built by default, is behind. */
    List<Behind> behind() {
        List<Behind> all = new ArrayList<>();
        for (String cell : best.keySet()) {
            for (String subject : subjects) {
                if (!subject.contains(":") && isBehind(cell, subject)) {
                    String leader = subjects.stream().filter(s -> !Double.isNaN(ratio(cell, s)))
                            .min(Comparator.comparing(s -> ratio(cell, s))).orElseThrow();
                    all.add(new Behind(String.format(Locale.ROOT, "%s%s, %s: %s %s, %s %s", results.figures().get(0)
                            .name(), cell.isEmpty() ? "" : " " + cell, figure, subject,
                            Tables.number(results.spread(java, cell, subject, figure).median()), leader,
                            Tables.number(results.spread(java, cell, leader, figure).median())),
                            ratio(cell, subject)));
                }
            }
        }
        return all;
    }

    /** Of all cases on one JVM, the worst first. */
    static List<Behind> behind(Results results, String java) {
        List<Behind> all = new ArrayList<>();
        for (Case c : Cases.ALL) {
            Results own = results.only(f -> f.name().equals(c.name()) && f.java().equals(java));
            c.ratios().forEach(figure -> all.addAll(new HeatTable(own, figure, java).behind()));
        }
        all.sort(Comparator.comparing(Behind::ratio).reversed());
        return all;
    }

    /** Of the settings in which cells differ, those that this one has. */
    public List<String> settings(String cell) {
        Map<String, String> settings = CellText.parse(cell);
        return CellText.varying(best.keySet()).stream().filter(settings::containsKey)
                .map(key -> key + " " + grouped(settings.get(key))).toList();
    }

    /** Null if it was not measured. */
    public Cell cell(String cell, String subject) {
        Spread s = results.spread(java, cell, subject, figure);
        if (s == null) {
            return null;
        }
        double ratio = ratio(cell, subject);
        return new Cell(Tables.number(s.median()), Tables.text(s), ratio,
                Math.min(1, Math.log(Math.max(1, ratio)) / Math.log(HOT)), isBehind(cell, subject));
    }

    private static String grouped(String value) {
        return value.matches("\\d{4,18}") ? String.format(Locale.ROOT, "%,d", Long.parseLong(value)) : value;
    }
}
