package io.pendula.examples;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;

/** Shows how a storm goes on: one line drawn over and over on a terminal, else a line about each second. */
final class Progress implements Storm.Watcher {
    private static final int BAR = 16;
    private static final long REDRAW_NANOS = 100_000_000;
    private static final long RATE_NANOS = 500_000_000;
    private static final long LINE_NANOS = 1_000_000_000;

    private final PrintStream out;
    private final Style style;
    private final LongSupplier clock;
    private final String name;
    private final long timers;
    private final long start;

    private long shownAt;
    private long ratedAt;
    private long firedThen;
    private long rate;
    private String line = "";
    private int drawn;

    Progress(PrintStream out, Style style, LongSupplier clock, String name, long timers) {
        this.out = out;
        this.style = style;
        this.clock = clock;
        this.name = name;
        this.timers = timers;
        this.start = clock.getAsLong();
        this.shownAt = start;
        this.ratedAt = start;
    }

    @Override
    public void see(long fired, long stopped, long pending) {
        long now = clock.getAsLong();
        if (now - ratedAt >= RATE_NANOS) {
            rate = (long) ((fired - firedThen) * 1e9 / (now - ratedAt));
            ratedAt = now;
            firedThen = fired;
        }
        line = line((double) (fired + stopped) / timers, String.format(Locale.ROOT,
                "%,9d fired/s  %,9d pending  %5.1f s", rate, pending, (now - start) / 1e9));
        if (now - shownAt >= (style.inPlace() ? REDRAW_NANOS : LINE_NANOS)) {
            shownAt = now;
            show();
        }
    }

    /** Leaves one last line with the whole. */
    void end(long fired) {
        double seconds = (clock.getAsLong() - start) / 1e9;
        line = line(1, String.format(Locale.ROOT, "%,9d fired in all%18s%5.1f s", fired, "", seconds));
        show();
        if (style.inPlace()) {
            out.println();
        }
    }

    private String line(double share, String figures) {
        String bar = style.bar(share, BAR);
        String space = (style.unicode() ? "░" : "-").repeat(BAR - bar.length());
        return String.format(Locale.ROOT, "%-8s ", name) + style.accent(bar + space)
                + String.format(Locale.ROOT, " %3d%% ", (int) (Math.min(1, share) * 100)) + figures;
    }

    private void show() {
        if (style.inPlace()) {
            out.print("\r" + line + " ".repeat(Math.max(0, drawn - line.length())));
            out.flush();
            drawn = line.length();
        } else {
            out.println(line);
        }
    }
}
