package io.pendula.benchmarks;

import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.Environment;
import io.pendula.benchmarks.harness.Launch;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.report.Tables;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Runs each subject of each cell of some cases in JVMs of its own, in turn, several rounds, and prints medians and
 * spreads as Markdown tables.
 */
@Command(name = "compare", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
        description = "Compares Pendula with other schedulers. Tables go to standard output, progress to standard "
                + "error.")
final class Compare implements Callable<Integer> {
    private static final Map<String, String> SHORT = CellText.parse("warmMs=10 windowMs=10 windows=1 rates=1000 "
            + "firings=100 spanMs=100 count=1000 waitMs=100");

    /** A subject that stands for several. */
    private static final String DESIGNS = "DESIGNS";

    @Spec
    private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "CASE", description = "see the command 'cases'; or all")
    private List<String> names;

    @Option(names = "--rounds", description = "JVMs for each figure")
    private int rounds = 5;

    @Option(names = "--subjects", split = ",", paramLabel = "SUBJECT", description = "what to measure instead of the "
            + "case's own choice: TYPE, TYPE:key=value with threads or methods of Pendula's builder (times in us), and "
            + "either with @NAME for the Pendula of another jar; DESIGNS stands for all of the history; the others "
            + "are compared with the first")
    private List<String> subjects = List.of();

    @Option(names = "--jar", paramLabel = "NAME=FILE", description = "a jar of another Pendula, for SUBJECT@NAME")
    private Map<String, Path> jars = Map.of();

    @Option(names = "--no-control", description = "without the control: the first subject twice, which shows what the "
            + "run can resolve")
    private boolean noControl;

    @Option(names = "--java", paramLabel = "JAVA",
            description = "further java commands; everything is measured on each, too")
    private List<Path> javaCommands = List.of();

    @Option(names = "--only", paramLabel = "KEY=VALUE",
            description = "where a cell has this setting, only this value, or one of VALUE|VALUE")
    private Map<String, String> only = Map.of();

    @Option(names = "--set", paramLabel = "KEY=VALUE",
            description = "a setting for all cells; frontier has rates=100,1000, firings, spanMs, mostMs")
    private Map<String, String> more = Map.of();

    @Option(names = "--smoke", description = "only the first cell and the first subject of each case, as short as can "
            + "be: shows that they run")
    private boolean smoke;

    @Option(names = "--out", paramLabel = "FILE", description = "where every single figure goes, as CSV")
    private Path out;

    private final Set<String> skipped = new HashSet<>();
    private int failures;

    @Override
    public Integer call() throws Exception {
        List<Launch.Jvm> javas = new ArrayList<>(List.of(Launch.Jvm.present()));
        for (Path command : javaCommands) {
            javas.add(Launch.Jvm.at(command));
        }
        if (smoke) {
            rounds = 1;
        }
        Map<Case, List<Subject>> compared = new LinkedHashMap<>();
        cases().forEach(c -> compared.put(c, subjectsOf(c))); // before anything is measured
        Map<String, String> about = Environment.describe(javas);
        about.put("rounds", String.valueOf(rounds));
        if (out != null) {
            Results.create(out, about);
        }
        about.forEach((key, value) -> System.out.println(key + ": " + value));
        for (Map.Entry<Case, List<Subject>> each : compared.entrySet()) {
            measure(each.getKey(), each.getValue(), javas);
        }
        return failures == 0 ? 0 : 1;
    }

    private List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (String name : names) {
            try {
                cases.addAll(name.equals("all") ? Cases.ALL : List.of(Cases.named(name)));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), e.getMessage());
            }
        }
        return cases;
    }

    private List<Subject> subjectsOf(Case c) {
        List<Subject> chosen = new ArrayList<>();
        try {
            for (String text : subjects) {
                if (text.equals(DESIGNS)) {
                    SchedulerType.DESIGNS.forEach(type -> chosen.add(Subject.of(type.name())));
                } else {
                    chosen.add(Subject.parse(text, jars));
                }
            }
            chosen.stream().filter(subject -> !subject.isGo()).forEach(c::check);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), c.name() + ": " + e.getMessage());
        }
        if (chosen.isEmpty()) {
            chosen.addAll(c.subjects());
        }
        if (!noControl && chosen.size() > 1) {
            chosen.add(chosen.get(0).again());
        }
        return chosen;
    }

    private void measure(Case c, List<Subject> compared, List<Launch.Jvm> javas)
            throws IOException, InterruptedException {
        if (smoke) {
            run(new Launch(c, c.cells().get(0), c.subjects().get(0), javas.get(0), SHORT), 1);
            return;
        }
        Results results = new Results();
        for (int round = 1; round <= rounds; round++) {
            for (Map<String, String> cell : c.cells()) {
                if (!CellText.allow(only, cell)) {
                    continue;
                }
                for (Launch.Jvm java : javas) {
                    for (int i = 0; i < compared.size(); i++) {
                        // Each round begins with another one, so that none is always first.
                        Subject subject = compared.get((i + round - 1) % compared.size());
                        results.add(run(new Launch(c, cell, subject, java, more), round));
                    }
                }
            }
        }
        if (!results.isEmpty()) {
            System.out.println("\n" + c.name() + "\n");
            System.out.print(Tables.of(inOrder(results, compared), c.ratios()));
            System.out.print(c.remarks(results));
            System.out.flush();
        }
    }

    /** As the subjects were given, not as they took turns. */
    private static Results inOrder(Results results, List<Subject> subjects) {
        Results sorted = new Results();
        for (Subject s : subjects) {
            sorted.add(results.only(f -> f.subject().equals(s.label())).figures());
        }
        return sorted;
    }

    private List<Results.Figure> run(Launch launch, int round) throws IOException, InterruptedException {
        List<Results.Figure> figures = new ArrayList<>();
        try {
            for (Launch.Part part : launch.run()) {
                String cell = CellText.text(part.cell());
                Map<String, String> shown = new LinkedHashMap<>();
                part.figures().forEach((figure, value) -> {
                    shown.put(figure, Tables.number(value));
                    figures.add(new Results.Figure(launch.measured().name(), launch.java().version(), cell,
                            launch.subject().label(), round, figure, value));
                });
                System.err.println(round + "/" + rounds + " " + launch.measured().name() + " " + cell + " "
                        + launch.subject().label() + " on " + launch.java().version() + ": " + CellText.text(shown));
            }
        } catch (Launch.Skipped e) {
            if (skipped.add(launch.java().version() + launch.subject().label())) {
                System.err.println(launch.subject().label() + " on " + launch.java().version() + " is skipped: "
                        + e.getMessage());
            }
        } catch (IOException e) {
            failures++;
            System.err.println("FAILED: " + launch + ": " + e.getMessage());
        }
        if (out != null) {
            Results.append(out, figures);
        }
        return figures;
    }
}
