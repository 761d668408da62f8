package io.pendula.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts a program on fewer processors than there are. */
final class Processors {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";

    private Processors() {}

    /**
     * The words that a command must begin with to have so many processors and no more; none if there are just as many.
     *
     * @throws Launch.Skipped if there are not so many, or no command to restrict it
     */
    static List<String> only(int count) throws InterruptedException, Launch.Skipped {
        int available = Runtime.getRuntime().availableProcessors();
        if (count == available) {
            return List.of();
        }
        if (count > available) {
            throw new Launch.Skipped("there are not " + count + " processors, but " + available);
        }
        try {
            String allowed = Files.readAllLines(STATUS).stream().filter(line -> line.startsWith(ALLOWED)).findFirst()
                    .orElseThrow(() -> new IOException("no " + ALLOWED)).substring(ALLOWED.length());
            Launch.output(List.of("taskset", "--version"));
            return List.of("taskset", "-c", first(allowed.strip(), count));
        } catch (IOException e) {
            throw new Launch.Skipped("there is no command 'taskset', which would give it " + count + " processors");
        }
    }

    /** The first so many of a list as "0-3,8,10-11", in the same form. */
    static String first(String list, int count) {
        List<String> chosen = new ArrayList<>();
        for (String range : list.split(",")) {
            String[] ends = range.split("-");
            for (int i = Integer.parseInt(ends[0]); i <= Integer.parseInt(ends[ends.length - 1]); i++) {
                if (chosen.size() < count) {
                    chosen.add(String.valueOf(i));
                }
            }
        }
        return String.join(",", chosen);
    }
}
