package io.pendula.demonstrations;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The result of some rounds for people: two contenders side by side, whether the first is better, and what each line
 * means. The rounds are the control: what two contenders differ by has to be more than what a contender's own rounds do.
 */
final class TrafficReport {
    private final PrintStream out;
    private final List<Traffic.Outcome> ours;
    private final List<Traffic.Outcome> theirs;

    TrafficReport(PrintStream out, List<Traffic.Outcome> ours, List<Traffic.Outcome> theirs) {
        this.out = out;
        this.ours = ours;
        this.theirs = theirs;
    }

    void print() {
        out.println();
        out.println(CommandLines.strong(out, String.format("%-21s%11s%11s  Pendula is", "", "Pendula", "JDK pool")));
        count("timers set", o -> o.counts().armed(), "resets included");
        count("  reset", o -> o.counts().reset(), "a message came");
        count("  stopped", o -> o.counts().stopped(), "the answer came, or the end");
        count("  fired", o -> o.counts().fired(), "no answer came");
        count("stopped, yet it fired", Traffic.Outcome::untrue, "should be 0");
        out.println();
        figure("time of one call, ns", Traffic.Outcome::perCall, "to set, stop or reset");
        figure("processor time, ns", Traffic.Outcome::cpuPerTimer, "a timer, with the load");
        figure("memory, bytes", Traffic.Outcome::bytes, "a timer that waits");
        figure("lateness, us", o -> lateness(o, 50), "the median");
        figure("  99 of 100 below", o -> lateness(o, 99), "");
        figure("  the latest", o -> lateness(o, 100), "");
        out.println();
        out.println("Figures are medians of " + ours.size() + " rounds each. Better or worse: all rounds of the one are");
        out.println("beyond all of the other. Level: they are not, so the difference may be noise.");
    }

    private static double lateness(Traffic.Outcome outcome, double percentile) {
        return outcome.lateness().getValueAtPercentile(percentile) / 1e3;
    }

    /** In all rounds together. */
    private void count(String label, ToLongFunction<Traffic.Outcome> figure, String meaning) {
        out.println(String.format(Locale.ROOT, "%-21s%,11d%,11d          %s", label, ours.stream().mapToLong(figure).sum(),
                theirs.stream().mapToLong(figure).sum(), meaning).stripTrailing());
    }

    private void figure(String label, ToDoubleFunction<Traffic.Outcome> figure, String meaning) {
        double[] a = ours.stream().mapToDouble(figure).sorted().toArray();
        double[] b = theirs.stream().mapToDouble(figure).sorted().toArray();
        out.println(String.format(Locale.ROOT, "%-21s%,11.0f%,11.0f  %-6s  %s", label, a[a.length / 2],
                b[b.length / 2], verdict(a, b), meaning).stripTrailing());
    }

    /** What the rounds of the first say beside those of the second, where less is better. */
    static String verdict(double[] ours, double[] theirs) {
        double ourBest = Arrays.stream(ours).min().orElseThrow();
        double ourWorst = Arrays.stream(ours).max().orElseThrow();
        double theirBest = Arrays.stream(theirs).min().orElseThrow();
        double theirWorst = Arrays.stream(theirs).max().orElseThrow();
        return ourWorst < theirBest ? "better" : ourBest > theirWorst ? "worse" : "level";
    }
}
