package io.pendula.benchmarks.gobench;

import io.pendula.benchmarks.harness.Launch;
import io.pendula.benchmarks.harness.Results;
import java.util.List;
import java.util.Locale;

/**
 * What the changes of Go's timers were said to bring, by the figures of their commits, beside what the same step between
 * two designs brings here. Theirs are of whole runtimes, at 4 and at 12 processors.
 */
final class GoClaims {
    /**
     * A change of the clock's time per operation.
     *
     * @param commit of Go's repository
     * @param percent what the commit says
     */
    record Claim(String commit, String op, String from, String to, double percent) {}

    private static final String SPLIT = "76f4fd8a52, 1.10, 4 processors";
    private static final String PER_PROCESSOR = "6becb03334, 1.14, 12 processors";

    /** Of fcf6a7e5ce (2013, the heap of four children) and bb7a29991c (1.23) no figures are at hand. */
    static final List<Claim> PUBLISHED = List.of(
            new Claim(SPLIT, "afterfunc", "GO_1_9", "GO_1_10", -53), new Claim(SPLIT, "stop", "GO_1_9", "GO_1_10", -60),
            new Claim(SPLIT, "startstop", "GO_1_9", "GO_1_10", -61),
            new Claim(SPLIT, "reset", "GO_1_9", "GO_1_10", -85), new Claim(SPLIT, "sleep", "GO_1_9", "GO_1_10", -33),
            new Claim(PER_PROCESSOR, "afterfunc", "GO_1_10", "GO_1_14", -95.4),
            new Claim(PER_PROCESSOR, "after", "GO_1_10", "GO_1_14", -93.5),
            new Claim(PER_PROCESSOR, "stop", "GO_1_10", "GO_1_14", -6),
            new Claim(PER_PROCESSOR, "simultaneous", "GO_1_10", "GO_1_14", -19.6),
            new Claim(PER_PROCESSOR, "startstop", "GO_1_10", "GO_1_14", 9.6),
            new Claim(PER_PROCESSOR, "reset", "GO_1_10", "GO_1_14", -37.5),
            new Claim(PER_PROCESSOR, "sleep", "GO_1_10", "GO_1_14", -31.7),
            new Claim(PER_PROCESSOR, "ticker", "GO_1_10", "GO_1_14", -99.4));

    private GoClaims() {}

    /** A table in Markdown of those claims whose two designs have been measured; empty if there are none. */
    static String table(Results results) {
        StringBuilder table = new StringBuilder();
        for (String java : results.javas()) {
            for (Claim claim : PUBLISHED) {
                String one = change(results, java, claim, 1);
                String two = change(results, java, claim, 2);
                if (!one.isEmpty() || !two.isEmpty()) {
                    table.append("| ").append(String.join(" | ", claim.op, claim.commit,
                            percent(claim.percent), claim.from + " to " + claim.to, java, one, two)).append(" |\n");
                }
            }
        }
        if (table.isEmpty()) {
            return "";
        }
        List<String> head = List.of("operation", "commit", "says", "here", "java", "one processor", "two processors");
        return "\nWhat a change brought in wall_ns, as published and here. Two processors cannot tell how much contention "
                + "a change removes at 4 and 12.\n\n| " + String.join(" | ", head) + " |\n" + "|---".repeat(5)
                + "|--:".repeat(2) + "|\n" + table;
    }

    private static String change(Results results, String java, Claim claim, int procs) {
        String settings = "op=" + claim.op + " " + Launch.PROCESSORS + "=" + procs;
        Results.Spread ratio = results.ratio(java, settings, claim.to, claim.from, "wall_ns");
        return ratio == null ? "" : percent((ratio.median() - 1) * 100);
    }

    private static String percent(double change) {
        return String.format(Locale.ROOT, change == Math.rint(change) ? "%+.0f %%" : "%+.1f %%", change);
    }
}
