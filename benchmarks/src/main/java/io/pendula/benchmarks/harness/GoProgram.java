package io.pendula.benchmarks.harness;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Measures Go's own timers: a program of ours in Go, which is built where there is a go command. */
public final class GoProgram {
    /** The subject that is measured by it. */
    public static final String SUBJECT = "GO";
    static final GoProgram INSTALLED = new GoProgram("go");

    private static final String SOURCE = "timers.go";

    private final String command;
    private Path binary;

    GoProgram(String command) {
        this.command = command;
    }

    /** As "go1.19.8 linux/amd64"; empty if there is no such command. */
    Optional<String> version() throws InterruptedException {
        try {
            return Launch.output(List.of(command, "version")).stream().findFirst()
                    .map(line -> line.replace("go version ", ""));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** @throws Launch.Skipped if there is no go command, or the program does not have the case or the cell */
    List<Launch.Part> measure(Launch launch) throws IOException, InterruptedException, Launch.Skipped {
        return launch.parts(new ArrayList<>(List.of(built().toString(), launch.measured().name())));
    }

    private synchronized Path built() throws IOException, InterruptedException, Launch.Skipped {
        if (binary == null) {
            if (version().isEmpty()) {
                throw new Launch.Skipped("there is no command '" + command + "'");
            }
            Path folder = Files.createTempDirectory("pendula-go");
            Path source = folder.resolve(SOURCE);
            Path built = folder.resolve("timers");
            List.of(folder, source, built).forEach(path -> path.toFile().deleteOnExit());
            try (InputStream in = GoProgram.class.getResourceAsStream(SOURCE)) {
                Files.copy(in, source);
            }
            Launch.output(List.of(command, "build", "-o", built.toString(), source.toString()));
            if (!Files.isExecutable(built)) {
                throw new IOException("'" + command + " build' has not built " + SOURCE);
            }
            binary = built;
        }
        return binary;
    }
}
