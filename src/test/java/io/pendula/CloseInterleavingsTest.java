package io.pendula;

import static io.pendula.Figures.figure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.TimerNode;
import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.Rig;
import io.pendula.Fixtures.SteppedTimer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A reset that is suspended at any of its steps while other threads reset and stop the same timer, its run ends, and
 * its queue is closed step by step: each arming ends exactly once, and a reset that is refused has armed nothing. All
 * steps of the others, and the places where each happens, are tried; they may be suspended in the same way. Also with
 * a close that does not wait for resets, as if each were suspended for longer than that.
 */
class CloseInterleavingsTest {
    /** Places in the reset and in what interrupts it: after looks at the word, before and after changes of it. */
    private static final int PLACES = 9;
    private static final int OPERATIONS = Scale.of(3, 4);

    private static final long FIRST = 500;

    enum Start { REMOVED, FIRED, MOVING, WAITING, DELETED, DELETED_IN_INBOX, RUNNING, RUNNING_ARMED }

    private enum Operation {
        RESET_EARLIER, RESET_LATER, RESET_AS_BEFORE, STOP, DRAIN_AND_SWEEP, END_RUN, REFUSE, CLOSE, LOOK_AT_RUNS, LATE
    }

    /** One history. */
    private static final class History {
        private final Rig rig = new Rig(false, new PendingLimit(2));
        private final ReentrantLock lock = Inside.lock(rig.queue);
        private final SteppedTimer timer = new SteppedTimer(rig.queue);
        private final List<Operation> operations;
        private final int[] places;
        private final List<TimerNode> collected = new ArrayList<>();
        private final Set<Long> accepted = new HashSet<>();
        private Claim run;

        private int place;
        private int next;
        private final boolean waits;
        private boolean isRefused;
        private boolean impossible;
        private boolean refuses;
        private boolean closed;
        private boolean looked;
        private boolean late;
        private int armed;
        private int ended;
        private long collectedUnder;

        /** {@code waits}: the close waits for resets. */
        History(List<Operation> operations, int[] places, boolean waits) {
            this.operations = operations;
            this.places = places;
            this.waits = waits;
            Inside.setPatience(rig.queue, 0);
        }

        void begin(Start start) {
            rig.queue.arm(timer, FIRST);
            accepted.add(FIRST);
            armed++;
            if (start != Start.MOVING && start != Start.DELETED_IN_INBOX) {
                rig.drain();
            }
            switch (start) {
                case REMOVED -> {
                    stop();
                    rig.queue.compactor.sweepStep();
                }
                case DELETED, DELETED_IN_INBOX -> stop();
                case FIRED -> {
                    claim();
                    endRun();
                }
                case RUNNING -> claim();
                case RUNNING_ARMED -> {
                    claim();
                    reset(450);
                }
                default -> { }
            }
        }

        private void claim() {
            run = rig.claim(FIRST);
            assertNotNull(run);
            ended++;
        }

        private void endRun() {
            rig.queue.endRun(timer);
            run = null;
        }

        private void stop() {
            if (rig.queue.stop(timer)) {
                ended++;
            }
        }

        private boolean reset(long when) {
            try {
                if (rig.queue.reset(timer, when)) {
                    ended++;
                }
                armed++;
                accepted.add(when);
                return true;
            } catch (RejectedExecutionException e) {
                assertTrue(collectedUnder != when || accepted.contains(when), "refused, and collected");
                return false;
            }
        }

        /** False if that cannot happen at this moment, or does not differ from another history. */
        private boolean perform(Operation o) {
            switch (o) {
                case RESET_EARLIER -> reset(FIRST - 100);
                case RESET_LATER -> reset(FIRST + 100);
                case RESET_AS_BEFORE -> reset(FIRST);
                case STOP -> stop();
                case DRAIN_AND_SWEEP -> {
                    rig.drain();
                    rig.queue.compactor.sweepStep();
                }
                case END_RUN -> {
                    if (run == null) {
                        return false;
                    }
                    endRun();
                }
                case REFUSE -> {
                    if (refuses || closed) {
                        return false;
                    }
                    refuses = true;
                    Inside.refuseResets(rig.queue);
                }
                case CLOSE -> {
                    if (closed || waits && Inside.resetsUnderWay(rig.queue) > 0) {
                        return false;
                    }
                    closed = true;
                    collect(() -> rig.queue.closer.close(collected));
                }
                case LOOK_AT_RUNS -> {
                    if (!closed || looked) {
                        return false;
                    }
                    if (run != null) {
                        collect(() -> rig.queue.closer.collectRunning(timer, collected));
                    }
                    looked = true; // not before: the last step comes from the same thread
                }
                default -> {
                    if (!looked || late) {
                        return false;
                    }
                    late = true;
                    collect(() -> rig.queue.closer.collectLate(collected));
                }
            }
            return true;
        }

        private void collect(Runnable step) {
            int before = collected.size();
            step.run();
            if (collected.size() > before) {
                collectedUnder = timer.disarmedUnder();
            }
        }

        private void step() {
            if (impossible) {
                return;
            }
            place++;
            while (next < places.length && places[next] == place) {
                if (lock.isHeldByCurrentThread()) {
                    impossible = true; // another thread would wait
                    return;
                }
                Operation o = operations.get(next++);
                if (!perform(o)) {
                    impossible = true;
                    return;
                }
            }
        }

        /** False if the history is not a possible one. */
        boolean play(Start start) {
            begin(start);
            timer.stepInAtEach(this::step);
            isRefused = !reset(FIRST - 200);
            timer.stepInAtEach(() -> {});
            if (impossible || next < places.length) {
                return false;
            }
            perform(Operation.CLOSE);
            perform(Operation.LOOK_AT_RUNS);
            perform(Operation.LATE);
            if (run != null) {
                endRun();
            }
            check();
            return true;
        }

        /** A close that does not wait does not meet a timer that a reset has taken out of the heap, but not pushed. */
        private boolean isMissed() {
            return !waits && isRefused;
        }

        /**
         * A close that does not wait may take the arming of a run, and a reset that has read the same word before arms
         * the run again. If the run ends before the close does, that arming is collected, too.
         */
        private int mostCollected() {
            return waits ? 1 : 2;
        }

        private void check() {
            assertTrue(TimerNode.state(timer.wordVolatile()) <= TimerNode.REMOVED, () -> "state " + rig.state(timer));
            int missing = armed - ended - collected.size();
            assertTrue(missing == 0 || missing == 1 && isMissed(), () -> "armings without an end: " + missing);
            assertTrue(collected.size() <= mostCollected(), () -> "collected: " + collected.size());
            assertTrue(collected.isEmpty() || accepted.contains(collectedUnder), "a refused arming was collected");
            assertEquals(0, rig.queue.view().pending());
            QueueView.Snapshot stats = rig.queue.view().stats();
            assertEquals(armed - missing, stats.armed(), "armed, in the statistics");
            assertEquals(collected.size(), stats.unfired());
            assertEquals(0, stats.staleEntries());
        }
    }

    private int played;

    private void playAll(Start start, List<Operation> operations, int[] places, int at, boolean waits) {
        if (at == places.length) {
            try {
                if (new History(operations, places.clone(), waits).play(start)) {
                    played++;
                }
            } catch (Throwable e) {
                throw new AssertionError(start + " " + operations + " at " + Arrays.toString(places) + ", waits: " + waits, e);
            }
            return;
        }
        for (int place = at == 0 ? 1 : places[at - 1]; place <= PLACES; place++) {
            places[at] = place;
            playAll(start, operations, places, at + 1, waits);
        }
    }

    private void choose(Start start, List<Operation> operations, int length) {
        if (operations.size() == length) {
            playAll(start, operations, new int[length], 0, true);
            playAll(start, operations, new int[length], 0, false);
            return;
        }
        for (Operation o : Operation.values()) {
            boolean once = !operations.contains(o);
            boolean inOrder = o.ordinal() <= Operation.CLOSE.ordinal()
                    || operations.contains(Operation.values()[o.ordinal() - 1]);
            if (once && inOrder) {
                List<Operation> more = new ArrayList<>(operations);
                more.add(o);
                choose(start, more, length);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void reset_suspendedWhileOthersResetStopAndClose_eachArmingEndsOnce(Start start) {
        for (int length = 0; length <= OPERATIONS; length++) {
            choose(start, List.of(), length);
        }
        figure("%s: histories of a reset and a close: %d", start, played);
        assertTrue(played > Scale.of(100, 500), () -> "histories: " + played);
    }
}
