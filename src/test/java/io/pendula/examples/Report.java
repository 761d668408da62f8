package io.pendula.examples;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

import org.HdrHistogram.Histogram;

/** The result of the demo for people: two contenders side by side, at most 80 columns wide. */
final class Report {
    private static final int BAR = 20;
    private static final long FIRST_BOUND = 1000;

    /** One contender's figures. */
    record Column(Storm.Outcome outcome, double bytesPerTimer) {
        private double lateness(double percentile) {
            return outcome.lateness().getValueAtPercentile(percentile);
        }

        private double perArming(long nanos) {
            return (double) nanos / outcome.counts().armed();
        }
    }

    private final PrintStream out;
    private final Style style;
    private final Column ours;
    private final Column theirs;
    private final int timers;

    Report(PrintStream out, Style style, Column ours, Column theirs, int timers) {
        this.out = out;
        this.style = style;
        this.ours = ours;
        this.theirs = theirs;
        this.timers = timers;
    }

    void print() {
        DoubleFunction<String> count = n -> String.format(Locale.ROOT, "%,.0f", n);
        out.println();
        heading("", "Pendula", "ScheduledThreadPoolExecutor", "ratio");
        row("times armed", count, c -> c.outcome().counts().armed(), false);
        row("  fired", count, c -> c.outcome().counts().fired(), false);
        row("  stopped", count, c -> c.outcome().counts().stopped(), false);
        row("  replaced by a reset", count, c -> c.outcome().counts().reset(), false);
        row("stopped, yet it fired", count, c -> c.outcome().untrue(), false);
        out.println();
        row("lateness  p50", style::time, c -> c.lateness(50), true);
        row("          p90", style::time, c -> c.lateness(90), true);
        row("          p99", style::time, c -> c.lateness(99), true);
        row("          p99.9", style::time, c -> c.lateness(99.9), true);
        row("          max", style::time, c -> c.lateness(100), true);
        out.println();
        row("wall time per arming", style::time, c -> (double) c.outcome().armNanos() / timers, true);
        row("  per stop or reset", style::time, c -> c.outcome().changeNanos() / (timers * 2 / 3.0), true);
        row("CPU time per arming", style::time, c -> c.perArming(c.outcome().cpuNanos()), true);
        row("memory per timer", n -> String.format(Locale.ROOT, "%.0f B", n), Column::bytesPerTimer, true);
        out.println();
        histogram();
    }

    private void heading(String label, String a, String b, String ratio) {
        out.println(style.strong(String.format("%-22s%14s%30s%10s", label, a, b, ratio).stripTrailing()));
    }

    private void row(String label, DoubleFunction<String> format, ToDoubleFunction<Column> figure, boolean compared) {
        double a = figure.applyAsDouble(ours);
        double b = figure.applyAsDouble(theirs);
        String ratio = compared && a > 0 ? ratio(b / a) : "";
        out.println(String.format("%-22s%14s%30s%10s", label, format.apply(a), format.apply(b), ratio)
                .stripTrailing());
    }

    private static String ratio(double r) {
        return String.format(Locale.ROOT, r < 9.95 ? "%.1fx" : "%,.0fx", r);
    }

    /** Buckets whose bounds grow by about the square root of ten. */
    private void histogram() {
        Histogram a = ours.outcome().lateness();
        Histogram b = theirs.outcome().lateness();
        long min = Math.min(a.getMinValue(), b.getMinValue());
        long max = Math.max(a.getMaxValue(), b.getMaxValue());
        out.println(style.strong(String.format("%-22s%-29s%s", "lateness below", "Pendula",
                "ScheduledThreadPoolExecutor")));
        double widest = Math.max(largestShare(a), largestShare(b));
        long low = 0;
        for (long high = FIRST_BOUND; low <= max; high = next(high)) {
            if (high > min) {
                out.println((String.format("%12s%5s", style.time(high), "") + cell(share(a, low, high), widest) + "  "
                        + cell(share(b, low, high), widest)).stripTrailing());
                low = high;
            }
        }
    }

    private static long next(long bound) {
        return Long.toString(bound).charAt(0) == '1' ? bound * 3 : bound / 3 * 10;
    }

    private static double share(Histogram h, long low, long high) {
        return h.getTotalCount() == 0 ? 0 : (double) h.getCountBetweenValues(low, high - 1) / h.getTotalCount();
    }

    private static double largestShare(Histogram h) {
        double largest = 0;
        long low = 0;
        for (long high = FIRST_BOUND; low <= h.getMaxValue(); high = next(high)) {
            largest = Math.max(largest, share(h, low, high));
            low = high;
        }
        return largest;
    }

    private String cell(double share, double widest) {
        String percent = share == 0 ? "" : share < 0.0005 ? "<0.1%" : String.format(Locale.ROOT, "%.1f%%", share * 100);
        String bar = style.bar(share / widest, BAR);
        return String.format("%6s ", percent) + style.accent(bar) + " ".repeat(BAR - bar.length());
    }
}
