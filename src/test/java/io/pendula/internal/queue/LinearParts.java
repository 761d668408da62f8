package io.pendula.internal.queue;

import io.pendula.internal.queue.LinearTimers.Named;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/** What threads may do with the parts of a queue, each with the model that says what is right: see {@link LinearizabilityTest}. */
final class LinearParts {
    private LinearParts() {}

    @Param(name = "name", gen = IntGen.class, conf = "1:100")
    public static class Mail {
        private final Inbox inbox = new Inbox();
        private final HoldLock lock = new HoldLock();

        @Operation
        public boolean push(@Param(name = "name") int name) {
            return inbox.push(new Named(name));
        }

        @Operation
        public List<Integer> drain() {
            lock.lock();
            try {
                return names(inbox.take());
            } finally {
                lock.unlock();
            }
        }

        @Operation
        public List<Integer> close() {
            lock.lock();
            try {
                return names(inbox.close());
            } finally {
                lock.unlock();
            }
        }

        @Operation
        public boolean holdsTimers() {
            return inbox.holdsTimers();
        }

        private static List<Integer> names(TimerNode newest) {
            List<Integer> names = new ArrayList<>();
            for (TimerNode t = newest; t != null; t = t.next) {
                names.add(((Named) t).name);
            }
            return names;
        }

        public static class Spec {
            private final Deque<Integer> names = new ArrayDeque<>();
            private boolean closed;

            public boolean push(int name) {
                if (!closed) {
                    names.push(name);
                }
                return !closed;
            }

            public List<Integer> drain() {
                List<Integer> all = new ArrayList<>(names);
                names.clear();
                return all;
            }

            public List<Integer> close() {
                closed = true;
                return drain();
            }

            public boolean holdsTimers() {
                return !names.isEmpty();
            }
        }
    }

    /** What an inbox says has arrived. Drains are those of one thread, as they hold the lock. */
    @Param(name = "when", gen = IntGen.class, conf = "1:5")
    public static class Arrivals {
        private final Inbox inbox = new Inbox();
        @Operation
        public boolean lower(@Param(name = "when") int when) {
            return inbox.lowerArrivals(when);
        }

        @Operation
        public long earliest() {
            return inbox.arrivals();
        }

        @Operation
        public void drain() {
            for (long a = inbox.arrivals(); a != Timeline.NEVER && !inbox.clearArrivals(a); ) {
                a = inbox.arrivals();
            }
        }

        public static class Spec {
            private long earliest = Timeline.NEVER;

            public boolean lower(int when) {
                boolean isFirst = earliest == Timeline.NEVER;
                earliest = Math.min(earliest, when);
                return isFirst;
            }

            public long earliest() {
                return earliest;
            }

            public void drain() {
                earliest = Timeline.NEVER;
            }
        }
    }

    /** Of all threads that arm before the published instant one wakes the owner. */
    @Param(name = "when", gen = IntGen.class, conf = "1:5")
    public static class Gate {
        private final WakeGate gate = new WakeGate();
        private final Owner owner = new Owner();

        public Gate() {
            gate.setOwner(owner);
        }

        @Operation
        public void publish(@Param(name = "when") int until) {
            gate.set(until);
        }

        /** Whether it wakes the owner. */
        @Operation
        public boolean arm(@Param(name = "when") int when) {
            owner.isWoken.set(false);
            gate.wakeIfBefore(when);
            return owner.isWoken.get();
        }

        @Operation
        public void getUp() {
            gate.set(WakeGate.AWAKE);
        }

        @Operation
        public boolean isPublished() {
            return gate.lookAt() != WakeGate.AWAKE;
        }

        private static final class Owner implements QueueOwner {
            final ThreadLocal<Boolean> isWoken = ThreadLocal.withInitial(() -> false);

            @Override
            public void call() {
                isWoken.set(true);
            }
        }

        public static class Spec {
            private int until;

            public void publish(int when) {
                until = when;
            }

            public boolean arm(int when) {
                boolean wakes = when < until;
                until = wakes ? 0 : until;
                return wakes;
            }

            public void getUp() {
                until = 0;
            }

            public boolean isPublished() {
                return until != 0;
            }
        }
    }

    /** The count of resets under way. */
    public static class Resets {
        private final Inbox inbox = new Inbox();

        @Operation
        public void begin() {
            inbox.countReset(1);
        }

        @Operation
        public void end() {
            inbox.countReset(-1);
        }

        @Operation
        public int count() {
            return inbox.resetting;
        }

        public static class Spec {
            private int count;

            public void begin() {
                count++;
            }

            public void end() {
                count--;
            }

            public int count() {
                return count;
            }
        }
    }

    public static class Permits {
        private static final int MAX = 3;

        private final PendingLimit limit = new PendingLimit(MAX);

        @Operation
        public void take() {
            limit.take(1);
        }

        @Operation
        public void giveBack() {
            limit.take(-1);
        }

        @Operation
        public long held() {
            return limit.held();
        }

        public static class Spec {
            private int held;

            public void take() {
                if (held >= MAX) {
                    throw new RejectedExecutionException();
                }
                held++;
            }

            public void giveBack() {
                held--;
            }

            public long held() {
                return held;
            }
        }
    }
}
