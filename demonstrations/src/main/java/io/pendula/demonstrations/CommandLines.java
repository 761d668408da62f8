package io.pendula.demonstrations;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.concurrent.Callable;

import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** What programs with options have in common. */
final class CommandLines {
    private CommandLines() {}

    /** Returns the exit status: 0, or 1 if a check failed, or 2 for bad options. */
    static int run(Callable<Integer> program, PrintStream out, PrintStream err, String... args) {
        return new CommandLine(program)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(args);
    }

    /** Bold on a terminal that shows it. */
    static String strong(PrintStream out, String text) {
        return ansi(out).string("@|bold " + text + "|@");
    }

    static Ansi ansi(PrintStream out) {
        return out == System.out ? Ansi.AUTO : Ansi.OFF;
    }

    static void atLeast(CommandSpec spec, String option, int value, int least) {
        if (value < least) {
            throw new ParameterException(spec.commandLine(),
                    "Invalid value for option '" + option + "': must be at least " + least + ", but is " + value);
        }
    }
}
