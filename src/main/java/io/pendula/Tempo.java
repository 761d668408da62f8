package io.pendula;

import io.pendula.internal.queue.TimerNode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The period of a ticker. A reset changes it together with the next deadline, though that stands in the ticker's word.
 */
final class Tempo {
    /*
     * A reset announces its plan, then changes the word by a CAS. A claim reads the word, then the announced plans. The
     * word and the announcements are volatile, so a claim that reads the deadline of a reset finds its plan: the one
     * whose first tick is due at that deadline. All other deadlines belong to the plan in force, which only a claim
     * changes, under the queue's lock. So the CAS of the word alone decides between two resets, and between a reset and
     * a tick; a reset that is refused leaves nothing behind.
     *
     * Of two plans with the same first tick the one that was announced later counts. If their resets ran one after the
     * other, that is the later reset; if both ran at once, either order is one that both callers could have seen.
     *
     * A plan that is decided is forgotten as soon as the word holds another deadline than its first: it has been
     * claimed or replaced, and since its CAS came before the decision, the word will not hold it again. For that the
     * decision is read first, then the word.
     */

    /** What one reset asks for. */
    static final class Plan {
        private final long period;
        /** When the first tick is due. */
        private final long first;
        private volatile Fate fate = Fate.OPEN;

        private Plan(long period, long first) {
            this.period = period;
            this.first = first;
        }
    }

    private enum Fate { OPEN, ACCEPTED, REFUSED }

    private static final Plan[] NONE = {};

    private static final VarHandle PERIOD;
    private static final VarHandle ANNOUNCED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PERIOD = lookup.findVarHandle(Tempo.class, "period", long.class);
            ANNOUNCED = lookup.findVarHandle(Tempo.class, "announced", Plan[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Of the plan in force: written by a claim, read by the run that follows and, racily, by period(). */
    private long period;
    /** The latest first. Changed by CAS as a whole. */
    private volatile Plan[] announced = NONE;

    Tempo(long period) {
        this.period = period;
    }

    /** Before the reset of {@code t} to {@code first}; to be followed by one of the next two methods. */
    Plan announce(TimerNode t, long period, long first) {
        Plan p = new Plan(period, first);
        for (;;) {
            Plan[] all = announced;
            Plan[] rest = withoutForgotten(t, all);
            Plan[] more = new Plan[rest.length + 1];
            more[0] = p;
            System.arraycopy(rest, 0, more, 1, rest.length);
            if (ANNOUNCED.compareAndSet(this, all, more)) {
                return p;
            }
        }
    }

    /** The reset has changed the word of {@code t}. */
    void accept(Plan p) {
        p.fate = Fate.ACCEPTED;
    }

    /** The reset of {@code t} has thrown, for want of memory or stack perhaps after its CAS of the word. */
    void giveUp(Plan p, TimerNode t, Throwable thrown) {
        boolean before = thrown instanceof RuntimeException || TimerNode.deadline(t.wordVolatile()) != p.first;
        p.fate = before ? Fate.REFUSED : Fate.ACCEPTED;
    }

    /** Under the queue's lock, before the claim of a tick that is due at {@code when}: the period from then on. */
    long claim(TimerNode t, long when) {
        Plan[] all = announced;
        if (all.length > 0) {
            PERIOD.setOpaque(this, periodFrom(all, when));
            Plan[] rest = withoutForgotten(t, all);
            if (rest.length < all.length) {
                ANNOUNCED.compareAndSet(this, all, rest); // else a reset has announced its plan, and tidied up
            }
        }
        return period;
    }

    /** In a run: the period that its claim found. */
    long claimed() {
        return period;
    }

    /** As the word of {@code t} says at this moment. */
    long period(TimerNode t) {
        return periodFrom(announced, TimerNode.deadline(t.wordVolatile()));
    }

    private long periodFrom(Plan[] all, long when) {
        for (Plan p : all) {
            if (p.first == when && p.fate != Fate.REFUSED) {
                return p.period;
            }
        }
        return (long) PERIOD.getOpaque(this);
    }

    private static Plan[] withoutForgotten(TimerNode t, Plan[] all) {
        Plan[] rest = NONE;
        for (Plan p : all) {
            Fate fate = p.fate; // before the word
            if (fate == Fate.OPEN || fate == Fate.ACCEPTED && p.first == TimerNode.deadline(t.wordVolatile())) {
                rest = Arrays.copyOf(rest, rest.length + 1);
                rest[rest.length - 1] = p;
            }
        }
        return rest;
    }
}
