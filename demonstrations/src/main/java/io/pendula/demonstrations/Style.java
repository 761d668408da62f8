package io.pendula.demonstrations;

import java.io.Console;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.Locale;
import java.util.Map;

/**
 * What an output can show.
 *
 * @param inPlace a line can be drawn over
 * @param colour escape sequences are understood and wanted
 * @param unicode there are characters for smooth bars
 */
record Style(boolean inPlace, boolean colour, boolean unicode) {
    static final Style PLAIN = new Style(false, false, false);

    private static final String EIGHTHS = " ▏▎▍▌▋▊▉█";

    static Style of(PrintStream out) {
        if (out != System.out) {
            return PLAIN;
        }
        String encoding = System.getProperty("stdout.encoding", System.getProperty("sun.stdout.encoding",
                Charset.defaultCharset().name()));
        return of(isTerminal(), System.getenv(), encoding);
    }

    static Style of(boolean terminal, Map<String, String> env, String encoding) {
        boolean inPlace = terminal && !"dumb".equals(env.get("TERM"));
        boolean colour = inPlace && env.getOrDefault("NO_COLOR", "").isEmpty();
        return new Style(inPlace, colour, encoding.equalsIgnoreCase("UTF-8"));
    }

    /** From JDK 22 on there may be a console although nobody sits at it. */
    private static boolean isTerminal() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    /** A bar for a share of {@code width} cells, without the cells that are empty. */
    String bar(double share, int width) {
        double cells = Math.max(0, Math.min(1, share)) * width;
        if (!unicode) {
            return "#".repeat((int) Math.round(cells));
        }
        int eighths = (int) Math.round(cells * 8);
        String rest = eighths % 8 == 0 ? "" : EIGHTHS.substring(eighths % 8, eighths % 8 + 1);
        return "█".repeat(eighths / 8) + rest;
    }

    String accent(String text) {
        return colour && !text.isEmpty() ? "\u001b[36m" + text + "\u001b[0m" : text;
    }

    String strong(String text) {
        return colour ? "\u001b[1m" + text + "\u001b[0m" : text;
    }

    /** Three digits, or fewer if that is exact, and a unit. */
    String time(double nanos) {
        String[] units = {"ns", unicode ? "µs" : "us", "ms", "s"};
        int u = 0;
        double value = nanos;
        while (value >= 999.5 && u < units.length - 1) {
            value /= 1000;
            u++;
        }
        int decimals = value >= 99.95 || value == Math.rint(value) ? 0 : value >= 9.995 ? 1 : 2;
        return String.format(Locale.ROOT, "%." + decimals + "f %s", value, units[u]);
    }
}
