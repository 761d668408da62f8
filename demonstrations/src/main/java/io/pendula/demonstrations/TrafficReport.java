package io.pendula.demonstrations;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The result of some rounds for people: contenders side by side, and whether the first is better than each other one. The
 * rounds are the control: what two contenders differ by has to be more than what a contender's own rounds do.
 */
final class TrafficReport {
    private final PrintStream out;
    private final Map<String, List<Traffic.Outcome>> outcomes;

    /** @param outcomes by contender, in the order of the columns */
    TrafficReport(PrintStream out, Map<String, List<Traffic.Outcome>> outcomes) {
        this.out = out;
        this.outcomes = outcomes;
    }

    void print() {
        String first = outcomes.keySet().iterator().next();
        out.println();
        out.println(CommandLines.strong(out, row("", outcomes.keySet().stream())));
        count("timers set, resets included", o -> o.counts().armed());
        count("  reset: a message came", o -> o.counts().reset());
        count("  stopped: the answer, or end", o -> o.counts().stopped());
        count("  fired: no answer came", o -> o.counts().fired());
        count("stopped, yet it fired", Traffic.Outcome::untrue);
        figure("set, stop or reset one, ns", first, Traffic.Outcome::perCall);
        figure("processor time of a timer, ns", first, Traffic.Outcome::cpuPerTimer);
        figure("memory of a timer, bytes", first, Traffic.Outcome::bytes);
        figure("half are later than, us", first, o -> lateness(o, 50));
        figure("1 of 100 is later than, us", first, o -> lateness(o, 99));
        figure("the latest, us", first, o -> lateness(o, 100));
        out.println();
        out.println("A figure is the median of the rounds. " + first + " is better where all its rounds are");
        out.println("below all of the other's, and worse where they are above. Else it is level, as");
        out.println("the difference may be noise.");
    }

    private static double lateness(Traffic.Outcome outcome, double percentile) {
        return outcome.lateness().getValueAtPercentile(percentile) / 1e3;
    }

    private static String row(String label, Stream<String> cells) {
        return String.format("%-30s", label) + cells.map(cell -> String.format("%16s", cell)).collect(Collectors.joining());
    }

    /** In all rounds together. */
    private void count(String label, ToLongFunction<Traffic.Outcome> figure) {
        out.println(row(label, outcomes.values().stream().map(rounds ->
                String.format(Locale.ROOT, "%,d", rounds.stream().mapToLong(figure).sum()))));
    }

    private void figure(String label, String first, ToDoubleFunction<Traffic.Outcome> figure) {
        Function<List<Traffic.Outcome>, double[]> sorted = rounds -> rounds.stream().mapToDouble(figure).sorted().toArray();
        double[] ours = sorted.apply(outcomes.get(first));
        List<double[]> all = outcomes.values().stream().map(sorted).toList();
        out.println();
        out.println(row(label, all.stream().map(n -> String.format(Locale.ROOT, "%,.0f", n[n.length / 2]))));
        out.println(row("  least and most of the rounds", all.stream().map(n ->
                String.format(Locale.ROOT, "%,.0f..%,.0f", n[0], n[n.length - 1]))));
        out.println(row("  " + first + " is", all.stream().map(n -> n == all.get(0) ? "" : verdict(ours, n))));
    }

    /** What the rounds of the first say beside those of the second, where less is better; both in order. */
    static String verdict(double[] ours, double[] theirs) {
        return ours[ours.length - 1] < theirs[0] ? "better" : ours[0] > theirs[theirs.length - 1] ? "worse" : "level";
    }
}
