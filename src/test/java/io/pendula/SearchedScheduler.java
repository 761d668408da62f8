package io.pendula;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerHeap;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.TimerState;
import io.pendula.internal.queue.WakeGate;
import io.pendula.search.Contents;
import io.pendula.search.Execution;
import io.pendula.search.Hooks;
import io.pendula.search.Program;
import io.pendula.search.Spec;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * A scheduler with its own workers, or with a loop, and some threads that arm, reset and stop its timers, for the search
 * of all their interleavings. Loaded together with the rewritten classes of the library.
 *
 * <p>Whenever no thread can go on before a later instant, no timer may be due before that instant, and what the gate
 * promises to threads that arm must be so. In the end each arming must have ended once: by a run, a stop or a reset.
 */
public final class SearchedScheduler implements Program {
    private static final VarHandle STOPS = handle(Compactor.class, "stopsAtPublication", long.class);
    private static final Set<String> PARTS = Set.of("NodeFifo", "Reversal", "HeapRoom", "Shortage", "Place",
            "Liveness");
    /** They count up; what matters of them is said otherwise, or is the same whenever the lock is released. */
    private static final Set<String> UNCOUNTED = Set.of("stops", "stopsAtPublication", "taken", "settled");

    private static VarHandle handle(Class<?> of, String field, Class<?> type) {
        try {
            return MethodHandles.privateLookupIn(of, MethodHandles.lookup()).findVarHandle(of, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A guard may wake up by so much later than the poller would, and instead of it. */
    private static final long SLACK_NANOS = 20_000;

    private final Spec spec;

    public SearchedScheduler(Object spec) {
        this.spec = (Spec) spec;
    }

    @Override
    public World begin(Execution execution) {
        return new Scheduled(execution);
    }

    private final class Scheduled implements World {
        private final TimerScheduler scheduler;
        private final TimerQueue queue;
        private final List<OneShotTimer> timers = new ArrayList<>();
        /** How often each timer was armed less how often that has ended. */
        private final int[] open;
        private final int[] running;
        private String wrong;

        Scheduled(Execution execution) {
            TimerScheduler.Builder builder = TimerScheduler.builder().name("searched").monitor(false)
                    .wakeSpacing(Duration.ofNanos(spec.spacing())).clock(Hooks::nanoTime);
            if (spec.workers() > 0) {
                scheduler = builder.workers(1).maxThreads(spec.workers()).build();
            } else {
                scheduler = builder.workers(0).build();
                addLoop(execution);
            }
            queue = scheduler.engine.queues[0];
            open = new int[spec.timers().size()];
            running = new int[open.length];
            for (int i = 0; i < open.length; i++) {
                int timer = i;
                timers.add(new OneShotTimer(queue, () -> fire(timer)));
            }
            for (int i = 0; i < open.length; i++) {
                prepare(i, spec.timers().get(i));
            }
            for (int i = 0; i < spec.users().size(); i++) {
                List<Spec.Call> calls = spec.users().get(i);
                execution.add("user " + i, () -> {
                    for (int c = 0; c < calls.size(); c++) {
                        perform(calls.get(c));
                        Hooks.forget(c + 1);
                    }
                });
            }
        }

        private void addLoop(Execution execution) {
            Thread thread = new Thread("loop");
            LoopWorker loop = scheduler.engine.loops.attach(thread, () -> LockSupport.unpark(thread), true);
            execution.add(thread, () -> {
                for (;;) {
                    loop.runDue(Integer.MAX_VALUE);
                    long nanos = loop.nanosUntilNext();
                    if (nanos == Long.MAX_VALUE) {
                        LockSupport.park(loop);
                    } else if (nanos > 0) {
                        LockSupport.parkNanos(loop, nanos);
                    }
                }
            });
        }

        private void prepare(int i, Spec.Start start) {
            OneShotTimer t = timers.get(i);
            if (start == Spec.Start.NEW) {
                return;
            }
            queue.arm(t, start == Spec.Start.FIRED ? Spec.NOW
                    : start == Spec.Start.FILED_FAR ? Spec.DISTANT : Spec.FILED);
            open[i]++;
            if (start == Spec.Start.FILED || start == Spec.Start.FILED_FAR || start == Spec.Start.STOPPED_FILED) {
                Inside.drain(queue);
            }
            if (start == Spec.Start.STOPPED_FILED || start == Spec.Start.STOPPED_QUEUED) {
                stop(i);
            }
            if (start == Spec.Start.FIRED) {
                Fixtures.Claim claim = new Fixtures.Claim();
                Inside.drain(queue);
                Inside.claimDue(queue, Spec.NOW, claim, false);
                scheduler.engine.perform(claim);
            }
        }

        private void fire(int timer) {
            open[timer]--;
            if (running[timer]++ != 0) {
                wrong = "timer " + timer + " runs twice at a time";
            }
            running[timer]--;
        }

        private void stop(int timer) {
            if (queue.stop(timers.get(timer))) {
                open[timer]--;
            }
        }

        private void perform(Spec.Call c) {
            switch (c.op()) {
                case ARM -> {
                    open[c.timer()]++;
                    queue.arm(timers.get(c.timer()), c.when());
                }
                case RESET -> {
                    open[c.timer()]++;
                    if (queue.reset(timers.get(c.timer()), c.when())) {
                        open[c.timer()]--;
                    }
                }
                case STOP -> stop(c.timer());
                case HELP -> Inside.helpDrain(queue);
                case WAIT -> Hooks.sleepUntil(c.when());
                default -> throw new IllegalArgumentException("" + c);
            }
        }

        @Override
        public long guardedBy(Object lock) {
            if (lock == scheduler.engine.standby) {
                long h = Contents.of(lock, Set.of(), Set.of());
                for (Worker d : scheduler.engine.workerPool.workers()) {
                    h = Contents.mix(Contents.mix(h, d.firedAt), d.looks);
                }
                return h;
            }
            return Inside.isQueueLock(lock) || lock instanceof TimerHeap ? guardedByQueue() : 0;
        }

        private long guardedByQueue() {
            TimerHeap heap = Inside.heap(queue);
            long h = heap.size();
            for (int i = 0; i < heap.size(); i++) {
                int rank = 0;
                for (int k = 0; k < heap.size(); k++) {
                    rank += heap.seq(k) - heap.seq(i) < 0 ? 1 : 0;
                }
                h = Contents.mix(Contents.mix(Contents.mix(h, heap.key(i)), Hooks.keyOf(heap.node(i))), rank);
            }
            h = Contents.mix(h, Contents.of(queue.intake, PARTS, UNCOUNTED));
            h = Contents.mix(h, Contents.of(queue.compactor, PARTS, UNCOUNTED));
            h = Contents.mix(h, Inside.stopsInInbox(queue) - (long) STOPS.get(queue.compactor));
            return Contents.mix(h, Contents.of(Inside.closer(queue), PARTS, UNCOUNTED));
        }

        @Override
        public long keptBy(Object runner) {
            return Contents.of(runner, Set.of("Parker"), Set.of());
        }

        @Override
        public String atRest(long now, long then) {
            if (wrong != null) {
                return wrong;
            }
            long allowed = spec.spacing() + (spec.workers() > 1 ? SLACK_NANOS : 0);
            long latest = then == Long.MAX_VALUE ? Timeline.NEVER : then - allowed;
            for (int i = 0; i < open.length; i++) {
                long w = timers.get(i).wordVolatile();
                int s = TimerState.state(w);
                if (TimerState.isArmed(s) && TimerState.deadline(w) < latest) {
                    return "timer " + i + " is due at " + Spec.at(TimerState.deadline(w)) + ", but all sleep until "
                            + Spec.at(then);
                }
                if (Inside.sleepsLong(queue) && TimerState.isQueued(s) && !TimerState.isArmed(s)) {
                    return "timer " + i + " was stopped in the inbox, and the owner sleeps for long";
                }
                if (then == Long.MAX_VALUE && open[i] != 0) {
                    return "timer " + i + " was armed " + open[i] + " times more than that has ended";
                }
            }
            if (Inside.sleepsLong(queue) && Inside.stale(queue) > 0) {
                return "an entry is stale, and the owner sleeps for long";
            }
            if (queue.compactor.wantsSweep()) {
                return "too many entries are stale, and all sleep";
            }
            long until = queue.gate.pollUntil();
            if (until == WakeGate.AWAKE) {
                return "all sleep, but the gate says awake";
            }
            return until < latest ? "the gate says " + Spec.at(until) + ", but all sleep until " + Spec.at(then) : null;
        }
    }
}
