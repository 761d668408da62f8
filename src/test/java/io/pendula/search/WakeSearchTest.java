package io.pendula.search;

import static io.pendula.Figures.figure;
import static io.pendula.search.Spec.BEFORE_LATE;
import static io.pendula.search.Spec.BETWEEN;
import static io.pendula.search.Spec.FAR;
import static io.pendula.search.Spec.LATE;
import static io.pendula.search.Spec.NOW;
import static io.pendula.search.Spec.SOON;
import static io.pendula.search.Spec.arm;
import static io.pendula.search.Spec.of;
import static io.pendula.search.Spec.reset;
import static io.pendula.search.Spec.stop;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.search.Spec.Call;
import io.pendula.search.Spec.Op;
import io.pendula.search.Spec.Owner;
import io.pendula.search.Spec.Stall;
import io.pendula.search.Spec.Start;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The protocol of sleeping and waking, as WakeGate, Standby, Worker, LoopWorker and TimerQueue have it, under the
 * interleavings of small programs. The classes of the library themselves run, see {@link Search}; what users may call
 * says {@link Programs}, what must hold {@code SearchedScheduler}.
 *
 * <p>A level is all programs of up to three users with so many calls in all, and with so many preemptions: moments at
 * which a thread is held up that could go on. Small levels are tried in each build, more with
 * {@code -Dpendula.full=true}, and the largest with {@code -Dsearch.minutes}, which then draws programs for so long.
 * A program that is drawn fails with its seed; {@code -Dsearch.seed} tries it again, alone.
 */
class WakeSearchTest {
    private static final String PROGRAM = "io.pendula.SearchedScheduler";
    private static final Integer MINUTES = Integer.getInteger("search.minutes");
    private static final boolean IS_FULL = MINUTES != null || Boolean.getBoolean("pendula.full");
    private static final Long SEED = Long.getLong("search.seed");
    private static final long CHANCE_MILLIS = MINUTES != null ? MINUTES * 60_000L : 20_000;
    /** Of a program that is drawn. A number, not a time: with the same seed it ends the same way. */
    private static final int EXECUTIONS_EACH = 300;
    /** More than any level has. */
    private static final long MOST = 20_000_000;

    static boolean isFull() {
        return IS_FULL;
    }

    private static Search search(Spec spec, SearchLoader loader) {
        return new Search(loader, loader.program(PROGRAM, spec), spec.spurious(), NOW);
    }

    // ---- all small programs ----

    private static Arguments level(Owner owner, int calls, int preemptions) {
        return Arguments.of(owner, calls, preemptions, false, 0);
    }

    private static Arguments stalling(Owner owner, int calls, int preemptions) {
        return Arguments.of(owner, calls, preemptions, true, 0);
    }

    /** One park may return without a cause. */
    private static Arguments spurious(Owner owner, int calls) {
        return Arguments.of(owner, calls, 0, false, 1);
    }

    static Stream<Arguments> levels() {
        Stream<Arguments> small = Stream.of(level(Owner.WORKER, 2, 0), level(Owner.WORKER, 1, 1),
                level(Owner.TWO_WORKERS, 1, 0), level(Owner.TWO_QUEUES, 1, 0), level(Owner.LOOP, 2, 0), stalling(Owner.WORKER, 1, 0),
                spurious(Owner.WORKER, 1), spurious(Owner.LOOP, 1));
        Stream<Arguments> full = !IS_FULL ? Stream.of() : Stream.of(level(Owner.WORKER, 3, 0),
                level(Owner.LOOP, 3, 0), level(Owner.LOOP, 1, 1), stalling(Owner.WORKER, 2, 0),
                stalling(Owner.TWO_WORKERS, 1, 0), stalling(Owner.TWO_QUEUES, 1, 0),
                level(Owner.THREE_QUEUES, 1, 0), spurious(Owner.TWO_WORKERS, 1));
        Stream<Arguments> large = MINUTES == null ? Stream.of() : Stream.of(level(Owner.WORKER, 4, 0),
                level(Owner.LOOP, 4, 0), level(Owner.WORKER, 2, 1), level(Owner.WORKER, 1, 2),
                level(Owner.LOOP, 2, 1), level(Owner.LOOP, 1, 2),
                level(Owner.TWO_WORKERS, 2, 0), level(Owner.TWO_WORKERS, 1, 1));
        return Stream.of(small, full, large).flatMap(s -> s);
    }

    @ParameterizedTest(name = "{0}, {1} calls, {2} preemptions, stalls: {3}, {4} spurious")
    @MethodSource("levels")
    @Timeout(1200)
    void allPrograms_ofALevel_loseNoWakeUp(Owner owner, int calls, int preemptions, boolean stalls, int spurious) {
        long began = System.nanoTime();
        SearchLoader loader = new SearchLoader();
        long executions = 0;
        long states = 0;
        for (Spec p : Programs.all(owner)) {
            Spec s = (stalls ? p.stalling() : p).calls(calls).spurious(spurious);
            Search.Result r = clean(s, loader, preemptions);
            executions += r.executions();
            states += r.states();
        }
        figure("%s%s, %d calls, %d preemptions, %d spurious: %d executions, %d states, %.1f s", owner,
                stalls ? " that stalls" : "", calls, preemptions, spurious, executions, states,
                (System.nanoTime() - began) / 1e9);
    }

    private static Search.Result clean(Spec s, SearchLoader loader, int preemptions) {
        Search.Result r = search(s, loader).all(preemptions, MOST);
        assertTrue(r.isClean(), () -> s + ": " + r.report());
        assertTrue(r.complete(), () -> s + ": not all were tried");
        return r;
    }

    /** One is drained while the other arrives; what is stopped arrives while a long sleep is planned. */
    @Test
    @Timeout(300)
    void twoCallsBesideALoop_onePreemption_loseNoWakeUp() {
        SearchLoader loader = new SearchLoader();
        clean(spec(Owner.LOOP, 2, List.of(Start.NEW, Start.NEW), arm(0, NOW), arm(1, SOON)), loader, 1);
        clean(spec(Owner.LOOP, 2, List.of(Start.NEW, Start.FIRED), arm(0, NOW), reset(1, SOON)), loader, 1);
        clean(spec(Owner.LOOP, 2, ONE, arm(0, FAR), stop(0)), loader, 1);
    }

    /** A hook that throws wakes nobody: the gate is raised, so that the next thread that arms tries again. */
    @Test
    @Timeout(300)
    void wakeupThrows_onePreemption_nextArmingWakesTheLoop() {
        clean(THROWS, new SearchLoader(), 1);
        clean(THROWS_AT_A_LAZY_LOOP, new SearchLoader(), 1);
    }

    @Test
    @Timeout(300)
    void stopsBeyondTheBound_onePreemption_areSwept() {
        clean(STOPS, new SearchLoader(), 1);
    }

    /** The timer is filed and stopped between the push of one reset and its wake; the other brings its entry back to life. */
    @Test
    @EnabledIf("isFull")
    @Timeout(300)
    void twoResetsAndAStop_onePreemption_loseNoWakeUp() {
        clean(worker(4, FILED, stop(0), reset(0, LATE), reset(0, SOON), of(Op.HELP)), new SearchLoader(), 1);
    }

    // ---- larger ones by chance ----

    @Test
    @Timeout(7200)
    void drawnPrograms_byChance_loseNoWakeUp() {
        long first = SEED != null ? SEED : System.nanoTime();
        SearchLoader loader = new SearchLoader();
        long end = System.nanoTime() + CHANCE_MILLIS * 1_000_000;
        long programs = 0;
        do {
            long seed = first + programs;
            Search.Result r = drawn(seed, loader);
            assertTrue(r.isClean(), () -> "-Dsearch.seed=" + seed + ": " + program(seed) + ": " + r.report());
            programs++;
        } while (SEED == null && System.nanoTime() < end);
        figure("%d programs by chance, %d executions each, from -Dsearch.seed=%d", programs, EXECUTIONS_EACH, first);
    }

    private static Spec program(long seed) {
        return Programs.drawn(new SplittableRandom(seed));
    }

    private static Search.Result drawn(long seed, SearchLoader loader) {
        return search(program(seed), loader).byChance(seed, EXECUTIONS_EACH);
    }

    @Test
    @Timeout(300)
    void seed_triedAgain_endsTheSameWay() {
        Fault fault = Fault.noCall("Worker", "isCalled", "needsLookBefore", 0, 0);
        long seed = 0;
        Search.Result found;
        do {
            found = drawn(++seed, new SearchLoader(fault));
        } while (found.isClean());
        Search.Result again = drawn(seed, new SearchLoader(fault));
        assertEquals(found.executions(), again.executions());
        assertEquals(found.report(), again.report());
    }

    // ---- what is left out is found ----

    private static final List<Start> ONE = List.of(Start.NEW);
    private static final List<Start> FILED = List.of(Start.FILED);
    private static final List<Start> FILED_AND_NEW = List.of(Start.FILED, Start.NEW);

    /**
     * The poller is held up by 0, so the guard takes over, runs 2, and sleeps. The former poller ends 0 and goes on in its
     * batch, with 1, which has just been pushed, and blocks there. What is armed after that must wake the new poller.
     */
    private static final Spec FORMER_POLLER = spec(Owner.TWO_WORKERS, 2, List.of(Start.FILED, Start.NEW, Start.FILED),
            arm(1, NOW).during(0), reset(2, LATE).during(1)).stalling(Stall.SHORT, Stall.LONG).batch(2);

    /**
     * Worker 1 has more to run at home than a batch, and blocks in its second callback. The poller, which has left that
     * queue to it and made it the poller, must look again.
     */
    private static final Spec LOADED = spec(Owner.TWO_QUEUES, 0, List.of(Start.FILED, Start.FILED, Start.NEW, Start.FILED,
            Start.NEW, Start.FILED)).stalling(Stall.BRIEF, Stall.NONE, Stall.NONE, Stall.LONG);

    /** A thread drains what another has pushed, while the worker looks. */
    private static final Spec DRAINED = worker(2, ONE, arm(0, SOON), of(Op.HELP));

    private static final Spec THROWS = spec(Owner.LOOP, 3, List.of(Start.NEW, Start.NEW), arm(0, SOON), arm(1, LATE), of(Op.THROW));

    private static final Spec THROWS_AT_A_LAZY_LOOP = spec(Owner.LAZY_LOOP, 3, FILED_AND_NEW, stop(0), arm(1, LATE), of(Op.THROW))
            .spurious(1);

    /** Each stale entry is one too many. */
    private static final Spec STOPS = worker(2, List.of(Start.FILED, Start.FILED_LATE), stop(0), stop(1)).staleFloor(0);

    /** So many calls, out of few: a program of a level that may be too large to be tried as a whole. */
    private static Spec spec(Owner owner, int most, List<Start> timers, Call... calls) {
        return new Spec(owner, timers, List.of(calls), most, List.of(), 0, 1);
    }

    private static Spec worker(int most, List<Start> timers, Call... calls) {
        return spec(Owner.WORKER, most, timers, calls);
    }

    private static Arguments fault(String what, Spec program, Fault... faults) {
        return Arguments.of(what, 1, program, faults);
    }

    /** Found with two preemptions. */
    private static Arguments slow(String what, Spec program, Fault... faults) {
        return Arguments.of(what, 2, program, faults);
    }

    static Stream<Arguments> faults() {
        Spec arms = worker(1, ONE, arm(0, SOON));
        Stream<Arguments> small = Stream.of(
                fault("no last look at the queues before the park (WG-R1)", arms,
                        Fault.noCall("Worker", "isCalled", "needsLookBefore", 0, 0)),
                fault("no last look at all before the park", arms,
                        Fault.noCall("Worker", "sleep", "isCalled", 0, 0)),
                fault("an arming wakes nobody", arms, Fault.noCall("TimerQueue", "arm", "wakeIfBefore", 0, 0)),
                fault("an arming looks at the gate, then pushes", arms, Fault.looksBeforePush()),
                fault("a reset of a timer in the inbox wakes nobody",
                        worker(2, FILED_AND_NEW, arm(1, LATE), reset(1, SOON)),
                        Fault.noCall("TimerQueue", "tryReset", "wakeIfBefore", 1, 0)),
                fault("a reset of a timer that was stopped in the inbox wakes nobody",
                        worker(3, FILED_AND_NEW, arm(1, LATE), stop(1), reset(1, SOON)),
                        Fault.noCall("TimerQueue", "tryReset", "wakeIfBefore", 0, 0)),
                fault("a reset that pushes wakes nobody", worker(1, FILED, reset(0, SOON)),
                        Fault.noCall("TimerQueue", "tryPost", "wakeFor", 0, 0)),
                fault("a reset wakes for its own deadline, not for that of the word",
                        worker(3, FILED_AND_NEW, arm(1, SOON), reset(0, BETWEEN), reset(0, NOW)),
                        Fault.wakesForOwnDeadline()),
                fault("a poller that goes to sleep publishes nothing (SB-P1)", arms,
                        Fault.noCall("Standby", "sleepAsPoller", "publish", 1, 0)),
                fault("a poller that begins a callback publishes nothing (SB-P2)", FORMER_POLLER,
                        Fault.noCall("Standby", "ensureGuard", "publish", 0, 0)),
                fault("who moves the gate to AWAKE calls nobody", arms,
                        Fault.noCall("WakeGate", "wakeIfBefore", "call", 0, 0)),
                fault("a drain tells nobody what had arrived (WG-D1)", DRAINED,
                        Fault.noCall("DueTimers", "passArrivals", "setNextWhen", 0, 0)),
                slow("a look reads when what was filed is due, then what has arrived (WG-R1)", DRAINED,
                        Fault.readsFirst("DueTimers", "lookAt", "nextWhen")),
                fault("the guard leaves the role to a poller that is held up",
                        spec(Owner.TWO_WORKERS, 1, List.of(Start.FILED, Start.FILED_LATE), reset(1, BEFORE_LATE))
                                .stalling(),
                        Fault.noCall("Standby", "goToSleep", "isHeldUp", 0, 0)),
                fault("a former poller takes the gate up", FORMER_POLLER, Fault.takesTheGateUp()),
                fault("a poller that hands over to a loaded worker sleeps for longer than GRACE (SB-L1)", LOADED,
                        Fault.lastArgument("Standby", "sleepAsPoller", "sleeps", 0, FAR)),
                fault("an arming tells the loop of no arrival", spec(Owner.LOOP, 1, ONE, arm(0, SOON)),
                        Fault.noCall("TimerQueue", "wakeIfBefore", "lowerArrivals", 0, 0)),
                fault("a close wakes no worker", worker(1, FILED, of(Op.CLOSE)),
                        Fault.noCall("SchedulerEngine", "wakeAll", "call", 0, 0)),
                fault("a close wakes no loop", spec(Owner.LOOP, 1, FILED, of(Op.CLOSE)),
                        Fault.noCall("SchedulerEngine", "wakeAll", "call", 1, 0)),
                slow("a close does not wait for resets (QC-C2)",
                        worker(2, FILED, reset(0, SOON), of(Op.CLOSE)),
                        Fault.noCall("QueueCloser", "close", "awaitResets", 0, 0)),
                slow("a close does not wait for resets, and one whose push is refused does not take it back",
                        worker(2, List.of(Start.FIRED), reset(0, SOON), of(Op.CLOSE)),
                        Fault.noCall("QueueCloser", "close", "awaitResets", 0, 0),
                        Fault.noCall("TimerQueue", "tryPost", "takeBack", 0, 0)),
                fault("a close does not look at what runs (QC-C6)",
                        worker(2, FILED, reset(0, LATE), of(Op.CLOSE)).stalling(),
                        Fault.noCall("Engine", "closeAll", "forEachRunning", 0, 0)),
                fault("a close does not wait for a reset of a timer that runs",
                        worker(2, FILED, reset(0, LATE), of(Op.CLOSE)).stalling(),
                        Fault.noCall("QueueCloser", "close", "awaitResets", 0, 0)),
                fault("a call does not unpark", arms, Fault.noCall("Seat", "wake", "unpark", 0, 0)),
                slow("a look before the park does not ask for a sweep", STOPS,
                        Fault.noCall("DueTimers", "needsLookBefore", "wantsSweep", 0, 0)),
                fault("a wakeup that threw passes for one that woke the loop", THROWS,
                        Fault.noCall("LoopWorker", "call", "set", 0, 0)),
                fault("a wakeup that threw lowers the gate of a loop that waits longer by now", THROWS_AT_A_LAZY_LOOP,
                        Fault.lastArgument("LoopWorker", "call", "set", 0, BETWEEN)));
        Stream<Arguments> large = !IS_FULL ? Stream.of() : Stream.of(
                slow("a poller that gives its role to the guard does not look at the queues once more (SB-T1)",
                        spec(Owner.TWO_WORKERS, 1, List.of(Start.NEW, Start.FILED, Start.FILED_LATE),
                                arm(0, BEFORE_LATE)),
                        Fault.noCall("Standby", "sleepAsPoller", "needsLookBefore", 0, 0)),
                slow("a loop that plans its wait does not ask whether the scheduler was closed",
                        spec(Owner.LOOP, 2, FILED, of(Op.CLOSE), of(Op.HELP)),
                        Fault.noCall("LoopWorker", "nanosUntilNext", "seesClose", 0, 0)),
                slow("a run that ends hands its arming to nobody",
                        worker(2, FILED, reset(0, LATE), of(Op.CLOSE)),
                        Fault.noCall("TimerQueue", "endRun", "handToCloser", 0, 0)));
        return Stream.concat(small, large);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    @Timeout(300)
    void stepLeftOut_fewPreemptions_isFound(String what, int preemptions, Spec program, Fault... faults) {
        Search.Result r = search(program, new SearchLoader(faults)).all(preemptions, MOST);
        for (Fault f : faults) {
            assertTrue(f.isPlanted(), f::toString);
        }
        assertFalse(r.isClean(), () -> what + ": not found in " + r.executions() + " executions");
        figure("%s: found in %s after %d executions%n%s", what, program, r.executions(), r.report());
    }

    /** The same programs without a fault, some of which are larger than those of the levels. */
    @Test
    @EnabledIf("isFull")
    @Timeout(600)
    void nothingLeftOut_fewPreemptions_losesNoWakeUp() {
        SearchLoader loader = new SearchLoader();
        Map<Spec, Integer> programs = new LinkedHashMap<>();
        faults().map(Arguments::get).forEach(f -> programs.merge((Spec) f[2], (Integer) f[1], Math::max));
        programs.forEach((s, preemptions) -> {
            Search.Result r = clean(s, loader, preemptions);
            figure("%s, %d preemptions: %d executions, %d states", s, preemptions, r.executions(), r.states());
        });
    }
}
