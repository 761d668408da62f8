package io.pendula.search;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedDeque;

/** Searches the executions of a program for one that goes wrong: all of them, or some by chance. */
final class Search implements Chooser {
    /*
     * All executions: depth first. An execution begins anew for each choice that is still to be tried, and goes on from
     * there as it happens to. Only those are tried in which a thread that could go on is held up at most so often, a
     * preemption each: without a bound there is no end, as an arming thread that looks at the gate again may find it
     * published again each time. Which user makes a call does not matter, and is no choice. Three things spare work,
     * and none of them leaves a state out:
     *
     * - A state that was reached before, with as many preemptions and calls left, is not gone on from (see Execution on
     *   what a state is).
     * - Where a thread goes on that was held up, its step is skipped if it could have been made before; see Trail.
     * - TIME is tried before calls, so that a state is met first with many calls left.
     *
     * What a single thread spins through for ever is no end, and not found. Which variables are contended is learned:
     * when a new one is found, all begins anew.
     */

    /** What a search has found. */
    record Result(long executions, long states, boolean complete, String violation, List<Execution.Step> schedule) {
        boolean isClean() {
            return violation == null;
        }

        /** The schedule in words, one line for what a thread does without a break. */
        String report() {
            StringBuilder s = new StringBuilder(violation).append('\n');
            String last = null;
            for (Execution.Step step : schedule) {
                if (!step.thread().equals(last)) {
                    s.append(last == null ? "" : "\n").append("    ")
                            .append(step.thread().isEmpty() ? "" : step.thread() + ": ").append(step.what());
                    last = step.thread();
                } else {
                    s.append("; ").append(step.what());
                }
            }
            return s.toString();
        }
    }

    /** A choice, and what is left of it to try. */
    private static final class Node {
        long done;
        long allowed;
        int chosen;
    }

    private static final ConcurrentLinkedDeque<Carrier> FREE = new ConcurrentLinkedDeque<>();
    private static int carriers;
    private static final int NO_STEP = -1;
    /** How many executions more are looked at for a schedule with fewer changes of thread. */
    private static final int MORE_FOR_SHORTER = 100;

    private final SearchLoader loader;
    private final Program program;
    private final int spurious;
    private final long start;
    /** How many preemptions an execution may have. */
    private int preemptions;
    private int preempted;

    private final Map<Long, Variable.Users> users = new HashMap<>();
    private final List<Node> stack = new ArrayList<>();
    private Map<Long, Long> visited = new HashMap<>();
    private List<Object> statics = List.of();
    private int depth;
    private long executions;
    private final Trail trail = new Trail();
    private final List<Integer> choices = new ArrayList<>();
    private int switches;
    private int lastThread;

    // Set while one is replayed, or chosen by chance.
    private int[] replayed;
    private SplittableRandom random;

    private String violation;
    private int[] shortest;
    private int fewestSwitches = Integer.MAX_VALUE;

    Search(SearchLoader loader, Program program, int spurious, long start) {
        this.loader = loader;
        this.program = program;
        this.spurious = spurious;
        this.start = start;
    }

    // ---- carriers ----

    Carrier freeCarrier() {
        Carrier c = FREE.pollFirst();
        if (c == null) {
            synchronized (Search.class) {
                c = new Carrier(carriers++);
            }
        }
        return c;
    }

    void isFree(Carrier c) {
        FREE.addFirst(c);
    }

    Variable.Users usersOf(long key) {
        return users.computeIfAbsent(key, k -> new Variable.Users());
    }

    boolean isTracing() {
        return replayed != null;
    }

    // ---- all ----

    /** Tries all with so many preemptions; not complete if that would take more executions than {@code most}. */
    Result all(int upTo, long most) {
        preemptions = upTo;
        warmUp();
        long after = 0;
        boolean complete = false;
        while (executions < most) {
            Execution e = execute();
            if (e.restarts) {
                stack.clear();
                visited.clear();
                shortest = null; // its steps were others
                fewestSwitches = Integer.MAX_VALUE;
                after = 0;
                continue;
            }
            if (e.violation() != null) {
                note(e);
            }
            if (shortest != null && after++ > MORE_FOR_SHORTER) {
                break;
            }
            if (!backtrack()) {
                complete = true;
                break;
            }
        }
        return result(complete);
    }

    /** Classes are loaded, and objects made that outlive the execution. */
    private void warmUp() {
        random = new SplittableRandom(1);
        for (int i = 0; i < 5; i++) {
            statics = loader.statics();
            execute();
        }
        random = null;
        executions = 0;
    }

    private Execution execute() {
        executions++;
        depth = 0;
        choices.clear();
        trail.clear();
        switches = 0;
        preempted = 0;
        lastThread = NO_STEP;
        Execution e = new Execution(this, this, spurious, start);
        e.run(program, statics);
        return e;
    }

    private void note(Execution e) {
        if (switches < fewestSwitches) {
            fewestSwitches = switches;
            violation = e.violation();
            shortest = choices.stream().mapToInt(Integer::intValue).toArray();
        }
    }

    private Result result(boolean complete) {
        long states = visited.size();
        if (shortest == null) {
            return new Result(executions, states, complete, null, List.of());
        }
        long n = executions;
        replayed = shortest;
        Execution e = execute();
        if (e.violation() == null) {
            throw new IllegalStateException("not found again: " + violation);
        }
        return new Result(n, states, complete, e.violation(), e.steps);
    }

    private boolean backtrack() {
        while (!stack.isEmpty()) {
            Node n = stack.get(stack.size() - 1);
            n.done |= 1L << n.chosen;
            long left = n.allowed & ~n.done;
            if (left != 0) {
                n.chosen = first(left);
                return true;
            }
            stack.remove(stack.size() - 1);
        }
        return false;
    }

    // ---- by chance ----

    /** Tries so many executions; each is drawn by the generator. */
    Result byChance(long seed, int number) {
        warmUp();
        SplittableRandom seeds = new SplittableRandom(seed);
        for (int n = 0; n < number && shortest == null; n++) {
            random = seeds.split();
            Execution e = execute();
            if (e.violation() != null) {
                note(e);
            }
        }
        random = null;
        return result(false);
    }

    // ---- the choice ----

    @Override
    public int choose(Execution e, long enabled, ModelThread current) {
        trail.stepEnded(e);
        int step = replayed != null ? replayed[depth] : random != null ? draw(enabled, current)
                : chooseOfAll(e, enabled, current);
        depth++;
        if (step != STOP && (preempting(enabled, current) & 1L << step) != 0) {
            preempted++;
        }
        if (step != STOP) {
            trail.add(e, step, enabled, current);
            choices.add(step);
            int thread = step < Execution.CALL ? step & 7 : step;
            if (lastThread != thread) {
                switches++;
                lastThread = thread;
            }
        }
        return step;
    }

    /** The steps that hold up a thread that could go on. */
    private static long preempting(long enabled, ModelThread current) {
        long steps = (enabled & Execution.OWN_STEPS) == 0 ? 0 : 1L << Execution.TIME;
        return current == null || (enabled & 1L << current.slot) == 0 ? steps
                : steps | Execution.CALLS | Execution.OWN_STEPS & ~(1L << current.slot);
    }

    /** Mostly the same thread goes on, so that others can do much meanwhile. All calls together are as likely as a step. */
    private int draw(long enabled, ModelThread current) {
        if (current != null && (enabled & 1L << current.slot) != 0 && random.nextInt(4) > 0) {
            return current.slot;
        }
        long calls = enabled & Execution.CALLS;
        long others = enabled & ~calls;
        boolean isCall = calls != 0 && random.nextInt(1 + Long.bitCount(others)) == 0;
        long rest = isCall ? calls : others;
        for (int n = random.nextInt(Long.bitCount(rest)); n > 0; n--) {
            rest &= rest - 1;
        }
        return Long.numberOfTrailingZeros(rest);
    }

    private int chooseOfAll(Execution e, long enabled, ModelThread current) {
        if (depth < stack.size()) {
            return stack.get(depth).chosen;
        }
        if (trail.isTwin()) {
            return STOP;
        }
        boolean goesOn = current != null && (enabled & 1L << current.slot) != 0;
        if (!isNew(e.state() + Variable.mix(goesOn ? current.slot + 1 : 0), preemptions - preempted, e.callsLeft())) {
            return STOP;
        }
        Node n = new Node();
        n.allowed = (preempted < preemptions ? enabled : enabled & ~preempting(enabled, current)) & ~trail.twins(e, enabled);
        if (n.allowed == 0) {
            return STOP;
        }
        n.chosen = goesOn ? current.slot : first(n.allowed);
        stack.add(n);
        return n.chosen;
    }

    /**
     * Whether no visit of this state was allowed as much as this one: a visit notes, for each number of preemptions up
     * to its own, how many calls were left.
     */
    private boolean isNew(long state, int preemptionsLeft, int callsLeft) {
        long before = visited.getOrDefault(state, 0L);
        if ((before >> 4 * preemptionsLeft & 15) > callsLeft) {
            return false;
        }
        long now = before;
        for (int p = 0; p <= preemptionsLeft; p++) {
            long most = Math.max(before >> 4 * p & 15, callsLeft + 1);
            now = now & ~(15L << 4 * p) | most << 4 * p;
        }
        visited.put(state, now);
        return true;
    }

    /** Time first: what is reached without a call is then known with more calls left. */
    private static int first(long steps) {
        return (steps & 1L << Execution.TIME) != 0 ? Execution.TIME : Long.numberOfTrailingZeros(steps);
    }
}
