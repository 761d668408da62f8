package io.pendula.release;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Prints the last line of {@code mvn verify}: how many tests ran. With {@code -q} Maven itself says nothing of tests that pass. */
public final class TestCount {
    private static final Pattern SUITE = Pattern.compile("<testsuite\\s[^>]*>");
    private static final List<String> FIGURES = List.of("tests", "failures", "errors", "skipped");

    private TestCount() {}

    /**
     * Runs in Maven's JVM, so reports that are older than the JVM are from an earlier build.
     *
     * @param args the folder of the reports, and whether the build leaves out the tests
     */
    public static void main(String[] args) throws IOException {
        if (!Boolean.parseBoolean(args[1])) {
            System.out.println(line(Path.of(args[0]), ManagementFactory.getRuntimeMXBean().getStartTime()));
        }
    }

    /** The sums of all reports that were written at {@code sinceMillis} or later. */
    static String line(Path reports, long sinceMillis) throws IOException {
        int[] sums = new int[FIGURES.size()];
        if (Files.isDirectory(reports)) {
            try (Stream<Path> files = Files.list(reports)) {
                for (Path f : files.filter(f -> f.getFileName().toString().matches("TEST-.*\\.xml")).toList()) {
                    if (Files.getLastModifiedTime(f).toMillis() >= sinceMillis) {
                        add(Files.readString(f), sums);
                    }
                }
            }
        }
        return sums[0] == 0 ? "No test ran."
                : "Tests run: " + sums[0] + ", Failures: " + sums[1] + ", Errors: " + sums[2] + ", Skipped: " + sums[3];
    }

    private static void add(String report, int[] sums) {
        Matcher suite = SUITE.matcher(report);
        while (suite.find()) {
            for (int i = 0; i < sums.length; i++) {
                Matcher figure = Pattern.compile("\\s" + FIGURES.get(i) + "=\"(\\d+)\"").matcher(suite.group());
                sums[i] += figure.find() ? Integer.parseInt(figure.group(1)) : 0;
            }
        }
    }
}
