package io.pendula.search;

/** A shared variable of one execution. */
class Variable {
    final long key;
    final String name;
    final Users users;
    /** A counter of which only the last bit matters. */
    final boolean isParity;
    /** What it holds, as a number that two executions agree upon; 0 before the first write. */
    long value;

    Variable(long key, String name, Users users) {
        this.key = key;
        this.name = name;
        this.users = users;
        this.isParity = name.equals("pulse");
    }

    /** Its part of the state. */
    final long state() {
        return mix(key ^ mix(value));
    }

    static long mix(long x) {
        long z = x + 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    /** Which threads use a variable, in all executions of a program. */
    static final class Users {
        int readers;
        int writers;
        int tryLockers;
        /** No access is a step: the object is handed over by other variables. */
        boolean isQuiet;
        /** More than one thread uses it, and one of them writes: each access is a step of its own. */
        boolean contended;

        /** True if it has become contended by this access; a write of the value that is there counts as a reading. */
        boolean add(int slot, boolean writes) {
            if (writes) {
                writers |= 1 << slot;
            } else {
                readers |= 1 << slot;
            }
            if (!contended && !isQuiet && writers != 0 && Integer.bitCount(readers | writers) > 1) {
                contended = true;
                return true;
            }
            return false;
        }
    }
}
