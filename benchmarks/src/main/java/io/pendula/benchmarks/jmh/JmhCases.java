package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.peers.PoolType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** All costs per operation. */
public final class JmhCases {
    /** How many threads to arm with, as far as there are processors for them; as many workers each time. */
    public static final int[] SCALE = {1, 2, 4, 8, 16};

    static final List<Subject> SCHEDULERS = Subject.all("PENDULA", "PENDULA_POOL", "STPE", "STPE_KEEPS", "FJP", "HWT",
            "NETTY_EXECUTOR", "KAFKA", "PEKKO", "JAVA_TIMER");

    public static final List<Case> ALL = List.of(
            new JmhCase("startstop", "StartStopBenchmark.startStop", JmhCase.Kind.SCHEDULER, SCHEDULERS, startStop()),
            new JmhCase("scaling", "StartStopBenchmark.startStop", JmhCase.Kind.SCHEDULER,
                    Subject.all("PENDULA", "STPE", "FJP", "HWT", "NETTY_EXECUTOR", "GO_1_14"), scaling()),
            new JmhCase("window", "WindowBenchmark.window", JmhCase.Kind.SCHEDULER, SCHEDULERS, windows()),
            new JmhCase("reset", "ResetBenchmark.reset", JmhCase.Kind.SCHEDULER, SCHEDULERS, resets()),
            new JmhCase("fire", "FireBenchmark.fire", JmhCase.Kind.SCHEDULER, SCHEDULERS,
                    Case.product("byReset=false,true", "workers=1,2")),
            new JmhCase("execute", "PoolBenchmark.execute", JmhCase.Kind.POOL, Subject.all(PoolType.values()),
                    Case.product("threads=1,2", "workers=1,2")),
            new JmhCase("relay", "PoolBenchmark.relay", JmhCase.Kind.POOL, Subject.all(PoolType.values()),
                    Case.product("workers=1,2")),
            new JmhCase("looparm", "LoopBenchmark.arm", JmhCase.Kind.LOOP, loops(), loopArm()),
            new JmhCase("loopreset", "LoopBenchmark.reset", JmhCase.Kind.LOOP, loops(),
                    Case.product("direction=LATER,RANDOM,EARLIER", "timers=10000,100000")),
            new JmhCase("floor", "FloorBenchmark", JmhCase.Kind.NONE, Subject.all("NONE"),
                    Case.product("op=clock,cas,allocate,heap,park,unpark")));

    private JmhCases() {}

    private static List<Map<String, String>> startStop() {
        List<Map<String, String>> cells = new ArrayList<>();
        cells.addAll(Case.product("delays=ONE", "inFlight=0,1000,4000,16000,100000", "pending=0,100000,1000000",
                "threads=1", "workers=0"));
        cells.addAll(Case.product("delays=FEW,RANDOM", "inFlight=1000,16000", "pending=100000", "threads=1",
                "workers=0"));
        // Growth.
        cells.addAll(Case.product("delays=ONE", "inFlight=1000", "pending=1000,10000,10000000", "threads=1",
                "workers=0"));
        // Two threads that arm at one worker, or at one each.
        cells.addAll(Case.product("delays=ONE", "inFlight=0,1000,16000", "pending=0,100000", "threads=2",
                "workers=1,2"));
        return cells;
    }

    private static List<Map<String, String>> scaling() {
        List<Map<String, String>> cells = new ArrayList<>();
        for (int n : SCALE) {
            if (n <= Runtime.getRuntime().availableProcessors()) {
                cells.addAll(Case.product("delays=ONE", "inFlight=1000", "pending=100000", "threads=" + n,
                        "workers=" + n));
            }
        }
        return cells;
    }

    private static List<Map<String, String>> windows() {
        List<Map<String, String>> cells = new ArrayList<>();
        cells.addAll(Case.product("delays=RANDOM", "stopped=OLDEST,ANY,SOON", "pending=1000,100000,1000000", "threads=1",
                "workers=0"));
        cells.addAll(Case.product("delays=ONE,FEW", "stopped=OLDEST", "pending=100000", "threads=1", "workers=0"));
        cells.addAll(Case.product("delays=RANDOM", "stopped=OLDEST", "pending=100000", "threads=2", "workers=1,2"));
        return cells;
    }

    private static List<Map<String, String>> resets() {
        List<Map<String, String>> cells = new ArrayList<>();
        cells.addAll(Case.product("direction=LATER,RANDOM,EARLIER", "timers=100000,1000000", "threads=1", "workers=0"));
        cells.addAll(Case.product("direction=LATER,RANDOM,EARLIER", "timers=100000", "threads=2", "workers=1,2"));
        return cells;
    }

    private static List<Map<String, String>> loopArm() {
        List<Map<String, String>> cells = new ArrayList<>();
        cells.addAll(Case.product("delays=ONE", "inFlight=0,1000,4000,16000,100000", "pending=0,10000,100000"));
        cells.addAll(Case.product("delays=FEW,RANDOM", "inFlight=1000,16000", "pending=100000"));
        return cells;
    }

    private static List<Subject> loops() {
        return Subject.all("PENDULA", "PENDULA_HERE", "NETTY", "PENDULA_IN_NETTY", "AGRONA_PACED", "HWT", "STPE");
    }
}
