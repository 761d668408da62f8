package io.pendula;

import static io.pendula.Figures.figure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideCloser;

import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.TimerNode;
import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.Rig;
import io.pendula.Fixtures.SteppedTimer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A reset that is suspended at any of its steps while other threads reset and stop the same timer, its run ends, and
 * its queue is drained, swept, and closed step by step: each arming ends exactly once, and a reset that is refused has
 * armed nothing. All steps of the others, and all places where each may happen, are tried; they may be suspended in the
 * same way. While a drain, a sweep or a close has the lock, other threads make the steps that need no lock.
 */
@Timeout(300)
class CloseInterleavingsTest {
    private static final int OPERATIONS = Scale.of(3, 4);

    private static final long FIRST = 500;

    enum Start {
        REMOVED(TimerNode.REMOVED), FIRED(TimerNode.NO_STATUS), MOVING(TimerNode.MOVING), WAITING(TimerNode.WAITING),
        DELETED(TimerNode.DELETED), DELETED_IN_INBOX(TimerNode.DELETED_QUEUED), RUNNING(TimerNode.RUNNING),
        RUNNING_ARMED(TimerNode.RUNNING_ARMED);

        final int state;

        Start(int state) {
            this.state = state;
        }
    }

    private enum Operation {
        RESET_EARLIER, RESET_LATER, RESET_AS_BEFORE, STOP, DRAIN_AND_SWEEP, END_RUN, REFUSE, CLOSE, LOOK_AT_RUNS, LATE
    }

    /** An operation, and the place where it happens. */
    private record Event(Operation operation, int place) {}

    /** One history. */
    private static final class History {
        private final Rig rig = new Rig(false, new PendingLimit(2));
        private final ReentrantLock lock = Inside.lock(rig.queue);
        private final SteppedTimer timer = new SteppedTimer(rig.queue);
        private final List<Event> events;
        /** What may come next, once all events have happened. */
        private final List<Event> more = new ArrayList<>();
        private final List<TimerNode> collected = new ArrayList<>();
        private final Set<Long> accepted = new HashSet<>();
        private Claim run;

        /** After looks at the word, before and after changes of it: in the reset, and in what interrupts it. */
        private int place;
        private int next;
        private boolean refuses;
        private boolean closed;
        private boolean looked;
        private boolean late;
        /** A sweep has dropped an entry. */
        private boolean swept;
        private int armed;
        private int ended;
        private long collectedUnder;

        History(List<Event> events) {
            this.events = events;
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
                    rig.sweepAll();
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
            assertEquals(start.state, rig.state(timer), "the state at the beginning");
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

        /** False also if that would not differ from another history. */
        private boolean isPossible(Operation o) {
            boolean isFree = !lock.isHeldByCurrentThread(); // else another thread would wait
            return switch (o) {
                case RESET_EARLIER, RESET_LATER, RESET_AS_BEFORE, STOP -> true;
                case DRAIN_AND_SWEEP -> isFree;
                case END_RUN -> run != null && (isFree || !closed); // of a closed queue it takes the lock
                case REFUSE -> !refuses && !closed;
                case CLOSE -> isFree && !closed && InsideCloser.resetsUnderWay(rig.queue) == 0; // else it waits
                case LOOK_AT_RUNS -> isFree && closed && !looked;
                case LATE -> isFree && looked && !late;
            };
        }

        private void perform(Operation o) {
            switch (o) {
                case RESET_EARLIER -> reset(FIRST - 100);
                case RESET_LATER -> reset(FIRST + 100);
                case RESET_AS_BEFORE -> reset(FIRST);
                case STOP -> stop();
                case DRAIN_AND_SWEEP -> {
                    rig.drain();
                    int before = rig.entries();
                    rig.sweepAll();
                    swept |= rig.entries() < before;
                }
                case END_RUN -> endRun();
                case REFUSE -> {
                    refuses = true;
                    InsideCloser.refuseResets(rig.queue);
                }
                case CLOSE -> {
                    closed = true;
                    collect(() -> rig.queue.closer.close(collected));
                }
                case LOOK_AT_RUNS -> {
                    if (run != null) {
                        collect(() -> rig.queue.closer.collectRunning(timer, collected));
                    }
                    looked = true; // not before: the last step comes from the same thread
                }
                case LATE -> {
                    late = true;
                    collect(() -> rig.queue.closer.collectLate(collected));
                }
            }
        }

        private void collect(Runnable step) {
            int before = collected.size();
            step.run();
            if (collected.size() > before) {
                collectedUnder = timer.disarmedUnder();
            }
        }

        private void step() {
            int here = ++place;
            while (next < events.size() && events.get(next).place() == here) {
                perform(events.get(next++).operation());
            }
            if (next == events.size() && next < OPERATIONS) {
                for (Operation o : Operation.values()) {
                    if (isPossible(o) && events.stream().allMatch(e -> e.operation() != o)) {
                        more.add(new Event(o, here));
                    }
                }
            }
        }

        void play(Start start) {
            begin(start);
            timer.stepInAtEach(this::step);
            reset(FIRST - 200);
            timer.stepInAtEach(() -> {});
            assertEquals(events.size(), next, "events that have happened");
            for (Operation o : List.of(Operation.CLOSE, Operation.LOOK_AT_RUNS, Operation.LATE)) {
                if (isPossible(o)) {
                    perform(o);
                }
            }
            if (run != null) {
                endRun();
            }
            check();
        }

        private void check() {
            assertTrue(TimerNode.state(timer.wordVolatile()) <= TimerNode.REMOVED, () -> "state " + rig.state(timer));
            assertEquals(armed, ended + collected.size(), "each arming has one end");
            assertTrue(collected.size() <= 1, () -> "collected: " + collected.size());
            assertTrue(collected.isEmpty() || accepted.contains(collectedUnder), "a refused arming was collected");
            assertEquals(0, rig.queue.view().pending());
            QueueView.Snapshot stats = rig.queue.view().stats();
            assertEquals(armed, stats.get(QueueView.Count.ARMED), "armed, in the statistics");
            assertEquals(collected.size(), stats.get(QueueView.Count.UNFIRED));
            assertEquals(0, stats.get(QueueView.Count.STALE_ENTRIES));
        }
    }

    private int played;
    private int swept;

    /** One history, and all that begin as it does and have an event more. */
    private void play(Start start, List<Event> events) {
        History history = new History(events);
        try {
            history.play(start);
        } catch (Throwable e) {
            throw new AssertionError(start + " " + events, e);
        }
        played++;
        swept += history.swept ? 1 : 0;
        for (Event next : history.more) {
            List<Event> longer = new ArrayList<>(events);
            longer.add(next);
            play(start, longer);
        }
    }

    @ParameterizedTest
    @EnumSource
    void reset_suspendedWhileOthersResetStopAndClose_eachArmingEndsOnce(Start start) {
        play(start, List.of());
        figure("%s: histories of a reset and a close: %d, in %d of them a sweep drops an entry", start, played, swept);
        assertTrue(played > Scale.of(15_000, 350_000), () -> "histories: " + played);
        assertTrue(swept > 0, "no sweep drops an entry");
    }
}
