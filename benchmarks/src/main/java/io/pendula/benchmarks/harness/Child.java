package io.pendula.benchmarks.harness;

import io.pendula.benchmarks.peers.PoolType;
import io.pendula.benchmarks.peers.SchedulerType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import org.HdrHistogram.Histogram;

/** A JVM that measures one subject in one cell of a case, and prints its figures in one line. */
public final class Child {
    static final String FIGURES = "figures:";
    /** Between the settings of a cell and its figures. */
    static final String HAS = " -> ";
    static final String SKIPPED = "skipped:";

    private final Map<String, String> settings = new LinkedHashMap<>();
    private final Map<String, Double> figures = new LinkedHashMap<>();
    private String part = "";

    public static void main(String[] args) {
        Child child = new Child();
        for (int i = 1; i < args.length; i++) {
            String[] setting = args[i].split("=", 2);
            child.settings.put(setting[0], setting[1]);
        }
        int status = 0;
        try {
            ServiceLoader.load(CaseFinder.class).findFirst().orElseThrow().find(args[0]).run(child);
            child.flush();
        } catch (UnsupportedOperationException e) {
            System.out.println(SKIPPED + " " + e.getMessage());
        } catch (Throwable e) {
            e.printStackTrace();
            status = 1;
        }
        System.out.flush();
        Runtime.getRuntime().halt(status); // closing a scheduler with a million timers would take long, and for nothing
    }

    // ---- settings and figures ----

    public String text(String key) {
        String value = settings.get(key);
        if (value == null) {
            throw new IllegalArgumentException("missing: " + key);
        }
        return value;
    }

    public boolean has(String key) {
        return settings.containsKey(key);
    }

    public int number(String key) {
        return Integer.parseInt(text(key));
    }

    public String text(String key, String otherwise) {
        return settings.getOrDefault(key, otherwise);
    }

    public int number(String key, int otherwise) {
        return has(key) ? number(key) : otherwise;
    }

    public boolean is(String key) {
        return Boolean.parseBoolean(settings.get(key));
    }

    public Subject subject() {
        return Subject.of(text("subject"));
    }

    /** How many threads the cell asks for; as many as by default if it says nothing of them. */
    public int workers() {
        return has("workers") ? number("workers") : SchedulerType.AS_BUILT;
    }

    public ScheduledExecutorService openPool() {
        return subject().type(PoolType.class).open(workers());
    }

    public double figure(String key) {
        return figures.get(key);
    }

    public void figure(String key, double value) {
        figures.put(key, value);
    }

    /**
     * Begins a part of the cell, whose figures follow: a child that has warmed up can measure at several rates.
     *
     * @param settings which the cell gets in addition, as "rate=100"
     */
    public void part(String settings) {
        flush();
        part = settings;
    }

    private void flush() {
        if (!figures.isEmpty()) {
            StringBuilder line = new StringBuilder(FIGURES).append(part).append(HAS);
            figures.forEach((key, value) -> line.append(' ').append(key).append('=').append(value));
            System.out.println(line);
            System.out.flush();
            figures.clear();
        }
    }

    /** Percentiles and the maximum, in microseconds. */
    public void figures(String prefix, Histogram nanos) {
        figure(prefix + "p50_us", nanos.getValueAtPercentile(50) / 1e3);
        figure(prefix + "p90_us", nanos.getValueAtPercentile(90) / 1e3);
        figure(prefix + "p99_us", nanos.getValueAtPercentile(99) / 1e3);
        figure(prefix + "p999_us", nanos.getValueAtPercentile(99.9) / 1e3);
        figure(prefix + "max_us", nanos.getMaxValue() / 1e3);
    }

    // ---- threads ----

    /** All threads that live now. */
    public static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet();
    }

    /** Keeps every processor busy until the JVM ends. */
    public static void spin() {
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            Thread t = new Thread(() -> {
                for (;;) {
                    Thread.onSpinWait();
                }
            }, "spin-" + i);
            t.setDaemon(true);
            t.start();
        }
    }
}
