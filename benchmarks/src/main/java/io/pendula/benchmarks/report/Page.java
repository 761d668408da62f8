package io.pendula.benchmarks.report;

import freemarker.template.Configuration;
import freemarker.template.TemplateException;
import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.charts.Plot;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Results;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The report as one HTML file that needs no other. */
final class Page {
    /** The width that a picture is drawn for; a telephone shows it at four fifths of that. */
    private static final int PICTURE = 460;
    private static final Set<String> PICTURED = Set.of("PENDULA", "STPE", "STPE:threads=1", "HWT");

    private Page() {}

    /** What {@code page.ftlh} has on a case. */
    public record Section(String name, List<Plot> plots, List<HeatTable> tables) {}

    static Path write(Results results, Path folder) throws IOException {
        Path file = folder.resolve("report.html");
        Configuration templates = new Configuration(Configuration.VERSION_2_3_34);
        templates.setClassForTemplateLoading(Page.class, "");
        templates.setDefaultEncoding("UTF-8");
        templates.setLocale(Locale.ROOT);
        try (Writer page = Files.newBufferedWriter(file)) {
            templates.getTemplate("page.ftlh").process(Map.of("about", results.about(), "behind", behind(results),
                    "sections", sections(results), "light", Plot.LIGHT, "dark", Plot.DARK), page);
        } catch (TemplateException e) {
            throw new IllegalStateException(e);
        }
        return file;
    }

    private static Map<String, List<HeatTable.Behind>> behind(Results results) {
        Map<String, List<HeatTable.Behind>> behind = new LinkedHashMap<>();
        results.javas().forEach(java -> behind.put(java, HeatTable.behind(results, java)));
        return behind;
    }

    private static List<Section> sections(Results results) {
        Plots plots = new Plots(results);
        List<Section> sections = new ArrayList<>();
        for (Case c : Cases.ALL) {
            Results own = results.only(f -> f.name().equals(c.name()));
            if (!own.isEmpty()) {
                sections.add(new Section(c.name(), plots.of(c.name()), own.javas().stream()
                        .flatMap(java -> c.ratios().stream().map(figure -> new HeatTable(own, figure, java)))
                        .filter(table -> !table.isEmpty()).toList()));
            }
        }
        return sections;
    }

    /** The pictures of README.md and benchmarks/README.md, with the subjects of the README's table. */
    static void pictures(Results results, Path folder) throws IOException {
        Files.createDirectories(folder);
        Plots plots = new Plots(results.only(f -> PICTURED.contains(f.subject())));
        picture(plots.armCost(), 330, results, folder.resolve("arm-cost.svg"));
        picture(plots.frontier(), 400, results, folder.resolve("frontier.svg"));
    }

    private static void picture(Optional<Plot> plot, int height, Results results, Path file) throws IOException {
        if (plot.isPresent()) {
            Files.writeString(file, plot.get().file(PICTURE, height, results.about()));
        }
    }
}
