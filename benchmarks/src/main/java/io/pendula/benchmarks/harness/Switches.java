package io.pendula.benchmarks.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Counts how often a scheduler's threads give up their processor of their own accord: how often they go to sleep, or
 * wait for a lock. Linux only. A thread that has ended is not counted any more.
 */
public final class Switches {
    private static final Path TASKS = Path.of("/proc/self/task");
    private static final String SWITCHES = "voluntary_ctxt_switches:";
    /** So much of a thread's name the system keeps; the JVM shortens a longer name in one of two ways. */
    private static final int KEPT = 15;
    private static final int KEPT_FIRST = 7;
    private static final int KEPT_LAST = 6;

    private final Path tasks;
    private final Set<String> othersTasks;
    private final Set<Thread> others;
    private Map<String, Long> begun = Map.of();

    private Switches(Path tasks) {
        this.tasks = tasks;
        this.others = new HashSet<>(Child.threads());
        this.othersTasks = Files.isDirectory(tasks) ? all().keySet() : Set.of();
    }

    /** To be called before the scheduler is opened: counted are the threads that are started from now on. */
    public static Switches beforeOpening() {
        return beforeOpening(TASKS);
    }

    public static Switches beforeOpening(Path tasks) {
        return new Switches(tasks);
    }

    /** Whether the system tells. */
    public boolean areKnown() {
        return Files.isDirectory(tasks);
    }

    /** Leaves out threads that were started since, but are not the scheduler's. */
    public void leaveOut(Set<Thread> threads) {
        others.addAll(threads);
    }

    public void begin() {
        begun = areKnown() ? counted() : Map.of();
    }

    /** Since {@link #begin}. */
    public long count() {
        return counted().entrySet().stream().mapToLong(e -> e.getValue() - begun.getOrDefault(e.getKey(), 0L)).sum();
    }

    /** Adds the figure "switches", for each of so many firings, where the system tells. */
    public void figure(Child child, double firings) {
        if (areKnown()) {
            child.figure("switches", count() / firings);
        }
    }

    private Map<String, Long> counted() {
        Set<String> names = new HashSet<>();
        for (Thread t : Child.threads()) {
            if (!others.contains(t)) {
                names.add(shortened(t.getName()));
                names.add(shortenedInTheMiddle(t.getName()));
            }
        }
        Map<String, Long> counted = new HashMap<>();
        all().forEach((task, name) -> {
            if (!othersTasks.contains(task) && names.contains(name)) { // the JVM's own threads have other names
                counted.put(task, switches(task));
            }
        });
        return counted;
    }

    static String shortened(String name) {
        return name.length() <= KEPT ? name : name.substring(0, KEPT);
    }

    static String shortenedInTheMiddle(String name) {
        return name.length() <= KEPT ? name
                : name.substring(0, KEPT_FIRST) + ".." + name.substring(name.length() - KEPT_LAST);
    }

    /** Names of all tasks of this process. */
    private Map<String, String> all() {
        Map<String, String> names = new HashMap<>();
        try (Stream<Path> found = Files.list(tasks)) {
            found.forEach(task -> {
                String name = read(task.resolve("comm"));
                if (name != null) {
                    names.put(task.getFileName().toString(), name.stripTrailing());
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return names;
    }

    private long switches(String task) {
        String status = read(tasks.resolve(task).resolve("status"));
        return status == null ? 0 : status.lines().filter(line -> line.startsWith(SWITCHES))
                .mapToLong(line -> Long.parseLong(line.substring(SWITCHES.length()).strip())).sum();
    }

    /** Null if the task has ended meanwhile. */
    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return null;
        }
    }
}
