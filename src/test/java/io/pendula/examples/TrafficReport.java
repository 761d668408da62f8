package io.pendula.examples;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/** The result of a steady load for people: two contenders side by side, each line with a few words on its meaning. */
final class TrafficReport {
    /** One contender's figures. */
    record Column(Traffic.Outcome outcome, double bytesPerTimer) {
        private double lateness(double percentile) {
            return outcome.lateness().getValueAtPercentile(percentile);
        }
    }

    private static final DoubleFunction<String> COUNT = n -> String.format(Locale.ROOT, "%,.0f", n);

    private final PrintStream out;
    private final Style style;
    private final Column ours;
    private final Column theirs;

    TrafficReport(PrintStream out, Style style, Column ours, Column theirs) {
        this.out = out;
        this.style = style;
        this.ours = ours;
        this.theirs = theirs;
    }

    void print() {
        out.println();
        out.println(style.strong(String.format("%-22s%12s%12s", "", "Pendula", "JDK pool")));
        row("timers set", COUNT, c -> c.outcome().counts().armed(), "resets included");
        row("  stopped", COUNT, c -> c.outcome().counts().stopped(), "the answer came in time");
        row("  reset", COUNT, c -> c.outcome().counts().reset(), "a message came");
        row("  fired", COUNT, c -> c.outcome().counts().fired(), "no answer came");
        row("stopped, yet it fired", COUNT, c -> c.outcome().untrue(), "should be 0");
        out.println();
        row("lateness, median", style::time, c -> c.lateness(50), "from the deadline to the run");
        row("  99 of 100 below", style::time, c -> c.lateness(99), "");
        row("  worst", style::time, c -> c.lateness(100), "");
        row("time of one call", style::time, c -> c.outcome().perCall(), "to set, stop or reset");
        row("processor time", style::time, c -> c.outcome().cpuPerTimer(), "for each timer, load included");
        row("processors used", n -> String.format(Locale.ROOT, "%.1f %%", n * 100), c -> c.outcome().processors(),
                "100 %: one is always busy");
        row("memory per timer", n -> String.format(Locale.ROOT, "%.0f B", n), Column::bytesPerTimer, "while it waits");
    }

    private void row(String label, DoubleFunction<String> format, ToDoubleFunction<Column> figure, String meaning) {
        out.println(String.format("%-22s%12s%12s  %s", label, format.apply(figure.applyAsDouble(ours)),
                format.apply(figure.applyAsDouble(theirs)), meaning).stripTrailing());
    }
}
