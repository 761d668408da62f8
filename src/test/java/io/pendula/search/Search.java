package io.pendula.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedDeque;

/** Searches the executions of a program for one that goes wrong: all of them, or some by chance. */
final class Search implements Chooser {
    /*
     * All executions: depth first. An execution begins anew for each choice that is still to be tried, and goes on from
     * there as it happens to. Two things spare work, and neither leaves a state out. A state that was reached before is
     * not gone on from (see Execution on what a state is). And sleep sets, as in Godefroid, Partial-Order Methods for
     * the Verification of Concurrent Systems (1996): of two steps that do not touch the same variable, or both only
     * read it, one order is enough. A state may be reached again with other steps asleep: then those are tried that
     * slept each time before.
     *
     * With a bound on preemptions only those executions are tried in which a thread that could go on is held up at most
     * so often. Sleep sets would leave out some of these, so all orders are tried then. A state is gone on from again
     * if it is reached with fewer preemptions. What a single thread spins through for ever is no end, and not found.
     *
     * Which variables are contended is learned: when a new one is found, all begins anew.
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
        long enabled;
        long sleep;
        long done;
        long allowed;
        int chosen;
        int[] steps;
        long[] first;
        long[] second;
        boolean[] writes;
        /** Locks that the chosen step has released. */
        long[] released;

        int indexOf(int step) {
            for (int i = 0; i < steps.length; i++) {
                if (steps[i] == step) {
                    return i;
                }
            }
            throw new IllegalStateException("step " + step);
        }
    }

    private static final ConcurrentLinkedDeque<Carrier> FREE = new ConcurrentLinkedDeque<>();
    private static int carriers;
    private static final int NO_STEP = -1;
    static final int NO_BOUND = -1;
    /** How many executions more are looked at for a schedule with fewer changes of thread. */
    private static final int MORE_FOR_SHORTER = 100;

    private final SearchLoader loader;
    private final Program program;
    private final int spurious;
    private final long start;
    /** How many preemptions an execution may have; NO_BOUND for any number. */
    private int preemptions = NO_BOUND;
    private int preempted;

    private final Map<Long, Variable.Users> users = new HashMap<>();
    private final List<Node> stack = new ArrayList<>();
    private Map<Long, Long> visited = new HashMap<>();
    private List<Object> statics = List.of();
    private int depth;
    private long executions;
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

    /** Only executions with so many preemptions. */
    Search preemptions(int most) {
        preemptions = most;
        return this;
    }

    // ---- all ----

    /** Tries all; not complete if that would take more executions than {@code most}. */
    Result all(long most) {
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
                n.chosen = Long.numberOfTrailingZeros(left);
                return true;
            }
            stack.remove(stack.size() - 1);
        }
        return false;
    }

    // ---- by chance ----

    /** Tries executions for so long; each is drawn by the generator. */
    Result byChance(long seed, long millis) {
        warmUp();
        SplittableRandom seeds = new SplittableRandom(seed);
        long end = System.nanoTime() + millis * 1_000_000;
        do {
            random = seeds.split();
            Execution e = execute();
            if (e.violation() != null) {
                note(e);
            }
        } while (shortest == null && System.nanoTime() < end);
        random = null;
        return result(false);
    }

    // ---- the choice ----

    @Override
    public int choose(Execution e, long enabled, ModelThread current) {
        int step = replayed != null ? replayed[depth] : random != null ? draw(enabled, current)
                : chooseOfAll(e, enabled, current);
        depth++;
        boolean couldGoOn = current != null && (enabled & 1L << current.slot) != 0;
        if (step < Execution.CONSUME && couldGoOn && step != current.slot) {
            preempted++;
        }
        if (step != STOP) {
            choices.add(step);
            if (lastThread != (step & 7)) {
                switches++;
                lastThread = step & 7;
            }
        }
        return step;
    }

    /** Mostly the same thread goes on, so that others can do much meanwhile. */
    private int draw(long enabled, ModelThread current) {
        if (current != null && (enabled & 1L << current.slot) != 0 && random.nextInt(3) > 0) {
            return current.slot;
        }
        long rest = enabled;
        for (int n = random.nextInt(Long.bitCount(enabled)); n > 0; n--) {
            rest &= rest - 1;
        }
        return Long.numberOfTrailingZeros(rest);
    }

    private int chooseOfAll(Execution e, long enabled, ModelThread current) {
        if (preemptions != NO_BOUND) {
            return chooseWithinBound(e, enabled, current);
        }
        Node parent = depth == 0 ? null : stack.get(depth - 1);
        if (parent != null && depth <= stack.size()) {
            parent.released = e.released.stream().mapToLong(v -> v.key).toArray();
        }
        if (depth < stack.size()) {
            Node n = stack.get(depth);
            if (n.enabled != enabled) {
                throw new IllegalStateException("the program is not deterministic");
            }
            return n.chosen;
        }
        long sleep = 0;
        if (parent != null) {
            long others = (parent.sleep | parent.done) & ~(1L << parent.chosen);
            for (long rest = others; rest != 0; rest &= rest - 1) {
                int u = Long.numberOfTrailingZeros(rest);
                if (areIndependent(parent, u, parent.chosen)) {
                    sleep |= 1L << u;
                }
            }
        }
        sleep &= enabled;
        long allowed = enabled & ~sleep;
        long state = e.state();
        Long before = visited.get(state);
        if (before != null) {
            allowed = before & ~sleep & enabled;
            sleep &= before;
            visited.put(state, sleep);
        } else {
            visited.put(state, sleep);
        }
        if (allowed == 0) {
            return STOP;
        }
        Node n = new Node();
        n.enabled = enabled;
        n.sleep = sleep;
        n.allowed = allowed;
        n.chosen = current != null && (allowed & 1L << current.slot) != 0 ? current.slot
                : Long.numberOfTrailingZeros(allowed);
        int count = Long.bitCount(enabled);
        n.steps = new int[count];
        n.first = new long[count];
        n.second = new long[count];
        n.writes = new boolean[count];
        int i = 0;
        for (long rest = enabled; rest != 0; rest &= rest - 1, i++) {
            int step = Long.numberOfTrailingZeros(rest);
            n.steps[i] = step;
            n.first[i] = e.firstKey(step);
            n.second[i] = e.secondKey(step);
            n.writes[i] = step == Execution.TIME || e.firstWrites(step);
        }
        stack.add(n);
        return n.chosen;
    }

    private int chooseWithinBound(Execution e, long enabled, ModelThread current) {
        if (depth < stack.size()) {
            return stack.get(depth).chosen;
        }
        long left = preemptions - preempted;
        boolean goesOn = current != null && (enabled & 1L << current.slot) != 0;
        long state = e.state() + Variable.mix(goesOn ? current.slot + 1 : 0);
        Long before = visited.get(state);
        if (before != null && before >= left) {
            return STOP;
        }
        visited.put(state, left);
        Node n = new Node();
        n.enabled = enabled;
        n.allowed = goesOn && left == 0 ? enabled & ~Execution.OWN_STEPS | 1L << current.slot : enabled;
        n.chosen = goesOn ? current.slot : Long.numberOfTrailingZeros(n.allowed);
        stack.add(n);
        return n.chosen;
    }

    private static boolean areIndependent(Node n, int u, int chosen) {
        if (u == Execution.TIME || chosen == Execution.TIME || (u & 7) == (chosen & 7)) {
            return false;
        }
        int a = n.indexOf(u);
        int b = n.indexOf(chosen);
        if (n.first[a] == n.first[b] && n.first[a] != 0 && (n.writes[a] || n.writes[b])) {
            return false;
        }
        if (n.second[a] != 0 && (n.second[a] == n.second[b] || n.second[a] == n.first[b])
                || n.second[b] != 0 && n.second[b] == n.first[a]) {
            return false;
        }
        return n.released == null || Arrays.stream(n.released).noneMatch(r -> r == n.first[a] || r == n.second[a]);
    }
}
