package io.pendula.search;

import static io.pendula.Figures.figure;
import static io.pendula.search.Spec.BETWEEN;
import static io.pendula.search.Spec.FAR;
import static io.pendula.search.Spec.LATE;
import static io.pendula.search.Spec.NOW;
import static io.pendula.search.Spec.SOON;
import static io.pendula.search.Spec.arm;
import static io.pendula.search.Spec.await;
import static io.pendula.search.Spec.help;
import static io.pendula.search.Spec.reset;
import static io.pendula.search.Spec.stop;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.search.Spec.Call;
import io.pendula.search.Spec.Start;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The protocol of sleeping and waking, as WakeGate, Standby, Worker, LoopWorker and TimerQueue have it, under the
 * interleavings of small programs. The classes of the library themselves run, see {@link Search}.
 *
 * <p>What is tried. On one queue with one worker: with up to three preemptions (two on a JVM without continuations,
 * where a change of threads is dearer) all programs in which a thread does one thing to a timer in any state, alone or
 * beside another timer. Without a bound such a search has no end: an arming thread that looks at the gate again may
 * find it published again each time. Without a preemption: all programs in which one or two threads do two things to a
 * timer; and with two workers all of one thing. The same with a loop in the worker's place, and two armings with one
 * preemption. By chance: programs of up to three threads besides one or two workers, with up to six steps, in executions
 * with any number of preemptions, for some seconds.
 * {@code -Dsearch.minutes=10} goes on by chance for so long, and tries programs of two steps with one preemption.
 *
 * <p>Each step of the protocol that is left out is found by one of these programs with two preemptions at most.
 */
class WakeSearchTest {
    private static final String PROGRAM = "io.pendula.SearchedScheduler";
    private static final String MINUTES = System.getProperty("search.minutes");
    private static final int PREEMPTIONS = MINUTES == null ? 0 : 1;
    private static final int PREEMPTIONS_OF_ONE_STEP = Coroutine.AVAILABLE ? 3 : 2;
    /** More than any of these programs has. */
    private static final long MOST = 1_000_000;
    private static final long CHANCE_MILLIS = 5_000;
    private static final long MILLIS_EACH = 50;

    private static Search search(Spec spec, SearchLoader loader) {
        return new Search(loader, loader.program(PROGRAM, spec), 0, NOW);
    }

    private static void allAreClean(List<Spec> programs, int preemptions) {
        SearchLoader loader = new SearchLoader();
        long executions = 0;
        long states = 0;
        for (Spec s : programs) {
            Search.Result r = search(s, loader).preemptions(preemptions).all(MOST);
            assertTrue(r.isClean(), () -> s + ": " + r.report());
            assertTrue(r.complete(), () -> s + ": not all were tried");
            executions += r.executions();
            states += r.states();
        }
        figure("%d programs, preemptions at most %d (-1: any number): %d executions, %d states", programs.size(),
                preemptions, executions, states);
    }

    @Test
    @Timeout(300)
    void oneStep_fewPreemptions_losesNoWakeUp() {
        allAreClean(Programs.ofOneStep(), PREEMPTIONS_OF_ONE_STEP);
    }

    @Test
    @Timeout(300)
    void twoSteps_noPreemption_loseNoWakeUp() {
        allAreClean(Programs.ofTwoSteps(), PREEMPTIONS);
    }

    @Test
    @Timeout(300)
    void oneStepTwoWorkers_noPreemption_losesNoWakeUp() {
        allAreClean(Programs.ofOneStep().stream().map(s -> s.workers(2)).toList(), 0);
    }

    @Test
    @Timeout(300)
    void oneStepBesideALoop_fewPreemptions_losesNoWakeUp() {
        allAreClean(Programs.ofOneStep().stream().map(s -> s.workers(0)).toList(), PREEMPTIONS_OF_ONE_STEP);
    }

    @Test
    @Timeout(300)
    void twoStepsBesideALoop_noPreemption_loseNoWakeUp() {
        allAreClean(Programs.ofTwoSteps().stream().map(s -> s.workers(0)).toList(), PREEMPTIONS);
    }

    /** One is drained while the other arrives. */
    @Test
    @Timeout(300)
    void twoArmingsBesideALoop_onePreemption_loseNoWakeUp() {
        allAreClean(List.of(spec(List.of(Start.NEW, Start.NEW), List.of(arm(0, NOW)), List.of(arm(1, SOON))).workers(0),
                spec(List.of(Start.NEW, Start.FIRED), List.of(arm(0, NOW)), List.of(reset(1, SOON))).workers(0)), 1);
    }

    @Test
    @Timeout(7200)
    void drawnPrograms_byChance_loseNoWakeUp() {
        long millis = MINUTES == null ? CHANCE_MILLIS : Long.parseLong(MINUTES) * 60_000;
        long seed = Long.getLong("search.seed", System.nanoTime());
        SplittableRandom random = new SplittableRandom(seed);
        SearchLoader loader = new SearchLoader();
        long end = System.nanoTime() + millis * 1_000_000;
        long executions = 0;
        long programs = 0;
        do {
            Spec s = Programs.drawn(random);
            Search.Result r = search(s, loader).byChance(random.nextLong(), MILLIS_EACH);
            assertTrue(r.isClean(), () -> "-Dsearch.seed=" + seed + ": " + s + ": " + r.report());
            executions += r.executions();
            programs++;
        } while (System.nanoTime() < end);
        figure("%d programs by chance, %d executions, -Dsearch.seed=%d", programs, executions, seed);
    }

    // ---- what is left out is found ----

    @SafeVarargs
    @SuppressWarnings("varargs")
    private static Spec spec(List<Start> timers, List<Call>... threads) {
        return new Spec(1, 0, timers, List.of(threads));
    }

    private static Arguments fault(String what, Spec program, Fault... faults) {
        return Arguments.of(what, program, faults);
    }

    static Stream<Arguments> faults() {
        List<Start> one = List.of(Start.NEW);
        List<Start> filed = List.of(Start.FILED);
        List<Start> besideFiled = List.of(Start.NEW, Start.FILED);
        Spec arms = spec(one, List.of(arm(0, SOON)));
        Spec stops = spec(one, List.of(arm(0, FAR), stop(0)));
        return Stream.of(
                fault("no second look at the inbox (R1)", arms,
                        Fault.noCall("DueTimers", "publishSleep", "drain", 1, 1)),
                fault("no last look at the gate before the park", arms,
                        Fault.noCall("Worker", "sleep", "isCalled", 0, 0)),
                fault("an arming wakes nobody", arms, Fault.noCall("TimerQueue", "arm", "wakeIfBefore", 0, 0)),
                fault("an arming looks at the gate, then pushes", arms, Fault.looksBeforePush()),
                fault("a reset of a timer in the inbox wakes nobody",
                        spec(besideFiled, List.of(arm(0, LATE), reset(0, SOON))),
                        Fault.noCall("TimerQueue", "rearm", "wakeIfBefore", 0, 0)),
                fault("a reset of a timer that was stopped in the inbox wakes nobody",
                        spec(besideFiled, List.of(arm(0, LATE), stop(0), reset(0, SOON))),
                        Fault.noCall("TimerQueue", "rearm", "wakeIfBefore", 1, 0)),
                fault("a reset that pushes wakes nobody", spec(filed, List.of(reset(0, SOON))),
                        Fault.noCall("TimerQueue", "tryPost", "wakeFor", 0, 0)),
                fault("a reset wakes for its own deadline, not for that of the word",
                        spec(List.of(Start.FILED, Start.NEW), List.of(arm(1, SOON), reset(0, BETWEEN)),
                                List.of(reset(0, NOW))), Fault.wakesForOwnDeadline()),
                fault("a reset that pushes a timer stopped before calls nobody",
                        spec(filed, List.of(reset(0, SOON)), List.of(stop(0))),
                        Fault.noCall("TimerQueue", "wakeFor", "callForStale", 0, 0)),
                fault("a stop in the inbox calls nobody",
                        spec(List.of(Start.NEW, Start.FILED_FAR), List.of(arm(0, FAR), stop(0))),
                        Fault.noCall("TimerQueue", "tryDisarm", "callForStale", 0, 0)),
                fault("the first stale entry calls nobody", stops,
                        Fault.noCall("Compactor", "tidyUp", "callForStale", 0, 0)),
                fault("the owner looks at the count of stale entries only before it publishes", stops,
                        Fault.noCall("DueTimers", "publishSleep", "missesStale", 0, 0)),
                fault("the owner says last that it sleeps for long",
                        spec(List.of(Start.NEW, Start.FILED_FAR), List.of(arm(0, FAR), stop(0))),
                        Fault.saysSleepsLongLast()),
                fault("an owner that has found something leaves the gate published", arms,
                        Fault.noCall("DueTimers", "publishSleep", "setPollUntil", 0, 0)),
                fault("who moves the gate to AWAKE wakes nobody", arms,
                        Fault.noCall("WakeGate", "wakeFrom", "wakeFor", 0, 0)),
                fault("a poller that hands over does not look at the gates once more (T2)",
                        spec(List.of(Start.NEW, Start.NEW, Start.FILED),
                                List.of(arm(0, SOON), await(SOON), arm(1, BETWEEN))).workers(2),
                        Fault.noCall("Standby", "goToSleep", "isAnyGateBefore", 0, 0)),
                fault("a call does not unpark", arms, Fault.noCall("Seat", "wake", "unpark", 0, 0)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    @Timeout(300)
    void stepLeftOut_twoPreemptions_isFound(String what, Spec program, Fault... faults) {
        Search.Result r = search(program, new SearchLoader(faults)).preemptions(2).all(MOST);
        for (Fault f : faults) {
            assertTrue(f.isPlanted(), f::toString);
        }
        assertFalse(r.isClean(), () -> what + ": not found in " + r.executions() + " executions");
        figure("%s: found in %s%n%s", what, program, r.report());
    }

    /** The same programs without a fault, some of which are larger than those above. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    @Timeout(300)
    void nothingLeftOut_onePreemption_losesNoWakeUp(String what, Spec program, Fault... faults) {
        allAreClean(List.of(program), 1);
    }

    @Test
    @Timeout(300)
    void resetsAndHelp_onePreemption_loseNoWakeUp() {
        allAreClean(List.of(spec(List.of(Start.FILED), List.of(reset(0, SOON)), List.of(help())),
                spec(List.of(Start.FILED), List.of(reset(0, NOW)), List.of(help()))), 1);
    }
}
