package io.pendula.search;

/** A thread of the program under search. A carrier runs it; exactly one of an execution's threads runs at a time. */
final class ModelThread {
    /** What the thread is about to do. */
    enum Kind { BEGIN, ACCESS, LOCK, PARK, SLEEP, WAIT, IDLE }

    final Execution execution;
    final int slot;
    final String name;
    /** What the program takes for this thread. It is never started. */
    final Thread face;
    private final Runnable body;

    Carrier carrier;
    Coroutine coroutine;
    /** The thread has its turn when this is true. */
    volatile boolean turn;
    boolean ended;

    // What it is about to do.
    Kind kind = Kind.BEGIN;
    Variable variable;
    boolean writes;
    int place;
    /** Of a timed park or a sleep: until when; else Long.MAX_VALUE. */
    long wakeAt;
    /** Of a user: which call it makes. */
    int call;
    /** Of a wait: it was notified, so it may take the monitor again. */
    boolean notified;

    /** All that the thread has seen so far. With that, what it does next is determined. */
    long seen;
    /** The last that it saw of the clock. */
    long reading;
    /** How many objects it was the first to touch. */
    int touched;
    /** How many locks it has. */
    int locks;
    final Variable permit;
    boolean hasPermit;

    ModelThread(Execution execution, int slot, String name, Thread face, Runnable body) {
        this.execution = execution;
        this.slot = slot;
        this.name = name;
        this.face = face;
        this.body = body;
        this.seen = Variable.mix(slot + 1);
        this.permit = execution.variable(Variable.mix(0x9e77 + slot), "permit of " + name);
    }

    void run() {
        try {
            execution.awaitFirstTurn(this);
            if (body != null) {
                body.run();
            } else {
                face.run();
            }
        } catch (Turns.Abort e) {
            return;
        } catch (Throwable e) {
            execution.failed(this, e);
        } finally {
            ended = true;
            execution.ended(this);
        }
    }

    void see(long value) {
        seen = Variable.mix(seen ^ Variable.mix(value + 0x51ed27));
    }

    /** Whether it could go on now if it were its turn. */
    boolean isReady(long now) {
        return switch (kind) {
            case BEGIN, ACCESS -> true;
            case LOCK -> ((LockVariable) variable).owner == null;
            case PARK -> hasPermit || wakeAt <= now;
            case SLEEP -> wakeAt <= now;
            case WAIT -> notified && ((LockVariable) variable).owner == null;
            case IDLE -> false;
        };
    }

    boolean isTimed() {
        return (kind == Kind.PARK || kind == Kind.SLEEP) && wakeAt != Long.MAX_VALUE;
    }
}
