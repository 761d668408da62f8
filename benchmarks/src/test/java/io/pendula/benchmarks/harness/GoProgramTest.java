package io.pendula.benchmarks.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.jmh.JmhCase;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The program in Go, where there is a go command. */
class GoProgramTest {
    private static Launch launch(String name, String cell, String more) {
        return new Launch(Cases.named(name), CellText.parse(cell), Subject.of(GoProgram.SUBJECT), Launch.Jvm.present(),
                CellText.parse(more));
    }

    private static List<Launch.Part> run(String name, String cell, String more) throws Exception {
        assumeGo();
        return launch(name, cell, more).run();
    }

    private static void assumeGo() throws InterruptedException {
        assumeTrue(GoProgram.INSTALLED.version().isPresent(), "there is no command 'go'");
    }

    @Test
    void measure_noSuchCommand_isSkippedAndSaysWhy() {
        GoProgram none = new GoProgram("no-such-go");
        Launch.Skipped skipped = assertThrows(Launch.Skipped.class, () -> none.measure(launch("memory", "", "")));
        assertEquals("there is no command 'no-such-go'", skipped.getMessage());
    }

    @Test
    void run_frontier_isNeverEarlyAndHasTheFiguresOfTheOthers() throws Exception {
        List<Launch.Part> parts = run("frontier", "busy=false", "rates=500,2000 firings=200 spanMs=200");
        assertEquals(List.of(Map.of("busy", "false", "rate", "500"), Map.of("busy", "false", "rate", "2000")),
                parts.stream().map(Launch.Part::cell).toList());
        for (Launch.Part part : parts) {
            Map<String, Double> figures = part.figures();
            assertEquals(Set.of("p50_us", "p90_us", "p99_us", "p999_us", "max_us", "cpu_us", "fire_us", "process_us",
                    "early", "firings"), figures.keySet());
            assertEquals(0, figures.get("early"), "early");
            assertEquals(part.cell().get("rate").equals("500") ? 200 : 400, figures.get("firings"));
            assertTrue(figures.get("p50_us") <= figures.get("p99_us") && figures.get("p99_us") <= figures.get("max_us"),
                    () -> "quantiles: " + figures);
            assertTrue(figures.get("cpu_us") >= figures.get("fire_us") && figures.get("fire_us") > 0,
                    () -> "processor time: " + figures);
        }
    }

    @ParameterizedTest
    @CsvSource({"startstop, delays=ONE inFlight=1000 pending=1000 threads=1 workers=0",
        "startstop, delays=FEW inFlight=0 pending=0 threads=1 workers=0",
        "startstop, delays=RANDOM inFlight=16 pending=0 threads=1 workers=0",
        "reset, direction=LATER timers=1000 threads=1 workers=0",
        "reset, direction=RANDOM timers=1000 threads=1 workers=0",
        "reset, direction=EARLIER timers=1000 threads=1 workers=0", "fire, byReset=false workers=1",
        "fire, byReset=true workers=2"})
    void run_costPerOperation_hasTheFiguresOfTheOthers(String name, String cell) throws Exception {
        List<Launch.Part> parts = run(name, cell, "warmMs=20 windowMs=20 windows=3");
        assertEquals(1, parts.size());
        assertEquals(CellText.parse(cell), parts.get(0).cell());
        assertEquals(Set.copyOf(JmhCase.FIGURES), parts.get(0).figures().keySet());
        assertTrue(parts.get(0).figures().get("cpu_ns") > 0 && parts.get(0).figures().get("wall_ns") > 0,
                () -> "figures: " + parts.get(0).figures());
    }

    @ParameterizedTest
    @ValueSource(strings = {"afterfunc", "after", "stop", "simultaneous", "startstop", "reset", "sleep", "ticker",
        "adjust10000", "context"})
    void run_benchmarkOfGo_hasTheFiguresOfTheOthers(String op) throws Exception {
        List<Launch.Part> parts = run("gobench", "op=" + op + " procs=1", "warmMs=20 windowMs=20 windows=1");
        assertEquals(Set.copyOf(JmhCase.FIGURES), parts.get(0).figures().keySet());
        assertTrue(parts.get(0).figures().get("wall_ns") > 0, () -> "figures: " + parts.get(0).figures());
    }

    @ParameterizedTest
    @ValueSource(strings = {"op=parallel procs=2", "op=staggered workUs=300 tickers=1 procs=1"})
    void run_latencyOfGo_isNeverEarly(String cell) throws Exception {
        Map<String, Double> figures = run("gobench", cell, "warmMs=20 windowMs=50").get(0).figures();
        assertTrue(figures.get("late_us") > 0 && figures.get("late_us") <= figures.get("late_max_us"),
                () -> "figures: " + figures);
    }

    @Test
    void run_memory_isAPlausibleSize() throws Exception {
        double bytes = run("memory", "", "").get(0).figures().get("bytes");
        assertTrue(bytes > 16 && bytes < 1000, () -> "bytes: " + bytes);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"burst; ''; there is no case burst in Go", "frontier; busy=true; there are no burners in Go",
        "startstop; inFlight=0 pending=0 threads=2; one goroutine arms in Go and not 2"})
    void run_whatTheProgramDoesNotHave_isSkipped(String name, String cell, String notice) throws Exception {
        assumeGo();
        assertEquals(notice, assertThrows(Launch.Skipped.class, () -> launch(name, cell, "").run()).getMessage());
    }
}
