package io.pendula.benchmarks.report;

import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.GoProgram;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.peers.SchedulerType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a report measures. */
final class Plan {
    /**
     * Some cells of a case.
     *
     * @param more settings for all of them
     * @param seconds that a JVM of it takes, about; a first guess for the time left
     */
    record Step(Case measured, List<Map<String, String>> cells, List<Subject> subjects, Map<String, String> more,
            double seconds) {
        int jvms() {
            return cells.size() * subjects.size();
        }
    }

    private static final List<String> MOST_IMPORTANT = List.of("PENDULA", "STPE", "FJP", "HWT", "NETTY_EPOLL",
            "KAFKA");
    private static final List<String> FURTHER_LIBRARIES = List.of("PENDULA_POOL", "STPE_KEEPS", "HWT_100MS",
            "NETTY_NIO", "NETTY_EXECUTOR", "JAVA_TIMER", "PEKKO", "VERTX");
    private static final List<String> POOLS = List.of("PENDULA_POOL", "STPE", "FJP", "NETTY_EXECUTOR");

    private static final Map<String, String> BRIEF = CellText.parse("warmMs=120 windowMs=120 windows=5");

    private final List<Step> steps = new ArrayList<>();

    private Plan() {}

    static Plan of(Step... steps) {
        Plan plan = new Plan();
        plan.steps.addAll(List.of(steps));
        return plan;
    }

    List<Step> steps() {
        return steps;
    }

    double seconds() {
        return steps.stream().mapToDouble(s -> s.seconds * s.jvms()).sum();
    }

    /** Under six minutes: six subjects and the control, in the cells that tell most. */
    static Plan quick() {
        Plan plan = new Plan();
        plan.add("startstop", "delays=ONE inFlight=1000 pending=0|100000|1000000 threads=1", MOST_IMPORTANT, BRIEF, 2);
        plan.add("startstop", "delays=ONE inFlight=16000|100000 pending=100000 threads=1", MOST_IMPORTANT, BRIEF, 2);
        plan.add("startstop", "delays=RANDOM inFlight=16000 threads=1", MOST_IMPORTANT, BRIEF, 2);
        plan.add("startstop", "delays=ONE inFlight=1000 pending=100000 threads=2", MOST_IMPORTANT, BRIEF, 2);
        plan.add("window", "delays=RANDOM stopped=OLDEST pending=100000 threads=1", MOST_IMPORTANT, BRIEF, 2);
        plan.add("reset", "direction=LATER|RANDOM timers=100000 threads=1", MOST_IMPORTANT, BRIEF, 2);
        plan.add("fire", "byReset=false workers=2", MOST_IMPORTANT, BRIEF, 2);
        plan.add("frontier", "busy=false", List.of(),
                CellText.parse("rates=100,1000,10000,100000,500000 firings=1000 spanMs=500 mostMs=3000"), 10);
        plan.add("frontier", "busy=calls", List.of("PENDULA", "STPE:threads=1", "NETTY_EXECUTOR:threads=1"), Map.of(), 9);
        plan.add("blocked", "blocked=one armed=outside workers=2", List.of("PENDULA", "STPE", "FJP"), Map.of(), 5);
        plan.add("looparm", "delays=ONE inFlight=1000|16000 pending=100000",
                List.of("PENDULA", "NETTY", "AGRONA_PACED", "HWT"), BRIEF, 2);
        plan.add("memory", "", MOST_IMPORTANT, Map.of(), 2.5);
        plan.add("floor", "op=clock|cas|allocate|heap|park", List.of(), BRIEF, 2);
        return plan;
    }

    /**
     * Under an hour and a half with three rounds: the designs of the history of timers, beside Pendula, in one or two
     * cells of each case that they can run. They are not in the full plan, which is for what one can use. With them go the
     * benchmarks that others wrote, Go's and those of further projects.
     */
    static Plan history() {
        Plan plan = new Plan();
        List<String> all = new ArrayList<>(List.of("PENDULA"));
        SchedulerType.DESIGNS.forEach(type -> all.add(type.name()));
        for (String cell : List.of("delays=ONE inFlight=0 pending=1000000 threads=1",
                "delays=ONE inFlight=1000 pending=100000 threads=1",
                "delays=ONE inFlight=1000 pending=100000 threads=2 workers=2")) {
            plan.add("startstop", cell, all, BRIEF, 2);
        }
        plan.add("reset", "direction=LATER|RANDOM timers=100000 threads=1", all, BRIEF, 2);
        plan.add("fire", "byReset=false workers=2", all, BRIEF, 2);
        plan.add("frontier", "busy=false", all,
                CellText.parse("rates=100,1000,10000,100000,500000 firings=500 spanMs=500"), 11.5);
        plan.add("burst", "workers=2", all, Map.of(), 7);
        plan.add("blocked", "blocked=one armed=outside workers=2", all, Map.of(), 5);
        plan.add("heavy", "load=60000x20us queues=2", all, Map.of(), 8);
        plan.add("memory", "", all, Map.of(), 2.5);
        plan.add("wakeups", "", all, Map.of(), 8);
        // The other cells of the case are Pendula's own: its lock, its views.
        plan.add("pause", "putOff=100000 due=far arming=none tasks=none", all, Map.of(), 7);
        plan.add("gobench", "", List.of(), BRIEF, 2);
        plan.add("foreign", "op=cancel|drift|purgatory", List.of(), Map.of(), 3.5);
        plan.add("foreign", "op=restart", List.of("PENDULA", "STPE", "FJP", "HWT"), Map.of(), 3.5);
        plan.add("foreign", "op=million", List.of(), Map.of(), 14);
        plan.add("delayed", "tasks=1|10000", POOLS, Map.of(), 3);
        return plan;
    }

    /** Under three hours with three rounds: all libraries in all cells. */
    static Plan full(int... threads) {
        Plan plan = new Plan();
        List<String> libraries = with(MOST_IMPORTANT, FURTHER_LIBRARIES.toArray(String[]::new));
        List<String> librariesAndGo = with(libraries, GoProgram.SUBJECT);
        Map<String, String> asIs = Map.of();
        plan.add("startstop", "threads=1", MOST_IMPORTANT, BRIEF, 2);
        plan.add("startstop", "threads=2", MOST_IMPORTANT, BRIEF, 2);
        plan.add("startstop", "delays=ONE inFlight=1000 pending=0|100000|1000000 threads=1",
                with(FURTHER_LIBRARIES, GoProgram.SUBJECT), BRIEF, 2);
        plan.add("window", "", List.of("PENDULA", "STPE", "FJP"), BRIEF, 2); // the precise ones
        plan.add("reset", "", MOST_IMPORTANT, BRIEF, 2);
        plan.add("reset", "direction=LATER|RANDOM timers=100000 threads=1", List.of(GoProgram.SUBJECT), BRIEF, 2);
        plan.add("fire", "", librariesAndGo, BRIEF, 2);
        plan.scaling(threads);
        plan.add("floor", "", List.of(), asIs, 3);
        // Vert.x is not in it: it has the timers of Netty's loop, later by up to a millisecond.
        List<String> idle = Cases.named("frontier").subjects().stream().map(Subject::spec).toList();
        Map<String, String> notTooLong = CellText.parse("mostMs=5000"); // at 100 a second
        plan.add("frontier", "busy=false", with(idle, GoProgram.SUBJECT), notTooLong, 25);
        plan.add("frontier", "busy=true", List.of(), notTooLong, 25);
        plan.add("frontier", "busy=calls", List.of(), asIs, 10);
        plan.add("blocked", "", List.of(), asIs, 5);
        plan.add("heavy", "", List.of(), asIs, 8);
        plan.add("burst", "", libraries, asIs, 7);
        plan.add("memory", "", librariesAndGo, asIs, 2.5);
        plan.add("pause", "", List.of(), asIs, 8);
        plan.add("wakeups", "", List.of(), asIs, 8);
        plan.add("start", "", List.of(), asIs, 1);
        plan.add("execute", "", POOLS, asIs, 3);
        plan.add("relay", "", POOLS, asIs, 3);
        plan.add("handover", "", POOLS, asIs, 5);
        plan.add("ticks", "", POOLS, asIs, 8);
        plan.add("mix", "", POOLS, asIs, 7);
        plan.add("looparm", "", List.of(), asIs, 3);
        plan.add("loopreset", "", List.of(), asIs, 3);
        plan.add("loopio", "", List.of(), asIs, 7);
        return plan;
    }

    private static List<String> with(List<String> subjects, String... more) {
        List<String> all = new ArrayList<>(subjects);
        all.addAll(List.of(more));
        return all;
    }

    private void scaling(int... threads) {
        Case scaling = Cases.named("scaling");
        List<Map<String, String>> cells = scaling.cells().stream().filter(cell -> Arrays.stream(threads)
                .anyMatch(n -> cell.get("threads").equals(String.valueOf(n)))).toList();
        steps.add(new Step(scaling, cells, control(scaling.subjects()), BRIEF, 2));
    }

    /**
     * @param only which cells
     * @param subjects or none, for the case's own
     */
    private void add(String name, String only, List<String> subjects, Map<String, String> more, double seconds) {
        Case measured = Cases.named(name);
        List<Map<String, String>> cells = new ArrayList<>();
        for (Map<String, String> cell : measured.cells()) {
            if (CellText.allow(CellText.parse(only), cell)) {
                cells.add(new LinkedHashMap<>(cell));
            }
        }
        if (cells.isEmpty()) {
            throw new IllegalArgumentException("no cell of " + name + " has " + only);
        }
        List<Subject> chosen = subjects.isEmpty() ? measured.subjects() : Subject.all(subjects.toArray(String[]::new));
        steps.add(new Step(measured, cells, control(chosen), more, seconds));
    }

    /** The first subject once more, if others are compared with it. */
    private static List<Subject> control(List<Subject> subjects) {
        Set<String> compared = Set.of("STPE", "STPE:threads=1", "GO_1_9");
        List<Subject> all = new ArrayList<>(subjects);
        if (subjects.size() > 1 && subjects.get(0).label().startsWith("PENDULA")
                && subjects.stream().anyMatch(s -> compared.contains(s.label()))) {
            all.add(subjects.get(0).again());
        }
        return all;
    }
}
