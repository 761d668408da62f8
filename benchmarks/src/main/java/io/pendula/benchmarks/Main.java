package io.pendula.benchmarks;

import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.report.Report;
import java.util.Arrays;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The benchmarks' commands. */
@Command(name = "benchmarks", mixinStandardHelpOptions = true, subcommands = {Report.class, Compare.class},
        description = "Compares Pendula with other schedulers. Arguments that are no command go to JMH.")
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        CommandLine line = new CommandLine(new Main());
        if (args.length == 0 || args[0].equals("--help") || line.getSubcommands().containsKey(args[0])) {
            System.exit(args.length == 0 ? line.execute("--help") : line.execute(args));
        }
        org.openjdk.jmh.Main.main(Arrays.copyOf(args, args.length));
    }

    /** Lists the cases. */
    @Command(name = "cases", description = "Lists what can be compared.")
    void cases() {
        for (Case c : Cases.ALL) {
            System.out.println(c.name() + ": " + c.cells().stream().map(CellText::text).toList());
        }
    }
}
