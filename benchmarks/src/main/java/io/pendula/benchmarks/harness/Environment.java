package io.pendula.benchmarks.harness;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Where and of what figures are: without that they mean nothing. */
public final class Environment {
    private Environment() {}

    public static Map<String, String> describe(List<Launch.Jvm> javas) throws InterruptedException {
        Map<String, String> about = new LinkedHashMap<>();
        about.put("date", LocalDate.now().toString());
        about.put("commit", commit());
        about.put("machine", Runtime.getRuntime().availableProcessors() + " processors, " + processor()
                + memory() + ", " + System.getProperty("os.name") + " " + System.getProperty("os.version"));
        about.put("java", javas.stream().map(j -> j.version() + " with " + String.join(" ", j.flags("2g")))
                .collect(Collectors.joining("; ")));
        GoProgram.INSTALLED.version().ifPresent(version -> about.put("go", version + ", GOMAXPROCS as a row's workers, "
                + "else " + Runtime.getRuntime().availableProcessors()));
        return about;
    }

    /** Of this build, with a plus sign if files were changed since. */
    static String commit() {
        try (InputStream in = Environment.class.getResourceAsStream("commit.txt")) {
            String commit = in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8).trim();
            return commit.matches("[0-9a-f]+\\+?") ? commit : "unknown";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String processor() {
        return system("/proc/cpuinfo", "model name").map(s -> s.replaceAll(".*: ", ""))
                .orElse(System.getProperty("os.arch"));
    }

    private static String memory() {
        return system("/proc/meminfo", "MemTotal").map(s -> ", "
                + Math.round(Long.parseLong(s.replaceAll("\\D", "")) / 1e6) + " GB").orElse("");
    }

    private static Optional<String> system(String file, String beginning) {
        try {
            return Files.readAllLines(Path.of(file)).stream().filter(s -> s.startsWith(beginning)).findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
