package io.pendula.demonstrations;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The demo does its job in small, and would tell if a scheduler did not do its own. */
@Timeout(120)
class DemoTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String args) {
        return Demo.run(new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8), args.split(" "));
    }

    private String out() {
        return out.toString(UTF_8);
    }

    private String err() {
        return err.toString(UTF_8);
    }

    // ---- the whole ----

    @Test
    void run_small_countsAddUpForAll() throws IOException {
        Set<Thread> before = userThreads();
        int status = run("--rate 20000 --timers 3000 --rounds 2 --seconds 1 --workers 2");
        assertEquals("", err());
        assertEquals(0, status, this::out);
        for (int column = 1; column <= 3; column++) {
            long set = figure("timers set, resets included", column);
            long fired = figure("fired: no answer came", column);
            long most = 2 * (Traffic.CONNECTIONS + 3000 + 20_000);
            assertTrue(set > most - 200 && set <= most, this::out); // each batch begins with a whole request
            assertEquals(set, fired + figure("stopped: the answer, or end", column)
                    + figure("reset: a message came", column));
            assertTrue(fired >= 190, this::out); // one in twenty of 4,000 requests; more if the machine stands still
        }
        Matcher figures = Pattern.compile("(?m)(?: +[-0-9,]+){3}$\\R  least and most of the rounds(?: +[-0-9,]+\\.\\.[-0-9,]+){3}$"
                + "\\R  Pendula is +(better|level|worse) +(better|level|worse)$").matcher(out());
        assertEquals(6, figures.results().count(), this::out);
        assertTrue(out().contains("threads: 2, removeOnCancelPolicy: true"), this::out);
        assertTrue(out().lines().allMatch(line -> line.length() <= 80), this::out);
        assertFalse(out().contains("\u001b") || out().contains("\r"), "drawn, but not to a terminal");
        assertEquals(before, userThreads());
        // java -jar demonstrations/target/demonstrations.jar >docs/pictures/demonstration.txt
        assertEquals(shape(Files.readString(Path.of("../docs/pictures/demonstration.txt"))), shape(out()), "the README's example");
    }

    /** Without figures, verdicts, the number of rounds and the warning that the machine is busy. */
    private static String shape(String output) {
        return output.lines().filter(line -> !line.startsWith("The machine is busy"))
                .map(line -> line.replaceAll("Java [^,]*|-?[0-9][0-9,.]*", "#").replaceAll("better|level|worse", "*")
                        .replaceAll(" +", " "))
                .distinct().collect(joining("\n"));
    }

    @Test
    void run_oneTimerAndOneWorker_isEnough() {
        assertEquals(0, run("--timers 1 --rate 1 --rounds 1 --seconds 1 --workers 1"), this::err);
        assertTrue(out().contains("TimerScheduler, workers: 1"), this::out);
    }

    @ParameterizedTest
    @CsvSource({"1 2 3, 4 5 6, better", "4 5 6, 1 2 3, worse", "1 2 4, 4 5 6, level", "5, 1 9, level", "1 9, 5, level",
        "7, 7, level"})
    void verdict_rounds_areTheControl(String ours, String theirs, String verdict) {
        assertEquals(verdict, TrafficReport.verdict(figures(ours), figures(theirs)));
    }

    private static double[] figures(String text) {
        return Stream.of(text.split(" ")).mapToDouble(Double::parseDouble).toArray();
    }

    /** Non-daemon threads, for which a JVM would wait. */
    private static Set<Thread> userThreads() {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> !t.isDaemon()).collect(toSet());
    }

    private long figure(String label, int column) {
        Matcher m = Pattern.compile("(?m)^ *" + label + " +([0-9,]+) +([0-9,]+) +([0-9,]+)$").matcher(out());
        assertTrue(m.find(), () -> "no row '" + label + "' in\n" + out());
        return Long.parseLong(m.group(column).replace(",", ""));
    }

    // ---- options ----

    @ParameterizedTest
    @CsvSource({
        "--rounds 0, --rounds", "--timers 0, --timers", "--timers -1, --timers", "--timers many, --timers", "--timers 9999999999, --timers",
        "--timers, --timers", "--rate 0, --rate", "--rate x, --rate", "--seconds 0, --seconds",
        "--seconds 1.5, --seconds", "--workers 0, --workers",
        "--workers x, --workers", "--tempo 3, --tempo", "faster, faster"})
    void run_badOption_isTwoAndNamesIt(String args, String named) {
        assertEquals(2, run(args));
        assertEquals("", out());
        assertTrue(err().lines().findFirst().orElse("").contains(named), this::err);
    }

    @Test
    void run_help_tellsTheOptions() {
        assertEquals(0, run("--help"));
        assertEquals("", err());
        for (String option : List.of("--rate", "--timers", "--rounds", "--seconds", "--workers", "100000")) {
            assertTrue(out().contains(option), this::out);
        }
    }

    // ---- what the checks catch ----

    /** Fires as it is told to, at once or never. */
    private static final class Fake implements Contender {
        private final int firings;
        private final boolean stops;
        private final boolean keepsItsWord;

        Fake(int firings, boolean stops) {
            this(firings, stops, true);
        }

        Fake(int firings, boolean stops, boolean keepsItsWord) {
            this.firings = firings;
            this.stops = stops;
            this.keepsItsWord = keepsItsWord;
        }

        @Override
        public String setup() {
            return "fake";
        }

        @Override
        public void arm(Shot shot, long nanos) {
            for (int i = 0; i < firings; i++) {
                shot.run();
            }
        }

        @Override
        public boolean stop(Shot shot) {
            return stops;
        }

        @Override
        public boolean keepsItsWord() {
            return keepsItsWord;
        }

        @Override
        public void close() {}
    }

    /** What the paced load makes of it. A fake fires inside the call that sets the timer, so nothing is waited for. */
    private static List<String> complaintsOfTraffic(Contender contender) throws InterruptedException {
        return outcomeOf(contender).complaints();
    }

    private static Traffic.Outcome outcomeOf(Contender contender) throws InterruptedException {
        return new Traffic(contender, 10, 20_000, 1, MILLISECONDS.toNanos(20)).run(share -> {}, 0);
    }

    @Test
    void traffic_firesAtOnce_isEarly() throws InterruptedException {
        List<String> complaints = complaintsOfTraffic(new Fake(1, false));
        assertAnyContains("40 timers fired early", complaints);
        assertAnyContains("idle timeouts and others fired, though none was due", complaints);
    }

    @Test
    void traffic_firesWhatItStopped_isWrong() throws InterruptedException {
        assertAnyContains("38 timeouts fired too often, too seldom or after", complaintsOfTraffic(new Fake(1, true)));
    }

    private static void assertAnyContains(String part, List<String> complaints) {
        assertTrue(complaints.stream().anyMatch(c -> c.contains(part)), complaints::toString);
    }

    @Test
    void traffic_losesFirings_isWrong() throws InterruptedException {
        List<String> complaints = complaintsOfTraffic(new Fake(0, false));
        assertAnyContains("40 timeouts fired too often, too seldom or after", complaints);
        assertAnyContains("the counts do not add up", complaints);
    }

    @Test
    void traffic_firesWhatItStoppedAndMay_isCounted() throws InterruptedException {
        assertEquals(38, outcomeOf(new Fake(1, true, false)).untrue());
    }

    @Test
    void pendula_ownStatisticsDiffer_areReported() throws InterruptedException {
        try (Contender.Pendula pendula = new Contender.Pendula(1)) {
            Traffic.Outcome outcome = new Traffic(pendula, 10, 2000, 1, MILLISECONDS.toNanos(50))
                    .run(share -> {});
            assertEquals(List.of(), outcome.complaints());
            Traffic.Counts c = outcome.counts();
            String objection = pendula.objection(new Traffic.Counts(c.armed(), c.fired(), c.stopped(), c.reset() + 1));
            assertTrue(objection.contains(c.toString()), objection);
        }
    }
}
