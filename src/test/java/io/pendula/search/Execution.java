package io.pendula.search;

import java.util.ArrayList;
import java.util.List;

/** One execution of a program, step by step, as a chooser says. */
public final class Execution extends Turns {
    /*
     * A thread makes a step when it has its turn: the access that it has announced, and all that follows up to its
     * next access of a variable that another thread uses too. So exactly one thread runs at a time, and memory is
     * sequentially consistent: weaker modes are not searched, jcstress tests those.
     *
     * A state is told by what each thread has seen, by the values of the variables, and by the time. What a thread does
     * next follows from what it has seen. Where a thread looks back no more, at the beginning of a worker's round or
     * after a call, the program says what it keeps, and what it has seen is forgotten. Fields that no hook watches
     * belong to one thread, or are guarded by a lock. What a lock guards is told when it is released, by the program or
     * by all that the owner had seen.
     *
     * Users call the library: which call comes next is a choice, too, and any user that is idle makes it. So one search
     * covers all programs of so many calls, and what threads that are alike do is tried once.
     *
     * Steps are numbered: a thread's own steps by its slot, from CONSUME the loss of its permit to a wait for a lock,
     * from SPURIOUS a return from park without a cause, from CALL the beginning of a call, and TIME, which passes until
     * the next sleep ends: when no thread can go on, or all that could are held up.
     */
    static final int MAX_THREADS = 8;
    static final int CONSUME = 8;
    static final int SPURIOUS = 16;
    static final int CALL = 24;
    static final int TIME = 63;
    static final long OWN_STEPS = (1L << CONSUME) - 1;
    static final long CALLS = -1L << CALL & ~(1L << TIME);
    private static final int MAX_STEPS = 20_000;
    private static final int MAX_ACCESSES = 100_000;

    /** One that was made; for people. */
    record Step(String thread, String what) {}

    private final Chooser chooser;
    private final Search search;
    private Program.World world;

    private long now;
    /** When the system has let those go on that it had held up last. */
    private long heldUntil;
    int spuriousLeft;
    int batch = 1;
    int staleFloor;
    private int callsLeft;
    /** Locks that were released since the last choice, though that was no step of its own. */
    final List<Variable> released = new ArrayList<>();
    final List<Step> steps = new ArrayList<>();
    private int made;
    private int accesses;

    /** A variable was found to be contended that was not known to be. */
    boolean restarts;
    private String violation;
    /** The search itself has failed. */
    private Throwable broken;
    /** While a check runs: the thread whose turn it is, or null. */
    static ModelThread muted;
    Execution(Search search, Chooser chooser, int spurious, long start) {
        super(search, search::usersOf);
        this.search = search;
        this.chooser = chooser;
        this.spuriousLeft = spurious;
        this.now = start;
    }

    // ---- the program ----

    /**
     * Adds a thread.
     *
     * @param name for people
     * @param body what it does
     */
    public void add(String name, Runnable body) {
        add(name, new Thread(name), body);
    }

    /**
     * Adds a thread that the program knows.
     *
     * @param face what the program takes it for; is never started
     * @param body what it does
     */
    public void add(Thread face, Runnable body) {
        add(face.getName(), face, body);
    }

    ModelThread add(String name, Thread face, Runnable body) {
        ModelThread t = new ModelThread(this, count, name, face, body);
        threads[count++] = t;
        know(face, Variable.mix(0x7ac3 + t.slot));
        if (world != null && !Coroutine.AVAILABLE) {
            launch(t);
        }
        return t;
    }

    /**
     * Adds threads that make the calls.
     *
     * @param users how many threads
     * @param calls how many calls they make in all, at most
     */
    public void addUsers(int users, int calls) {
        callsLeft = calls;
        for (int i = 0; i < users; i++) {
            String name = "user " + i;
            add(name, new Thread(name), this::callAgainAndAgain).kind = ModelThread.Kind.IDLE;
        }
    }

    /** Workers run so many callbacks before they leave a queue for another. */
    public void setBatch(int callbacks) {
        batch = callbacks;
    }

    /** Up to so many stale entries are never swept. */
    public void setStaleFloor(int entries) {
        staleFloor = entries;
    }

    private void callAgainAndAgain() {
        ModelThread me = Hooks.me();
        for (;;) {
            world.call(me.call);
            forget(me, 1);
            me.kind = ModelThread.Kind.IDLE;
            announce(me);
        }
    }

    int callsLeft() {
        return callsLeft;
    }

    private ModelThread idleUser() {
        for (int i = 0; i < count; i++) {
            if (threads[i].kind == ModelThread.Kind.IDLE) {
                return threads[i];
            }
        }
        return null;
    }

    /**
     * Finds a thread that has not ended, and is parked.
     *
     * @return its name, or null
     */
    public String parked() {
        for (int i = 0; i < count; i++) {
            if (!threads[i].ended && threads[i].kind == ModelThread.Kind.PARK) {
                return threads[i].name;
            }
        }
        return null;
    }

    /** The present instant. */
    public long now() {
        return now;
    }

    ModelThread threadOf(Thread face) {
        for (int i = 0; i < count; i++) {
            if (threads[i].face == face) {
                return threads[i];
            }
        }
        return null;
    }

    /** What is wrong, or null. */
    String violation() {
        return violation;
    }

    // ---- the run as a whole ----

    void run(Program program, List<Object> statics) {
        Hooks.building = this;
        try {
            for (Object o : statics) {
                keyOf(null, o);
            }
            world = program.begin(this);
        } finally {
            Hooks.building = null;
        }
        if (Coroutine.AVAILABLE) {
            runCoroutines();
        } else {
            runCarriers();
        }
        if (broken != null) {
            throw new IllegalStateException(broken);
        }
    }

    void violate(String what) {
        if (violation == null && !restarts) {
            violation = what;
        }
    }

    void failed(ModelThread me, Throwable e) {
        if (!aborting) {
            StringBuilder at = new StringBuilder();
            for (int i = 0; i < Math.min(8, e.getStackTrace().length); i++) {
                at.append("\n        at ").append(e.getStackTrace()[i]);
            }
            violate(me.name + " throws " + e + at);
        }
    }

    void ended(ModelThread me) {
        if (aborting) {
            return;
        }
        if (violation != null) {
            finish();
            return;
        }
        ModelThread n = next(me);
        if (n == null) {
            finish();
        } else {
            give(n);
        }
    }

    // ---- steps ----

    /** The thread has announced what it does next; returns when it has its turn. */
    private void announce(ModelThread me) {
        ModelThread n = violation != null ? null : next(me);
        if (n == null) {
            finish();
            throw ABORT;
        }
        if (n != me) {
            give(n);
            awaitTurn(me);
        }
    }

    private long enabled() {
        long enabled = 0;
        for (int i = 0; i < count; i++) {
            ModelThread t = threads[i];
            if (!t.ended) {
                if (t.isReady(now)) {
                    enabled |= 1L << i;
                } else if (t.kind == ModelThread.Kind.PARK && spuriousLeft > 0) {
                    enabled |= 1L << SPURIOUS + i;
                } else if (t.kind == ModelThread.Kind.LOCK && t.hasPermit && ((LockVariable) t.variable).isParking) {
                    enabled |= 1L << CONSUME + i;
                }
            }
        }
        return callsLeft > 0 && idleUser() != null ? enabled | world.calls() << CALL & CALLS : enabled;
    }

    /** The thread that goes on; null if none does, or none need to. */
    @Override
    ModelThread next(ModelThread current) {
        for (;;) {
            long enabled = enabled();
            long then = wakesAt();
            if ((enabled & OWN_STEPS) == 0) {
                String wrong = check(then);
                if (wrong != null) {
                    violate(wrong);
                    return null;
                }
            }
            if (then != Long.MAX_VALUE) {
                enabled |= 1L << TIME;
            } else if (enabled == 0) {
                return null;
            }
            int step;
            try {
                step = chooser.choose(this, enabled, current);
            } catch (RuntimeException | Error e) {
                broken = e;
                return null;
            }
            released.clear();
            if (step == Chooser.STOP) {
                return null;
            }
            if (++made > MAX_STEPS) {
                violate("the program does not end");
                return null;
            }
            if (search.isTracing()) {
                steps.add(describe(step, then));
            }
            if (step == TIME) {
                if ((enabled & OWN_STEPS) != 0) {
                    heldUntil = then;
                }
                now = then;
            } else if (step >= CALL) {
                callsLeft--;
                ModelThread t = idleUser();
                t.kind = ModelThread.Kind.BEGIN;
                t.call = step - CALL;
                t.see(step);
                return t;
            } else {
                ModelThread t = threads[step & 7];
                if (step < CONSUME) {
                    return t;
                }
                if (step >= SPURIOUS) {
                    spuriousLeft--;
                    t.wakeAt = now;
                    return t;
                }
                setPermit(t, false);
            }
        }
    }

    private long wakesAt() {
        long then = Long.MAX_VALUE;
        for (int i = 0; i < count; i++) {
            if (!threads[i].ended && threads[i].isTimed() && threads[i].wakeAt > now) {
                then = Math.min(then, threads[i].wakeAt);
            }
        }
        return then;
    }

    private String check(long then) {
        for (int i = 0; i < count; i++) {
            ModelThread t = threads[i];
            if (!t.ended && t.kind == ModelThread.Kind.LOCK && then == Long.MAX_VALUE) {
                return "deadlock: " + t.name + " waits for " + t.variable.name;
            }
        }
        try {
            return muted(() -> world.atRest(heldUntil, then));
        } catch (RuntimeException | Error e) {
            return "the check throws " + e;
        }
    }

    /** What is no part of the program. */
    private <T> T muted(java.util.function.Supplier<T> look) {
        ModelThread me = Hooks.me();
        Hooks.setMe(null);
        muted = me;
        try {
            return look.get();
        } finally {
            Hooks.setMe(me);
        }
    }

    private Step describe(int step, long then) {
        if (step == TIME) {
            return new Step("", "time passes until " + then);
        }
        if (step >= CALL) {
            return new Step(idleUser().name, world.nameOf(step - CALL));
        }
        ModelThread t = threads[step & 7];
        if (step >= SPURIOUS) {
            return new Step(t.name, "returns from park without a cause");
        }
        if (step >= CONSUME) {
            return new Step(t.name, "waits for " + t.variable.name + " and loses its permit");
        }
        return new Step(t.name, switch (t.kind) {
            case BEGIN -> "begins";
            case PARK -> t.hasPermit ? "has its permit, so park returns" : "park has timed out";
            case SLEEP -> "has waited";
            case LOCK -> "locks " + t.variable.name + Places.at(t.place);
            case WAIT -> "has been notified";
            case ACCESS -> Places.what(t.place, t.variable.name);
            case IDLE -> throw new IllegalStateException("an idle user makes a step");
        });
    }

    // ---- what the search asks: the footprint of a step, and the state ----

    long firstKey(int step) {
        if (step >= CALL) {
            return 0;
        }
        ModelThread t = threads[step & 7];
        if (step >= CONSUME || t.kind == ModelThread.Kind.PARK) {
            return t.permit.key;
        }
        return t.kind == ModelThread.Kind.BEGIN || t.kind == ModelThread.Kind.SLEEP ? 0 : t.variable.key;
    }

    boolean firstWrites(int step) {
        ModelThread t = threads[step & 7];
        return step >= CONSUME || t.kind != ModelThread.Kind.ACCESS || t.writes;
    }

    /** Of a lost permit the lock, of a spurious return their number; else 0. */
    long secondKey(int step) {
        return step < CONSUME || step >= CALL ? 0 : step >= SPURIOUS ? 1 : threads[step & 7].variable.key;
    }

    long state() {
        long s = Variable.mix(now) + Variable.mix(heldUntil + 131) + Variable.mix(memory) + Variable.mix(spuriousLeft + 77)
                + Variable.mix(world.state() + 5);
        for (int i = 0; i < count; i++) {
            ModelThread t = threads[i];
            // A thread that waits for its turn to begin has seen nothing, as one that has begun.
            s += Variable.mix(t.seen + (t.ended ? 1 : 0) + 2L * t.kind.ordinal() + (t.notified ? 16 : 0));
        }
        return s;
    }

    // ---- variables: called by hooks, on the thread that has its turn ----

    /** A step of its own if several threads use the variable. */
    void access(ModelThread me, Variable v, boolean writes, int place) {
        checkNotAborted();
        if (++accesses > MAX_ACCESSES) {
            violate(me.name + " does not come to rest");
            finish();
            throw ABORT;
        }
        use(v, me, false); // whether it changes the value is known only then
        if (v.users.contended) {
            announce(me, ModelThread.Kind.ACCESS, v, writes, place);
        }
        me.see(place);
    }

    private void use(Variable v, ModelThread me, boolean writes) {
        if (v.users.add(me.slot, writes)) {
            restart();
        }
    }

    private void restart() {
        restarts = true;
        finish();
        throw ABORT;
    }

    private void announce(ModelThread me, ModelThread.Kind kind, Variable v, boolean writes, int place) {
        me.kind = kind;
        me.variable = v;
        me.writes = writes;
        me.place = place;
        announce(me);
    }

    /** The access that was announced was a write, which has changed the value if {@code old} is another. */
    void written(ModelThread me, Variable v, long old, long value) {
        if (old != value) {
            use(v, me, true);
        }
        setValue(v, value);
    }

    /** The thread is where it does not look back; {@code where} tells all that matters. */
    void forget(ModelThread me, long where) {
        me.seen = Variable.mix(where + 31 * me.slot);
    }

    /** What is in it, or what guards it; see {@link Program.World#guardedBy}. */
    long guardedBy(Object o) {
        return muted(() -> world.guardedBy(o));
    }

    long keptBy(Object runner) {
        return muted(() -> world.keptBy(runner));
    }

    // ---- locks ----

    /** Whether the next step of a thread certainly releases no lock. */
    boolean releasesNothing(int slot) {
        ModelThread t = threads[slot];
        return t.locks == 0 && t.kind == ModelThread.Kind.ACCESS;
    }

    void lock(ModelThread me, LockVariable l, int place) {
        checkNotAborted();
        if (l.owner == me) {
            l.holds++;
            return;
        }
        use(l, me, true);
        if (l.users.contended) {
            announce(me, ModelThread.Kind.LOCK, l, true, place);
        }
        me.see(place);
        take(me, l, 1);
    }

    boolean tryLock(ModelThread me, LockVariable l, int place) {
        checkNotAborted();
        if (l.owner == me) {
            l.holds++;
            return true;
        }
        if ((l.users.tryLockers & 1 << me.slot) == 0) {
            l.users.tryLockers |= 1 << me.slot;
            l.users.add(me.slot, true);
            restart(); // each release is a step from now on
        }
        use(l, me, true);
        if (l.users.contended) {
            announce(me, ModelThread.Kind.ACCESS, l, true, place);
        }
        me.see(place);
        me.see(l.owner == null ? 1 : 0);
        if (l.owner != null) {
            return false;
        }
        take(me, l, 1);
        return true;
    }

    private void take(ModelThread me, LockVariable l, int holds) {
        if (l.owner != null) {
            throw new IllegalStateException(me.name + " takes " + l.name + ", which " + l.owner.name + " has");
        }
        l.owner = me;
        me.locks++;
        l.holds = holds;
        setValue(l, me.slot + 1);
        me.see(l.left);
    }

    void unlock(ModelThread me, LockVariable l, int place) {
        if (aborting) {
            return; // the compiler's code for a monitor tries again and again if a release throws
        }
        if (l.owner != me) {
            throw new IllegalMonitorStateException(me.name + " releases " + l.name);
        }
        if (l.holds > 1) {
            l.holds--;
            return;
        }
        if (l.users.contended && l.users.tryLockers != 0) {
            announce(me, ModelThread.Kind.ACCESS, l, true, place);
        }
        release(me, l);
    }

    private void release(ModelThread me, LockVariable l) {
        long guarded = guardedBy(l.lock);
        l.owner = null;
        me.locks--;
        l.holds = 0;
        l.left = guarded != 0 ? guarded : me.seen;
        setValue(l, Variable.mix(l.left) | 1L << 40);
        released.add(l);
    }

    void await(ModelThread me, LockVariable l) {
        checkNotAborted();
        int holds = l.holds;
        release(me, l);
        me.notified = false;
        announce(me, ModelThread.Kind.WAIT, l, true, 0);
        me.notified = false;
        take(me, l, holds);
    }

    void notifyAll(LockVariable l) {
        for (int i = 0; i < count; i++) {
            if (threads[i].kind == ModelThread.Kind.WAIT && threads[i].variable == l) {
                threads[i].notified = true;
            }
        }
    }

    // ---- parks and time ----

    void park(ModelThread me, long until) {
        checkNotAborted();
        use(me.permit, me, true);
        me.wakeAt = until;
        announce(me, ModelThread.Kind.PARK, me.permit, true, 0);
        me.see(me.hasPermit ? 1 : 2);
        me.wakeAt = Long.MAX_VALUE;
        me.kind = ModelThread.Kind.ACCESS;
        setPermit(me, false);
    }

    void unpark(ModelThread me, ModelThread t, int place) {
        access(me, t.permit, true, place);
        setPermit(t, true);
    }

    private void setPermit(ModelThread t, boolean has) {
        t.hasPermit = has;
        setValue(t.permit, has ? 1 : 0);
    }

    void sleepUntil(ModelThread me, long until) {
        checkNotAborted();
        me.wakeAt = until;
        announce(me, ModelThread.Kind.SLEEP, null, true, 0);
        me.wakeAt = Long.MAX_VALUE;
        me.kind = ModelThread.Kind.ACCESS;
        me.see(3);
    }
}
