package io.pendula.adapters;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A JVM of its own, with this one's class path, which is killed when it is closed. */
public final class Child implements AutoCloseable {
    /** No program runs for longer. */
    private static final long LIMIT_SECONDS = 300;

    private final Process process;
    private final BufferedReader output;

    private Child(Process process) {
        this.process = process;
        this.output = process.inputReader(StandardCharsets.UTF_8);
        // A read of its output cannot be interrupted, but ends with the program.
        CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS).execute(process::destroyForcibly);
    }

    /**
     * Starts a program.
     *
     * @param without what is left out of the class path, by its end
     */
    public static Child start(Class<?> program, String without, String... args) throws IOException {
        return start(program, without, List.of(), args);
    }

    /** As {@link #start(Class, String, String...)}, with options of the JVM. */
    public static Child start(Class<?> program, String without, List<String> options, String... args)
            throws IOException {
        String classPath = Arrays.stream(classPath().split(File.pathSeparator))
                .filter(element -> !element.endsWith(without)).collect(Collectors.joining(File.pathSeparator));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", classPath,
                "-Djava.util.logging.config.file=" + System.getProperty("java.util.logging.config.file"),
                "-Dsofa.middleware.log.disable=true"));
        command.addAll(options);
        command.add(program.getName());
        command.addAll(List.of(args));
        return new Child(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    /** The jar of the class path whose name begins so. */
    public static Path jar(String name) {
        return Arrays.stream(classPath().split(File.pathSeparator)).map(Path::of)
                .filter(element -> element.getFileName().toString().startsWith(name)).findFirst().orElseThrow();
    }

    /** Surefire puts the class path into a jar's manifest, and tells it here. */
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** Waits for a line of its output that begins with one of the words. */
    public String line(String... words) throws IOException {
        List<String> before = new ArrayList<>();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (Arrays.stream(words).anyMatch(line::startsWith)) {
                return line;
            }
            before.add(line);
        }
        throw new AssertionError("the program ended without " + String.join(" or ", words) + ", after " + before);
    }

    /** As kill -9 does. */
    public void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    @Override
    public void close() {
        kill();
    }
}
