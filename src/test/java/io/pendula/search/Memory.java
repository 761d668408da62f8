package io.pendula.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;

/** The shared variables of one execution, and numbers by which executions agree upon them and what they hold. */
class Memory {
    /** What the hooks know of an object. */
    private static final class Watched {
        final long key;
        final List<Variable> variables = new ArrayList<>(4);
        int[] fields = new int[4];
        LockVariable lock;

        Watched(long key) {
            this.key = key;
        }
    }

    private final LongFunction<Variable.Users> users;
    private final Map<Object, Watched> watched = new IdentityHashMap<>();
    private int touchedAtStart;
    /** All that variables hold, as one number. */
    long memory;

    Memory(LongFunction<Variable.Users> users) {
        this.users = users;
    }

    /** The number of an object that threads agree upon from the beginning. */
    final void know(Object o, long key) {
        watched.put(o, new Watched(key));
    }

    Variable variable(long key, String name) {
        return new Variable(key, name, users.apply(key));
    }

    private Watched watch(ModelThread me, Object o) {
        Watched w = watched.get(o);
        if (w == null) {
            long n = me == null ? touchedAtStart++ : (long) (me.slot + 1) << 32 | me.touched++;
            w = new Watched(Variable.mix(n + 0x3d4d51cbL));
            watched.put(o, w);
        }
        return w;
    }

    /** A number by which executions agree upon an object; {@code me} is null while the program is built. */
    long keyOf(ModelThread me, Object o) {
        return o == null ? 0 : watch(me, o).key;
    }

    Variable variable(ModelThread me, Object o, int field) {
        Watched w = watch(me, o);
        for (int i = 0; i < w.variables.size(); i++) {
            if (w.fields[i] == field) {
                return w.variables.get(i);
            }
        }
        Variable v = variable(Variable.mix(w.key + field), Places.fieldName(field));
        int n = w.variables.size();
        if (n == w.fields.length) {
            w.fields = Arrays.copyOf(w.fields, 2 * n);
        }
        w.fields[n] = field;
        w.variables.add(v);
        return v;
    }

    LockVariable lockOf(ModelThread me, Object o) {
        Watched w = watch(me, o);
        if (w.lock == null) {
            long key = Variable.mix(w.key - 1);
            w.lock = new LockVariable(key, o, users.apply(key));
        }
        return w.lock;
    }

    void setValue(Variable v, long value) {
        if (v.value != value) {
            memory ^= v.value == 0 ? 0 : v.state();
            v.value = value;
            memory ^= v.value == 0 ? 0 : v.state();
        }
    }
}
