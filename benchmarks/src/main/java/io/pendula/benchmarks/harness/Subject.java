package io.pendula.benchmarks.harness;

import io.pendula.benchmarks.peers.PendulaSettings;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What is measured: a scheduler, a loop or a server, with its settings.
 *
 * @param label its name in the tables
 * @param spec its type and settings, as TYPE or TYPE:key=value:key=value
 * @param jar of a Pendula that is measured in place of this build's, or null
 */
public record Subject(String label, String spec, Path jar) {
    private static final String THREADS = "threads";

    /** A spec, or a spec, an at sign, and the name of a jar. */
    public static Subject parse(String text, Map<String, Path> jars) {
        String[] specAndJar = text.split("@", 2);
        Path jar = null;
        if (specAndJar.length > 1) {
            jar = jars.get(specAndJar[1]);
            if (jar == null) {
                throw new IllegalArgumentException("no --jar has the name '" + specAndJar[1] + "' of subject '" + text
                        + "'");
            }
        }
        Subject subject = new Subject(text, specAndJar[0], jar);
        subject.settings(); // checks them
        return subject;
    }

    /** Without a jar. */
    public static Subject of(String spec) {
        return parse(spec, Map.of());
    }

    public static List<Subject> all(String... specs) {
        return Stream.of(specs).map(Subject::of).toList();
    }

    public static List<Subject> all(Enum<?>... types) {
        return Stream.of(types).map(type -> new Subject(type.name(), type.name(), null)).toList();
    }

    /** The same once more, as a row of its own: how far the two are apart is what the run cannot resolve. */
    public Subject again() {
        return new Subject(label + " again", spec, jar);
    }

    /** Whether it is no scheduler of the JVM but Go's own timers, which {@link GoProgram} measures. */
    public boolean isGo() {
        return spec.equals(GoProgram.SUBJECT);
    }

    public <T extends Enum<T>> T type(Class<T> types) {
        String name = spec.split(":")[0];
        try {
            return Enum.valueOf(types, name);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("no such subject here: '" + name + "'; there are "
                    + Arrays.toString(types.getEnumConstants()), e);
        }
    }

    Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        Stream.of(spec.split(":")).skip(1).forEach(setting -> {
            String[] keyAndValue = setting.split("=", 2);
            if (keyAndValue.length < 2) {
                throw new IllegalArgumentException("setting must be key=value, but is '" + setting + "' in '" + spec
                        + "'");
            }
            settings.put(keyAndValue[0], keyAndValue[1]);
        });
        return settings;
    }

    /**
     * Opens a scheduler. Its setting {@code threads} overrides the cell's number of workers; Pendula's other settings
     * are methods of its builder.
     *
     * @param workers how many threads the cell asks for, or {@link SchedulerType#AS_BUILT}
     */
    public Rival open(int workers) {
        SchedulerType type = type(SchedulerType.class);
        Map<String, String> others = settings();
        String own = others.remove(THREADS);
        int threads = own == null ? workers : Integer.parseInt(own);
        if (others.isEmpty()) {
            return type.open(threads);
        }
        if (type != SchedulerType.PENDULA) {
            throw new IllegalArgumentException(type + " has no setting " + others.keySet());
        }
        return SchedulerType.pendula(PendulaSettings.builder(threads, others).build());
    }
}
