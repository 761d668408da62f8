package io.pendula.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageTest {
    private static final String CELL = "delays=ONE inFlight=1000 pending=100000 threads=1 workers=0";

    private final Results results = new Results();

    PageTest() {
        System.setProperty("java.awt.headless", "true");
        List<Results.Figure> figures = new ArrayList<>();
        for (Case c : Cases.ALL) {
            String first = CellText.text(c.cells().get(0));
            for (String cell : switch (c.name()) {
                case "startstop" -> List.of(CELL);
                case "frontier" -> List.of(first + " rate=100", first + " rate=10000");
                default -> List.of(first);
            }) {
                for (String figure : List.of("cpu_ns", "cpu_us", "p50_us", "p99_us", "max_us", "bytes", "wall_ns")) {
                    figures.add(figure(c, cell, "PENDULA", figure, 130));
                    figures.add(figure(c, cell, "PENDULA again", figure, 132));
                    figures.add(figure(c, cell, "HWT", figure, 100));
                    figures.add(figure(c, cell, "A & <B>", figure, 5_000));
                }
            }
        }
        results.add(figures);
        results.about().put("commit", "abc<def");
    }

    private static Results.Figure figure(Case c, String cell, String subject, String figure, double value) {
        return new Results.Figure(c.name(), "25", cell, subject, 1, figure, value);
    }

    @Test
    void write_allCases_haveSections(@TempDir Path folder) throws IOException {
        String html = Files.readString(Page.write(results, folder));
        for (Case c : Cases.ALL) {
            assertTrue(html.contains("<section id=" + c.name() + ">"), c.name());
        }
        assertTrue(html.contains("abc&lt;def"));
        assertTrue(html.contains(">A &amp; &lt;B&gt;<") && !html.contains("<B>"));
        assertTrue(html.contains("<td class='n behind'") && html.contains("<td class='n best'"));
        assertTrue(html.contains("title='130'>130<small>×1.30</small>"));
    }

    @Test
    void write_plots_haveNoColoursOfTheirOwnAndNoIdTwice(@TempDir Path folder) throws IOException {
        String html = Files.readString(Page.write(results, folder));
        assertTrue(html.contains("var(--s0)"));
        String plots = html.substring(html.indexOf("<svg"));
        assertFalse(Pattern.compile("rgb\\([12],[12],").matcher(plots).find());
        Set<String> ids = new HashSet<>();
        Pattern.compile(" id=['\"]([^'\"]*)").matcher(plots).results()
                .forEach(m -> assertTrue(ids.add(m.group(1)), m.group(1)));
        assertFalse(ids.isEmpty());
    }

    @Test
    void cell_pendulaBehindByMoreThanTheControl_isMarked() {
        HeatTable table = new HeatTable(results.only(f -> f.name().equals("startstop")), "cpu_ns", "25");
        assertTrue(table.cell(CELL, "PENDULA").isBehind());
        assertEquals("With delays ONE, inFlight 1,000, pending 100,000, threads 1, workers 0. "
                + "The control is apart by 2 % in the middle, by 2 % at most.", table.note());
        assertEquals("startstop " + CELL + ", cpu_ns: PENDULA 130, HWT 100", table.behind().get(0).words());
        assertEquals(1, table.behind().size());
    }

    @Test
    void cell_pendulaBehindByLessThanTheControl_isNotMarked() {
        Results noisy = new Results();
        results.figures().stream().filter(f -> f.name().equals("startstop")).forEach(f -> noisy.add(List.of(
                f.subject().endsWith("again")
                        ? figure(Cases.named("startstop"), f.cell(), f.subject(), f.figure(), 200) : f)));
        HeatTable table = new HeatTable(noisy, "cpu_ns", "25");
        assertFalse(table.cell(CELL, "PENDULA").isBehind());
        assertEquals(List.of(), table.behind());
    }

    @Test
    void subjects_areOrderedByWhatSubjectsEarn() {
        assertEquals(List.of("HWT", "PENDULA", "A & <B>"),
                new HeatTable(results.only(f -> f.name().equals("startstop")), "cpu_ns", "25").subjects());
    }

    @Test
    void pictures_arePlotsOfTheirOwn(@TempDir Path folder) throws IOException {
        Case startStop = Cases.named("startstop");
        results.add(List.of(figure(startStop, CELL.replace("1000 ", "16000 "), "PENDULA", "cpu_ns", 140)));
        Page.pictures(results, folder);
        for (String name : new String[] {"arm-cost.svg", "frontier.svg"}) {
            String svg = Files.readString(folder.resolve(name));
            assertTrue(svg.startsWith("<svg ") && svg.endsWith("</svg>\n"), svg);
            assertTrue(svg.contains("prefers-color-scheme"), svg);
            assertTrue(svg.contains("<desc>commit: abc&lt;def.</desc>"), svg);
            assertTrue(svg.contains("fill=\"#c44e00\"") && !svg.contains("var("), svg); // known without a style sheet
            assertTrue(svg.contains("; lower is better</text>") || svg.contains("; lower left is better</text>"), svg);
            assertTrue(svg.contains(">Pendula</text>"), svg);
            assertFalse(svg.contains("&lt;B"), "a subject that the README's table does not have");
        }
        String frontier = Files.readString(folder.resolve("frontier.svg"));
        assertTrue(frontier.contains("processor time per firing, microseconds</text>"), frontier);
        assertTrue(frontier.contains(">Netty wheel</text>"), frontier);
    }
}
