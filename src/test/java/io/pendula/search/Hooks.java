package io.pendula.search;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/** What rewritten classes call before and after they access what threads share. Does nothing on other threads. */
public final class Hooks {
    /** While a program is built, by the thread of the search: there is one search at a time. */
    static volatile Execution building;

    /** VarHandles and updaters, with their fields. */
    private static final Map<Object, Integer> HANDLES = Collections.synchronizedMap(new WeakHashMap<>());
    private static final int LOCK_PLACE = Places.add(-1, "takes", true, "a lock");
    private static final int PARK_PLACE = Places.add(-1, "unparks:", true, "LockSupport");

    private Hooks() {}

    static ModelThread me() {
        return Coroutine.AVAILABLE ? Coroutine.active : Thread.currentThread() instanceof Carrier c ? c.model : null;
    }

    /** Null while a check runs on this thread. */
    static void setMe(ModelThread me) {
        if (Coroutine.AVAILABLE) {
            Coroutine.active = me;
        } else if (Thread.currentThread() instanceof Carrier c) {
            c.model = me;
        }
    }

    // ---- accesses ----

    /** Before an access of a field; the next call tells the value. */
    public static void before(Object o, int place) {
        before(o, Places.fieldAt(place), place);
    }

    /** The same through a VarHandle or an updater. */
    public static void before(Object handle, Object o, int place) {
        Integer field = HANDLES.get(handle);
        if (field == null) {
            throw new IllegalStateException("unknown handle " + handle);
        }
        before(o, (int) field, place);
    }

    private static void before(Object o, int field, int place) {
        ModelThread me = me();
        if (me == null) {
            created(o);
        } else if (Places.isIgnored(field)) {
            me.execution.checkNotAborted();
            me.variable = null;
        } else {
            Variable v = me.execution.variable(me, o, field);
            me.execution.access(me, v, Places.writesAt(place), place);
            me.variable = v;
        }
    }

    /** What is read or written at once as a whole, by its users' word: contents that only a hint needs. */
    public static void touch(Object o, int place) {
        before(o, place);
        ModelThread me = me();
        if (me != null) {
            if (Places.writesAt(place)) {
                me.execution.written(me, me.variable, 1, 0); // the state is told by the lock
            } else {
                me.see(me.execution.guardedBy(o));
            }
        }
    }

    public static void read(long value) {
        ModelThread me = me();
        if (me != null && me.variable != null) {
            me.see(value);
        }
    }

    public static void read(Object value) {
        ModelThread me = me();
        if (me != null) {
            me.see(me.execution.keyOf(me, value));
        }
    }

    private static void written(ModelThread me, long old, long value) {
        me.execution.written(me, me.variable, Variable.mix(old + 1), Variable.mix(value + 1));
    }

    public static void wrote(long old, long value) {
        ModelThread me = me();
        if (me != null && me.variable != null) {
            if (me.variable.isParity) {
                written(me, old & 1, value & 1);
            } else {
                written(me, old, value);
            }
        }
    }

    public static void wrote(Object old, Object value) {
        ModelThread me = me();
        if (me != null) {
            written(me, me.execution.keyOf(me, old), me.execution.keyOf(me, value));
        }
    }

    public static void compared(boolean swapped, long old, long value) {
        read(swapped ? 1 : 0);
        if (swapped) {
            wrote(old, value);
        }
    }

    public static void compared(boolean swapped, Object old, Object value) {
        read(swapped ? 1 : 0);
        if (swapped) {
            wrote(old, value);
        }
    }

    public static void swapped(long old, long value) {
        read(old);
        wrote(old, value);
    }

    public static void swapped(Object old, Object value) {
        read(old);
        wrote(old, value);
    }

    public static void added(long old, long delta) {
        read(old);
        wrote(old, old + delta);
    }

    /** A plain write through a handle: of an object that no other thread can reach yet. */
    public static void wroteQuietly(VarHandle handle, Object o, long value) {
        ModelThread me = me();
        if (me != null) {
            me.execution.checkNotAborted();
            me.execution.setValue(me.execution.variable(me, o, HANDLES.get(handle)), Variable.mix(value + 1));
        }
    }

    /** A plain link, which is handed over by other variables. */
    public static void wroteQuietly(Object o, Object value, int place) {
        ModelThread me = me();
        if (me != null) {
            me.execution.checkNotAborted();
            Variable v = me.execution.variable(me, o, Places.fieldAt(place));
            v.users.isQuiet = true;
            me.execution.setValue(v, Variable.mix(me.execution.keyOf(me, value) + 1));
        }
    }

    /** A number by which executions agree upon an object; for {@link Program.World#guardedBy}. */
    public static long keyOf(Object o) {
        ModelThread me = Execution.muted;
        return me.execution.keyOf(me, o);
    }

    /** The calling thread is where what it has seen so far matters no more, but for this. */
    public static void forget(long where) {
        ModelThread me = me();
        if (me != null) {
            me.execution.forget(me, where);
        }
    }

    /** It is at the beginning of a loop of the library. */
    public static void loops(Object runner) {
        ModelThread me = me();
        if (me != null) {
            long kept = me.execution.keptBy(runner);
            if (kept != 0) {
                me.execution.forget(me, kept);
            }
        }
    }

    /** A new object, so that it has the same number in all executions. */
    public static void created(Object o) {
        Execution e = building;
        ModelThread me = me();
        if (me != null) {
            me.execution.keyOf(me, o);
        } else if (e != null) {
            e.keyOf(null, o);
        }
    }

    public static void madeUpdater(Object updater, String field) {
        HANDLES.put(updater, Places.field(field));
    }

    public static VarHandle findVarHandle(MethodHandles.Lookup lookup, Class<?> of, String name, Class<?> type)
            throws NoSuchFieldException, IllegalAccessException {
        VarHandle handle = lookup.findVarHandle(of, name, type);
        HANDLES.put(handle, Places.field(name));
        return handle;
    }

    public static VarHandle fieldVarHandle(MethodHandles.Lookup lookup, String name, Class<VarHandle> kind, Class<?> of,
            Class<?> type) {
        VarHandle handle = ConstantBootstraps.fieldVarHandle(lookup, name, kind, of, type);
        HANDLES.put(handle, Places.field(name));
        return handle;
    }

    // ---- locks and monitors ----

    public static void enter(Object o) {
        ModelThread me = me();
        if (me != null) {
            me.execution.lock(me, me.execution.lockOf(me, o), LOCK_PLACE);
        }
    }

    public static void exit(Object o) {
        ModelThread me = me();
        if (me != null) {
            me.execution.unlock(me, me.execution.lockOf(me, o), LOCK_PLACE);
        }
    }

    static boolean tryEnter(Object o) {
        ModelThread me = me();
        return me == null || me.execution.tryLock(me, me.execution.lockOf(me, o), LOCK_PLACE);
    }

    public static boolean holdsLock(Object o) {
        return isMine(o);
    }

    static boolean isMine(Object o) {
        ModelThread me = me();
        return me == null || me.execution.lockOf(me, o).owner == me;
    }

    public static void await(Object o) {
        ModelThread me = me();
        if (me == null) {
            throw new IllegalStateException("a wait while the program is built");
        }
        me.execution.await(me, me.execution.lockOf(me, o));
    }

    public static void notifyAll(Object o) {
        ModelThread me = me();
        if (me != null) {
            me.execution.notifyAll(me.execution.lockOf(me, o));
        }
    }

    // ---- parks, threads and time ----

    /**
     * Parks so long, from the thread's last reading of the clock on: by what the machine takes from a thread between
     * the two its timers are late, whatever it does.
     */
    static void parkNanos(long nanos) {
        parkUntil(parking().reading + nanos);
    }

    /** Parks until then at most; for ever if that is Long.MAX_VALUE. */
    public static void parkUntil(long until) {
        ModelThread me = parking();
        me.execution.park(me, until);
    }

    private static ModelThread parking() {
        ModelThread me = me();
        if (me == null) {
            throw new IllegalStateException("a park while the program is built");
        }
        return me;
    }

    static void unpark(Thread face) {
        ModelThread me = me();
        if (me != null && face != null) {
            ModelThread t = me.execution.threadOf(face);
            if (t != null) {
                me.execution.unpark(me, t, PARK_PLACE);
            }
        }
    }

    public static Thread currentThread() {
        ModelThread me = me();
        return me == null ? Thread.currentThread() : me.face;
    }

    public static long idOf(Thread face) {
        Execution e = current();
        ModelThread t = e == null ? null : e.threadOf(face);
        return t == null ? 100 : 101 + t.slot;
    }

    private static Execution current() {
        ModelThread me = me();
        return me == null ? building : me.execution;
    }

    public static void start(Thread face) {
        Execution e = current();
        if (e == null) {
            throw new IllegalStateException("the check starts a thread");
        }
        if (e.threadOf(face) != null) {
            throw new IllegalThreadStateException();
        }
        e.add(face.getName(), face, null);
    }

    public static Thread.State stateOf(Thread face) {
        Execution e = current();
        ModelThread t = e == null ? null : e.threadOf(face);
        return t == null ? Thread.State.NEW : t.ended ? Thread.State.TERMINATED
                : t.kind != ModelThread.Kind.PARK ? Thread.State.RUNNABLE
                : t.isTimed() ? Thread.State.TIMED_WAITING : Thread.State.WAITING;
    }

    public static boolean isAlive(Thread face) {
        Thread.State s = stateOf(face);
        return s != Thread.State.NEW && s != Thread.State.TERMINATED;
    }

    /** No thread of a program is interrupted. */
    public static boolean interrupted() {
        return false;
    }

    /** The present instant. */
    public static long nanoTime() {
        ModelThread me = me();
        if (me == null) {
            Execution e = building;
            return e == null ? 0 : e.now();
        }
        me.execution.checkNotAborted();
        me.reading = me.execution.now();
        me.see(me.reading);
        return me.reading;
    }

    /** Where there is one processor nothing spins: it would add steps to a search, and no outcome. */
    public static int processors(Runtime of) {
        return 1;
    }

    /** How many callbacks a worker runs before it leaves a queue for another. */
    public static int batch() {
        return current().batch;
    }

    /** Whether the calling thread is one of the program's. */
    public static boolean isModelled() {
        return me() != null;
    }

    /** The calling thread is held up until then. */
    public static void sleepUntil(long until) {
        ModelThread me = me();
        me.execution.sleepUntil(me, until);
    }

    /** So many entries may be stale before they are swept, where a queue is small. */
    public static int staleFloor() {
        return current().staleFloor;
    }

    /** A thread that cannot sweep calls the owner once in so many entries. */
    public static int callEvery() {
        return 1;
    }

    /** The production code reports what has no other place to go. */
    public static void uncaught(Throwable e) {
        ModelThread me = me();
        if (me != null) {
            me.execution.checkNotAborted();
            me.execution.failed(me, e);
        }
    }
}
