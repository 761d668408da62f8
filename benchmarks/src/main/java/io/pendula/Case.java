package io.pendula;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One thing that is measured: which child JVMs there are, and what each of them does. */
interface Case {
    List<Case> ALL = List.of(new StartStopCase(), new ResetCase(), new FireCase(), new BurstCase(), new LatenessCase(),
            new ParkingCase(), new PauseCase(), new WakeupsCase(), new MemoryCase(), new StartCase(), new TasksCase(),
            new ExecuteCase(), new HandoverCase(), new TicksCase(), new MixCase(), new LoopArmCase(),
            new LoopResetCase(), new LoopIoCase());

    String name();

    /** The settings to go through; everything in one cell is compared. */
    List<Map<String, String>> cells(boolean busy);

    /** What is compared; Pendula, or its variant that others are related to, comes first. */
    default List<Subject> subjects() {
        return Subject.RIVALS;
    }

    /** The figures for which the table says how the first subject's relates to each other one's. */
    default List<String> ratios() {
        return List.of();
    }

    /** In the child: measures one subject in one cell. */
    void run(Child child) throws Exception;

    static Case named(String name) {
        return ALL.stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow(
                () -> new IllegalArgumentException("no such case: " + name));
    }

    /**
     * @param label its row in the table
     * @param settings what the child must know of it
     */
    record Subject(String label, Map<String, String> settings) {
        static final List<Subject> PENDULA = List.of(of(SchedulerType.PENDULA));
        static final List<Subject> RIVALS = List.of(of(SchedulerType.PENDULA), of(SchedulerType.STPE),
                of(SchedulerType.FJP), of(SchedulerType.HWT));
        /** All other schedulers: the designs of the history of timers, and further libraries. */
        static final List<Subject> MORE_RIVALS = Arrays.stream(SchedulerType.values()).map(Subject::of)
                .filter(s -> !RIVALS.contains(s)).toList();
        /** Those that are pools of threads, with PoolType's names. */
        static final List<Subject> POOLS = Arrays.stream(PoolType.values()).map(Subject::of).toList();

        static Subject of(Enum<?> type) {
            return new Subject(type.name(), Map.of("type", type.name()));
        }
    }

    /** All combinations of the given values: {@code "threads=1,2", "rate=100,1000"} gives four. */
    static List<Map<String, String>> product(String... settings) {
        List<Map<String, String>> cells = List.of(Map.of());
        for (String setting : settings) {
            String[] keyAndValues = setting.split("=");
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
