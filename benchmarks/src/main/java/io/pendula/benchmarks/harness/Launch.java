package io.pendula.benchmarks.harness;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One subject in one cell of a case, measured in a JVM of its own; Go is measured in a process of its own.
 *
 * @param measured the case
 * @param cell its settings
 * @param subject what is measured
 * @param java on which JVM
 * @param more settings for all cells, as how long to measure
 */
public record Launch(Case measured, Map<String, String> cell, Subject subject, Jvm java, Map<String, String> more) {
    /** The setting of a cell that restricts the process to so many processors. */
    public static final String PROCESSORS = "procs";

    private static final long LIMIT_SECONDS = 600;

    /** Settings of a cell, or of a part of it, and the figures that belong to them. */
    public record Part(Map<String, String> cell, Map<String, Double> figures) {}

    /** The subject cannot be measured here. */
    public static final class Skipped extends Exception {
        private static final long serialVersionUID = 1;

        public Skipped(String message) {
            super(message);
        }
    }

    /** A java command. */
    public record Jvm(String version, Path command) {
        public static Jvm present() {
            return new Jvm(System.getProperty("java.version"), Path.of(System.getProperty("java.home"), "bin", "java"));
        }

        public static Jvm at(Path command) throws IOException, InterruptedException {
            for (String line : output(List.of(command.toString(), "--version"))) {
                if (!line.isBlank()) {
                    return new Jvm(line.split(" ")[1], command); // "openjdk 17.0.15 2025-04-15"
                }
            }
            throw new IOException("cannot be run: " + command);
        }

        int feature() {
            return Runtime.Version.parse(version).feature();
        }

        /** Equal for all subjects. */
        public List<String> flags(String heap) {
            List<String> flags = new ArrayList<>(List.of("-Xms" + heap, "-Xmx" + heap, "-XX:+UseG1GC"));
            if (feature() >= 24) {
                // What Netty does is then not warned of.
                flags.addAll(List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"));
            }
            return flags;
        }
    }

    /** @throws IOException if the process fails */
    public List<Part> run() throws IOException, InterruptedException, Skipped {
        return subject.isGo() ? GoProgram.INSTALLED.measure(this) : measured.measure(this);
    }

    /** Runs the case's {@link Case#run} in a {@link Child}. */
    public List<Part> inChild() throws IOException, InterruptedException, Skipped {
        List<String> command = new ArrayList<>(List.of(java.command.toString()));
        command.addAll(java.flags("2g"));
        command.addAll(List.of("-cp", classPath(), Child.class.getName(), measured.name(),
                "subject=" + subject.spec()));
        return parts(command);
    }

    /** Runs a command, to which it adds the settings, and which prints its figures as a {@link Child} does. */
    List<Part> parts(List<String> command) throws IOException, InterruptedException, Skipped {
        List<String> all = new ArrayList<>();
        if (cell.containsKey(PROCESSORS)) {
            all.addAll(Processors.only(Integer.parseInt(cell.get(PROCESSORS))));
        }
        all.addAll(command);
        more.forEach((key, value) -> all.add(key + "=" + value));
        cell.forEach((key, value) -> all.add(key + "=" + value));
        List<Part> parts = new ArrayList<>();
        for (String line : output(all)) {
            if (line.startsWith(Child.SKIPPED)) {
                throw new Skipped(line.substring(Child.SKIPPED.length()).strip());
            }
            if (line.startsWith(Child.FIGURES)) {
                parts.add(part(line.substring(Child.FIGURES.length())));
            }
        }
        if (parts.isEmpty()) {
            throw new IOException("no figures from " + this);
        }
        return parts;
    }

    /** The other Pendula's classes, if there is one, hide this build's. */
    public String classPath() {
        String own = System.getProperty("java.class.path");
        return subject.jar() == null ? own : subject.jar() + File.pathSeparator + own;
    }

    private Part part(String line) {
        String[] settingsAndFigures = line.split(Child.HAS, 2);
        Map<String, String> settings = new LinkedHashMap<>(cell);
        settings.putAll(CellText.parse(settingsAndFigures[0]));
        Map<String, Double> figures = new LinkedHashMap<>();
        CellText.parse(settingsAndFigures[1]).forEach((key, value) -> figures.put(key, Double.valueOf(value)));
        return new Part(settings, figures);
    }

    static List<String> output(List<String> command) throws IOException, InterruptedException {
        Process child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Thread limit = new Thread(() -> {
            try {
                if (!child.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                    child.destroyForcibly();
                }
            } catch (InterruptedException e) {
                child.destroyForcibly();
            }
        }, "limit");
        limit.setDaemon(true);
        limit.start();
        try (BufferedReader r = new BufferedReader(new InputStreamReader(child.getInputStream(),
                StandardCharsets.UTF_8))) {
            return r.lines().toList();
        } finally {
            child.waitFor();
        }
    }

    @Override
    public String toString() {
        return String.join(" ", measured.name(), CellText.text(cell), subject.label(), "on", java.version);
    }
}
