package io.pendula.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
    void run_fewTimers_countsAddUpForBoth() {
        Set<Thread> before = userThreads();
        int status = run("--timers 3000 --seconds 1");
        assertEquals("", err());
        assertEquals(0, status, this::out);
        for (int column = 1; column <= 2; column++) {
            long armed = figure("times armed", column);
            assertEquals(4000, armed);
            assertEquals(armed, figure("fired", column) + figure("stopped", column)
                    + figure("replaced by a reset", column));
        }
        assertTrue(out().lines().allMatch(line -> line.length() <= 80), this::out);
        assertFalse(out().contains("\u001b"), "escape sequences, but not to a terminal");
        assertEquals(before, userThreads());
    }

    @Test
    void run_pacedLoad_countsAddUpForBoth() {
        Set<Thread> before = userThreads();
        int status = run("--rate 4000 --seconds 1");
        assertEquals("", err());
        assertEquals(0, status, this::out);
        for (int column = 1; column <= 2; column++) {
            long set = figure("timers set", column);
            long fired = figure("fired", column);
            assertTrue(set > Traffic.CONNECTIONS + 3900 && set <= Traffic.CONNECTIONS + 4000, this::out);
            assertEquals(set, fired + figure("stopped", column) + figure("reset", column));
            assertTrue(fired >= 95, this::out); // one in twenty of 2,000 requests; more if the machine stands still
        }
        assertTrue(out().lines().allMatch(line -> line.length() <= 80), this::out);
        assertEquals(before, userThreads());
    }

    @Test
    void run_oneTimerAndOneWorker_isEnough() {
        assertEquals(0, run("--timers 1 --seconds 1 --workers 1"), this::err);
        assertEquals(1, figure("fired", 1));
        assertTrue(out().contains("that fire: 1"), this::out);
    }

    /** Non-daemon threads, for which Maven and the JVM would wait. */
    private static Set<Thread> userThreads() {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> !t.isDaemon()).collect(toSet());
    }

    private long figure(String label, int column) {
        Matcher m = Pattern.compile("(?m)^ *" + label + " +([0-9,]+) +([0-9,]+)(?:  .*)?$").matcher(out());
        assertTrue(m.find(), () -> "no row '" + label + "' in\n" + out());
        return Long.parseLong(m.group(column).replace(",", ""));
    }

    // ---- options ----

    @ParameterizedTest
    @CsvSource({
        "--timers 0, --timers", "--timers -1, --timers", "--timers many, --timers", "--timers 9999999999, --timers",
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
        for (String option : List.of("--rate", "--overload", "--timers", "--seconds", "--workers", "20000")) {
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
        public boolean postpone(Shot shot, long nanos) {
            arm(shot, nanos);
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
        return new Traffic(contender, 2000, 1, MILLISECONDS.toNanos(20)).run(Storm.Watcher.NONE, 0).complaints();
    }

    @Test
    void traffic_firesAtOnce_isEarly() throws InterruptedException {
        List<String> complaints = complaintsOfTraffic(new Fake(1, false));
        assertAnyContains("20 timers fired early", complaints);
        assertAnyContains("idle timeouts fired, though none was due", complaints);
    }

    @Test
    void traffic_firesWhatItStopped_isWrong() throws InterruptedException {
        assertAnyContains("19 timeouts fired too often, too seldom or after", complaintsOfTraffic(new Fake(1, true)));
    }

    private static List<String> complaintsAbout(Contender contender) throws InterruptedException {
        return outcomeOf(contender).complaints();
    }

    private static Storm.Outcome outcomeOf(Contender contender) throws InterruptedException {
        long span = HOURS.toNanos(1); // nothing falls due meanwhile, and nothing is waited for
        return new Storm(contender, 30, 1, span).run(Storm.Watcher.NONE, -span);
    }

    private static void assertAnyContains(String part, List<String> complaints) {
        assertTrue(complaints.stream().anyMatch(c -> c.contains(part)), complaints::toString);
    }

    @Test
    void storm_firesAtOnce_isEarly() throws InterruptedException {
        List<String> complaints = complaintsAbout(new Fake(1, false));
        assertAnyContains("40 timers fired early", complaints);
        assertFalse(complaints.stream().anyMatch(c -> c.contains("add up")), complaints::toString);
    }

    @Test
    void storm_firesTwice_doesNotAddUp() throws InterruptedException {
        List<String> complaints = complaintsAbout(new Fake(2, false));
        assertAnyContains("do not add up: 40 armed, 80 fired, 0 stopped, 0 reset", complaints);
        assertAnyContains("30 timers fired too often", complaints);
    }

    @Test
    void storm_losesFirings_doesNotAddUp() throws InterruptedException {
        List<String> complaints = complaintsAbout(new Fake(0, true));
        assertAnyContains("do not add up: 40 armed, 0 fired, 10 stopped, 10 reset", complaints);
        assertAnyContains("20 timers fired too often, too seldom", complaints);
    }

    @Test
    void storm_firesWhatItStopped_isWrong() throws InterruptedException {
        assertAnyContains("20 timers fired too often, too seldom or after", complaintsAbout(new Fake(1, true)));
    }

    @Test
    void storm_firesWhatItStoppedAndMay_isCounted() throws InterruptedException {
        Storm.Outcome outcome = outcomeOf(new Fake(1, true, false));
        assertEquals(20, outcome.untrue());
        assertEquals(new Storm.Counts(40, 40, 0, 0), outcome.counts());
    }

    @Test
    void storm_ownStatisticsDiffer_areReported() throws InterruptedException {
        try (Contender.Pendula pendula = new Contender.Pendula(1)) {
            Storm.Outcome outcome = new Storm(pendula, 30, 1, MILLISECONDS.toNanos(50))
                    .run(Storm.Watcher.NONE, Long.MAX_VALUE / 2);
            assertEquals(List.of(), outcome.complaints());
            Storm.Counts c = outcome.counts();
            String objection = pendula.objection(new Storm.Counts(c.armed(), c.fired(), c.stopped(), c.reset() + 1));
            assertTrue(objection.contains(c.toString()), objection);
        }
    }

    // ---- drawing ----

    private List<String> shownAfter(Style style, long... seconds) {
        long[] now = {0};
        Progress progress = new Progress(new PrintStream(out, true, UTF_8), style, () -> now[0], "Pendula", 100);
        List<String> shown = new ArrayList<>();
        for (long s : seconds) {
            now[0] = s * 1_000_000_000L;
            progress.see(s * 10, 0, 100 - s * 10);
        }
        progress.end(100);
        out().lines().forEach(shown::add);
        return shown;
    }

    @Test
    void progress_noTerminal_printsLines() {
        List<String> shown = shownAfter(Style.PLAIN, 1, 1, 2);
        assertEquals(3, shown.size(), shown::toString);
        assertEquals("Pendula  ##--------------  10%        10 fired/s         90 pending    1.0 s", shown.get(0));
        assertTrue(shown.get(2).contains("100%       100 fired in all"), shown.get(2));
        assertFalse(out().contains("\r"));
    }

    @Test
    void progress_terminal_redrawsOneLine() {
        shownAfter(new Style(true, false, true), 1, 2, 5);
        assertEquals(4, out().chars().filter(c -> c == '\r').count());
        assertTrue(out().contains("\rPendula  ████████░░░░░░░░  50% "), this::out);
        assertEquals(out().length() - System.lineSeparator().length(), out().indexOf(System.lineSeparator()));
    }

    @ParameterizedTest
    @CsvSource({
        "true,  xterm, '',  true,  true", "true,  xterm, 1, true, false", "true, dumb, '', false, false",
        "false, xterm, '', false, false"})
    void style_environment_decides(boolean terminal, String term, String noColor, boolean inPlace, boolean colour) {
        assertEquals(new Style(inPlace, colour, true),
                Style.of(terminal, Map.of("TERM", term, "NO_COLOR", noColor), "UTF-8"));
    }

    @Test
    void style_asciiOutput_hasAsciiBars() {
        Style style = Style.of(false, Map.of(), "ANSI_X3.4-1968");
        assertEquals("##### 20.0 us", style.bar(0.5, 10) + " " + style.time(19_960));
    }

    @ParameterizedTest
    @ValueSource(strings = {"999 ns", "1 µs", "1.23 µs", "12.3 µs", "123 µs", "1 ms", "45.6 s"})
    void time_anyMagnitude_hasThreeDigits(String text) {
        Map<String, Double> units = Map.of("ns", 1.0, "µs", 1e3, "ms", 1e6, "s", 1e9);
        String[] parts = text.split(" ");
        assertEquals(text, new Style(false, false, true).time(Double.parseDouble(parts[0]) * units.get(parts[1])));
    }
}
