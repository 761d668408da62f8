package io.pendula.benchmarks.harness;

import io.pendula.benchmarks.peers.SchedulerType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One thing that is measured: which JVMs there are, and what each of them does. */
public interface Case {
    String name();

    /** The settings to go through, each in a JVM of its own; everything in one cell is compared. */
    List<Map<String, String>> cells();

    /** What is compared if nothing else is asked for; Pendula comes first. */
    default List<Subject> subjects() {
        return Subject.all(SchedulerType.PENDULA, SchedulerType.STPE, SchedulerType.FJP, SchedulerType.HWT,
                SchedulerType.NETTY_EXECUTOR, SchedulerType.KAFKA);
    }

    /** Throws an IllegalArgumentException that names the subject, and those that there are, if it is none of them. */
    default void check(Subject subject) {
        subject.type(SchedulerType.class);
    }

    /** The figures for which the tables say how each subject's relates to the first one's; less is better. */
    List<String> ratios();

    /** Measures one subject in one cell in another JVM. */
    default List<Launch.Part> measure(Launch launch) throws IOException, InterruptedException, Launch.Skipped {
        return launch.inChild();
    }

    /** In that JVM, unless {@link #measure} does something else. */
    void run(Child child) throws Exception;

    /** What the tables of the case are followed by; nothing, as a rule. */
    default String remarks(Results results) {
        return "";
    }

    /** All combinations of the given values: {@code "threads=1,2", "rate=100,1000"} gives four. */
    static List<Map<String, String>> product(String... settings) {
        List<Map<String, String>> cells = List.of(Map.of());
        for (String setting : settings) {
            String[] keyAndValues = setting.split("=", 2);
            List<Map<String, String>> longer = new ArrayList<>();
            for (Map<String, String> cell : cells) {
                for (String value : keyAndValues[1].split(",")) {
                    Map<String, String> more = new LinkedHashMap<>(cell);
                    more.put(keyAndValues[0], value);
                    longer.add(more);
                }
            }
            cells = longer;
        }
        return cells;
    }
}
