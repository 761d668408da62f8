package io.pendula.demonstrations;

import java.io.PrintStream;
import java.util.Locale;

/** Shows how a round goes on: one line drawn over and over on a terminal, else a line at its end. */
final class Progress implements Traffic.Watcher {
    private static final int BAR = 16;

    private final PrintStream out;
    private final Style style;
    private final String name;
    private int drawn;

    Progress(PrintStream out, Style style, String name) {
        this.out = out;
        this.style = style;
        this.name = name;
    }

    @Override
    public void see(long fired, double share) {
        if (style.inPlace()) {
            show(line(fired, share));
        }
    }

    /** Leaves one last line with the whole. */
    void end(long fired) {
        show(line(fired, 1));
        if (style.inPlace()) {
            out.println();
        }
    }

    private String line(long fired, double share) {
        String bar = style.bar(share, BAR);
        String space = (style.unicode() ? "░" : "-").repeat(BAR - bar.length());
        return String.format(Locale.ROOT, "%-20s ", name) + style.accent(bar + space)
                + String.format(Locale.ROOT, " %3d%% %,9d fired", (int) (Math.min(1, share) * 100), fired);
    }

    private void show(String line) {
        if (style.inPlace()) {
            out.print("\r" + line + " ".repeat(Math.max(0, drawn - line.length())));
            out.flush();
            drawn = line.length();
        } else {
            out.println(line);
        }
    }
}
