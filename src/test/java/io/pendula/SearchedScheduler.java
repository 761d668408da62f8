package io.pendula;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideCloser;
import io.pendula.internal.queue.InsideHeap;
import io.pendula.internal.queue.InsideInbox;
import io.pendula.internal.loops.LoopWorker;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.search.Contents;
import io.pendula.search.Execution;
import io.pendula.search.Hooks;
import io.pendula.search.Program;
import io.pendula.search.Spec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * A scheduler with its own workers, or with a loop, and some threads that arm, reset and stop its timers, for the search
 * of all their interleavings. Loaded together with the rewritten classes of the library.
 *
 * <p>Whenever no thread can go on before a later instant, no timer may be due before that instant, what the gate promises
 * to threads that arm must be so, and each arming must have ended once, by a run, a stop, a reset or a close, or be
 * pending still.
 */
public final class SearchedScheduler implements Program {
    private static final Set<String> PARTS = Set.of();
    /** It counts up. */
    private static final Set<String> UNCOUNTED = Set.of("stops");

    /** Of a worker or a loop: counters, what is set before it is read, and what only a spacing or a spare worker needs. */
    private static final Set<String> OF_RUNNERS = Set.of("done", "tidied", "seenVisits", "seenAt", "absentSince",
            "idleSince", "wokeAt", "firedAt", "deadline", "now", "took");

    /** A guard may wake up by so much later than the poller would, and instead of it. */
    private static final long SLACK_NANOS = 20_000;
    /** A park is no shorter. */
    private static final long SHORTEST_NANOS = 1_000;
    /** A guard finds that late, at the latest, that the poller stalls, once the system has let all go on. */
    private static final long STALL_NANOS = 15_000_000;
    private static final int USERS = 3;

    private final Spec spec;

    public SearchedScheduler(Object spec) {
        this.spec = (Spec) spec;
    }

    @Override
    public World begin(Execution execution) {
        return new Scheduled(execution);
    }

    private final class Scheduled implements World, TimerListener {
        private final Execution execution;
        private final TimerScheduler scheduler;
        private final SchedulerEngine engine;
        private final TimerQueue[] queues;
        /** Null if the workers have the queues. */
        private LoopWorker loop;
        private final List<OneShotTimer> timers = new ArrayList<>();
        /** Which timers have been armed: one thread does it, once, */
        private final boolean[] begun;
        /** and then all users may reset and stop them. */
        private final boolean[] armed;
        /** How often each timer was armed less how often that has ended. */
        private final int[] open;
        private final boolean[] running;
        /** Where callbacks stall: when each timer was last armed or reset, as one for the past cannot run before that. */
        private final long[] since;
        private int stalledWorkers;
        private LoopWorker stalledLoop;
        private boolean isLeft;
        /** The loop's thread is to close its loop. */
        private volatile boolean isLeaving;
        private boolean isClosing;
        private boolean isClosed;
        /** So many of the next calls of the loop's hook throw. */
        private int throwing;
        /** Which timers were armed when that was reported, and not anew since: no thread was woken for them. */
        private final boolean[] excused;
        private String wrong;

        Scheduled(Execution execution) {
            this.execution = execution;
            execution.setBatch(spec.batch());
            execution.setStaleFloor(spec.staleFloor());
            int queueCount = spec.owner().queues;
            TimerScheduler.Builder builder = TimerScheduler.builder().name("searched").monitor(false)
                    .wakeSpacing(Duration.ZERO).clock(Hooks::nanoTime);
            builder = builder.workers(queueCount);
            scheduler = queueCount == 0 ? builder.listener(this).build() : builder.maxThreads(spec.owner().threads).build();
            engine = scheduler.engine;
            if (queueCount == 0) {
                addLoop();
            }
            queues = loop != null ? new TimerQueue[] {loop.queue} : engine.queues;
            for (TimerQueue q : queues) {
                // A close that has waited for so long goes on without a reset (QueueCloser); here time passes in leaps.
                InsideCloser.setPatience(q, Long.MAX_VALUE);
            }
            open = new int[spec.timers().size()];
            begun = new boolean[open.length];
            armed = new boolean[open.length];
            running = new boolean[open.length];
            excused = new boolean[open.length];
            since = new long[open.length];
            for (int i = 0; i < open.length; i++) {
                int timer = i;
                timers.add(new OneShotTimer(queueOf(i), () -> fire(timer)));
            }
            for (int i = 0; i < open.length; i++) {
                prepare(i, spec.timers().get(i));
            }
            execution.addUsers(USERS, spec.most());
        }

        private TimerQueue queueOf(int timer) {
            return queues[timer % queues.length];
        }

        private void addLoop() {
            Thread thread = new Thread("loop");
            LoopWorker l = engine.attach(thread, () -> wake(thread), TimerLoop::new);
            loop = l;
            execution.add(thread, () -> {
                boolean polls = true;
                while (!engine.isClosed()) {
                    Hooks.loops(l);
                    leaveIfAsked();
                    if (!l.detached && polls) {
                        l.runDue(Integer.MAX_VALUE);
                    }
                    if (l.detached) {
                        return;
                    }
                    long from = Hooks.nanoTime(); // the thread may be held up before it waits
                    long nanos = l.nanosUntilNext();
                    polls = nanos == 0 || spec.owner() != Spec.Owner.LAZY_LOOP;
                    if (nanos > 0 && !isLeaving) { // a lock may have used up the permit of a LEAVE
                        Hooks.parkUntil(nanos == Long.MAX_VALUE ? nanos : from + nanos);
                    }
                }
            });
        }

        private void wake(Thread thread) {
            if (throwing > 0) {
                throwing--;
                throw new IllegalStateException("meant");
            }
            LockSupport.unpark(thread);
        }

        @Override
        public void wakeupThrew(TimerLoop of, Throwable thrown) {
            for (int i = 0; i < excused.length; i++) {
                excused[i] |= TimerNode.isArmed(TimerNode.state(timers.get(i).wordVolatile()));
            }
        }

        /** By the loop's thread, as no other may while that lives: between two polls, or in a callback. */
        private void leaveIfAsked() {
            if (isLeaving) {
                engine.loops.detach(loop, this::ended);
            }
        }

        private void prepare(int i, Spec.Start start) {
            OneShotTimer t = timers.get(i);
            TimerQueue queue = queueOf(i);
            if (start == Spec.Start.NEW) {
                return;
            }
            queue.arm(t, switch (start) {
                case FIRED -> Spec.NOW;
                case FILED_LATE -> Spec.LATE;
                case FILED_FAR -> Spec.DISTANT;
                default -> Spec.FILED;
            });
            begun[i] = true;
            armed[i] = true;
            open[i]++;
            if (start != Spec.Start.QUEUED && start != Spec.Start.STOPPED_QUEUED && start != Spec.Start.FIRED) {
                InsideInbox.drain(queue);
            }
            if (start == Spec.Start.STOPPED_FILED || start == Spec.Start.STOPPED_QUEUED) {
                stop(i);
            }
            if (start == Spec.Start.FIRED) {
                Fixtures.Claim claim = new Fixtures.Claim();
                InsideInbox.drain(queue);
                Inside.claimDue(queue, Spec.NOW, claim);
                if (engine.run(claim)) {
                    engine.endRun(claim);
                }
            }
        }

        private void fire(int timer) {
            open[timer]--;
            if (running[timer]) {
                wrong = "timer " + timer + " runs twice at a time";
            }
            running[timer] = true;
            LoopWorker by = loop != null && Thread.currentThread() == loop.thread ? loop : null;
            if (by != null) {
                leaveIfAsked();
            }
            Spec.Stall stall = spec.stall(timer);
            if (stall != Spec.Stall.NONE && Hooks.nanoTime() < Spec.STALLED && Hooks.isModelled()) {
                stalledLoop = by != null ? by : stalledLoop;
                stalledWorkers += by != null ? 0 : 1;
                Hooks.sleepUntil(stall.end(Hooks.nanoTime()));
                stalledLoop = by != null ? null : stalledLoop;
                stalledWorkers -= by != null ? 0 : 1;
            }
            running[timer] = false;
        }

        private void stop(int timer) {
            if (queueOf(timer).stop(timers.get(timer))) {
                open[timer]--;
            }
        }

        @Override
        public long calls() {
            long possible = 0;
            for (int i = 0; i < spec.calls().size(); i++) {
                Spec.Call c = spec.calls().get(i);
                boolean can = switch (c.op()) {
                    case ARM -> !begun[c.timer()];
                    case RESET, STOP -> armed[c.timer()];
                    case HELP -> true;
                    case LEAVE -> !isLeft && !isClosing;
                    case THROW -> throwing < 2;
                    case CLOSE -> !isClosing;
                };
                possible |= can && (c.during() == Spec.ANY_TIME || running[c.during()]) ? 1L << i : 0;
            }
            return possible;
        }

        @Override
        public String nameOf(int call) {
            return spec.calls().get(call).toString();
        }

        @Override
        public void call(int call) {
            Spec.Call c = spec.calls().get(call);
            switch (c.op()) {
                case ARM -> {
                    begun[c.timer()] = true;
                    excused[c.timer()] = false;
                    since[c.timer()] = spec.takesTime() ? Hooks.nanoTime() : 0;
                    open[c.timer()]++;
                    try {
                        queueOf(c.timer()).arm(timers.get(c.timer()), c.when());
                        armed[c.timer()] = true;
                    } catch (RejectedExecutionException e) {
                        refused(c.timer());
                    }
                }
                case RESET -> {
                    excused[c.timer()] = false;
                    since[c.timer()] = spec.takesTime() ? Hooks.nanoTime() : 0;
                    open[c.timer()]++;
                    try {
                        if (queueOf(c.timer()).reset(timers.get(c.timer()), c.when())) {
                            open[c.timer()]--;
                        }
                    } catch (RejectedExecutionException e) {
                        refused(c.timer());
                    }
                }
                case STOP -> stop(c.timer());
                case HELP -> {
                    for (TimerQueue q : queues) {
                        InsideInbox.helpDrain(q);
                    }
                }
                case LEAVE -> {
                    isLeft = true;
                    isLeaving = true;
                    LockSupport.unpark(loop.thread);
                }
                case THROW -> throwing++;
                case CLOSE -> {
                    isClosing = true;
                    List<TimerNode> stopped = new ArrayList<>();
                    engine.shutdownNow(stopped::add);
                    ended(stopped);
                    isClosed = true;
                }
                default -> throw new IllegalArgumentException("" + c);
            }
        }

        private void refused(int timer) {
            open[timer]--;
            if (!isClosing && !isLeft) {
                wrong = "timer " + timer + " was refused";
            }
        }

        private void ended(List<?> stopped) {
            stopped.forEach(t -> open[timers.indexOf(t)]--);
        }

        @Override
        public long state() {
            long h = (isLeft ? 1 : 0) + (isClosing ? 2 : 0) + (isClosed ? 4 : 0) + 8 * throwing;
            for (int i = 0; i < open.length; i++) {
                h = 31 * h + 16 * open[i] + (excused[i] ? 8 : 0) + (begun[i] ? 4 : 0) + (armed[i] ? 2 : 0) + (running[i] ? 1 : 0);
                h = spec.takesTime() ? Contents.mix(h, since[i]) : h;
            }
            return h;
        }

        @Override
        public long guardedBy(Object lock) {
            if (lock == engine.standby) {
                return Contents.of(lock, Set.of(), Set.of("lastWake"));
            }
            for (TimerQueue q : queues) {
                if (Inside.guards(q, lock)) {
                    long h = InsideHeap.hashEntries(q, Hooks::keyOf, Contents::mix);
                    h = Contents.mix(h, Contents.of(InsideInbox.drainer(q), PARTS, UNCOUNTED));
                    h = Contents.mix(h, Contents.of(q.compactor, PARTS, UNCOUNTED));
                    return Contents.mix(h, Contents.of(InsideCloser.closer(q), PARTS, UNCOUNTED));
                }
            }
            return 0;
        }

        @Override
        public long keptBy(Object runner) {
            return Contents.of(runner, Set.of("Parker"), OF_RUNNERS);
        }

        @Override
        public String atRest(long heldUntil, long then) {
            if (wrong != null) {
                return wrong;
            }
            if (isAnyClosed() && !isClosed) {
                return null; // the close waits for a reset, and goes on; then it tells what it has stopped in all queues
            }
            for (int i = 0; i < open.length; i++) {
                boolean isArmed = TimerNode.isArmed(TimerNode.state(timers.get(i).wordVolatile()));
                if (open[i] != (isArmed ? 1 : 0)) {
                    return "timer " + i + " was armed " + open[i] + " times more than that has ended, and is "
                            + (isArmed ? "" : "not ") + "armed";
                }
            }
            return isClosed ? atRestClosed() : atRestOpen(heldUntil, then);
        }

        private String atRestClosed() {
            for (int i = 0; i < open.length; i++) {
                if (open[i] != 0) {
                    return "timer " + i + " is armed, and the scheduler is closed";
                }
            }
            String parked = execution.parked();
            return parked == null ? null : "the scheduler is closed, and " + parked + " sleeps";
        }

        private boolean isAnyClosed() {
            return Arrays.stream(queues).anyMatch(TimerQueue::isClosed);
        }

        /** The threads that may run the timers are all in a callback that stalls. */
        private boolean isOwnerStalled() {
            return queues[0].gate.owner() instanceof LoopWorker l ? l == stalledLoop
                    : stalledWorkers == spec.owner().threads;
        }

        private String atRestOpen(long heldUntil, long then) {
            boolean isStalled = stalledLoop != null || stalledWorkers > 0;
            if (isStalled && isOwnerStalled()) {
                return null;
            }
            long allowed = isStalled ? STALL_NANOS : spec.owner().threads > 1 ? SLACK_NANOS : SHORTEST_NANOS;
            long latest = then == Long.MAX_VALUE ? Timeline.NEVER : then - allowed;
            for (int i = 0; i < open.length; i++) {
                long from = isStalled ? Math.max(heldUntil, since[i]) : 0;
                long w = timers.get(i).wordVolatile();
                int s = TimerNode.state(w);
                if (!excused[i] && TimerNode.isArmed(s) && s != TimerNode.RUNNING_ARMED
                        && Math.max(TimerNode.deadline(w), from) < latest) {
                    return "timer " + i + " is due at " + Spec.at(TimerNode.deadline(w)) + ", but all sleep until "
                            + Spec.at(then);
                }
            }
            if (isStalled || isAnyClosed()) {
                return null;
            }
            for (TimerQueue q : queues) {
                if (q.compactor.wantsSweep()) {
                    return "too many entries are stale, and all sleep";
                }
                long until = Inside.looksAgain(q);
                if (until == WakeGate.AWAKE) {
                    return "all sleep, but the gate says awake";
                }
                if (until < latest) {
                    return "the gate says " + Spec.at(until) + ", but all sleep until " + Spec.at(then);
                }
            }
            return null;
        }
    }
}
