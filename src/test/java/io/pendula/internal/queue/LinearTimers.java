package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.deadline;
import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/** What threads may do with timers and entries, each with the model that says what is right: see {@link LinearizabilityTest}. */
final class LinearTimers {
    private static final long NOW = 100;
    private static final long FAR = 1000;

    private LinearTimers() {}

    static TimerQueue newQueue() {
        return new TimerQueue(0, new Timeline(() -> NOW), null, new TimerHeap(), null, false, new WakeGate());
    }

    /** Of one thread. */
    private static final class Run extends Firing {}

    /** As an owner or a helper does, but it waits for the lock at once: spinning first makes a model checker's runs long. */
    private static boolean claim(TimerQueue queue, Run run) {
        queue.lock.lock();
        try {
            queue.drainer.drain();
            return queue.due.claimDue(NOW, run);
        } finally {
            queue.lock.unlock();
        }
    }

    static final class Named extends TimerNode {
        final int name;

        Named(int name) {
            super(() -> { });
            this.name = name;
        }
    }

    /** One timer, which is in the inbox at first. */
    public static class OneTimer {
        private final TimerQueue queue = newQueue();
        private final TimerNode timer = new TimerNode(() -> { });

        public OneTimer() {
            queue.arm(timer, FAR);
        }

        @Operation
        public boolean stop() {
            return queue.stop(timer);
        }

        @Operation
        public boolean resetNear() {
            return queue.reset(timer, NOW);
        }

        @Operation
        public boolean resetFar() {
            return queue.reset(timer, FAR);
        }

        @Operation
        public boolean isPending() {
            return isArmed(state(timer.wordVolatile()));
        }

        /** Goes on while the timer is due and still on its way to the inbox, as an owner does: the pusher wakes it. */
        @Operation
        public boolean fire() {
            Run run = new Run();
            long w;
            do {
                if (claim(queue, run)) {
                    run.end();
                    queue.endRun(timer);
                    return true;
                }
                w = timer.wordVolatile();
            } while (isArmed(state(w)) && deadline(w) <= NOW);
            return false;
        }

        public static class Spec {
            private long armed = FAR;

            public boolean stop() {
                boolean was = armed != 0;
                armed = 0;
                return was;
            }

            public boolean resetNear() {
                return reset(NOW);
            }

            public boolean resetFar() {
                return reset(FAR);
            }

            private boolean reset(long when) {
                boolean was = armed != 0;
                armed = when;
                return was;
            }

            public boolean isPending() {
                return armed != 0;
            }

            public boolean fire() {
                return armed == NOW && stop();
            }
        }
    }

    /** New timers that are all due, and are claimed by their deadlines, those with the same one in the order of arming. */
    @Param(name = "when", gen = IntGen.class, conf = "1:4")
    @Param(name = "name", gen = IntGen.class, conf = "1:100")
    public static class ManyTimers {
        private final TimerQueue queue = newQueue();

        @Operation
        public void arm(@Param(name = "when") int when, @Param(name = "name") int name) {
            queue.arm(new Named(name), when);
        }

        @Operation
        public int claim() {
            Run run = new Run();
            return LinearTimers.claim(queue, run) ? ((Named) run.node()).name : 0;
        }

        public static class Spec {
            private final List<int[]> armed = new ArrayList<>();

            public void arm(int when, int name) {
                armed.add(new int[] {when, name});
                armed.sort(Comparator.comparingInt(t -> t[0])); // stable
            }

            public int claim() {
                return armed.isEmpty() ? 0 : armed.remove(0)[1];
            }
        }
    }

    /** The blocks are one queue, be they runs or heaps. */
    @Param(name = "key", gen = IntGen.class, conf = "1:3")
    @Param(name = "name", gen = IntGen.class, conf = "1:100")
    public static class Entries {
        private final TimerHeap entries = new TimerHeap();
        private final HoldLock lock = new HoldLock();

        @Operation
        public void push(@Param(name = "key") int key, @Param(name = "name") int name) {
            lock.lock();
            try {
                entries.push(key, new Named(name));
            } finally {
                lock.unlock();
            }
        }

        @Operation
        public int pop() {
            lock.lock();
            try {
                Named top = (Named) entries.top();
                if (top == null) {
                    return 0;
                }
                entries.pop();
                return top.name;
            } finally {
                lock.unlock();
            }
        }

        @Operation
        public boolean putOff(@Param(name = "key") int later) {
            lock.lock();
            try {
                if (entries.size() == 0) {
                    return false;
                }
                entries.rekeyTop(entries.topKey() + later, false);
                return true;
            } finally {
                lock.unlock();
            }
        }

        @Operation
        public long topKey() {
            lock.lock();
            try {
                return entries.topKey();
            } finally {
                lock.unlock();
            }
        }

        public static class Spec {
            private final List<long[]> entries = new ArrayList<>();

            public void push(int key, int name) {
                add(key, name);
            }

            private void add(long key, long name) {
                entries.add(new long[] {key, name});
                entries.sort(Comparator.comparingLong(e -> e[0])); // stable
            }

            public int pop() {
                return entries.isEmpty() ? 0 : (int) entries.remove(0)[1];
            }

            public boolean putOff(int later) {
                if (entries.isEmpty()) {
                    return false;
                }
                long[] top = entries.remove(0);
                add(top[0] + later, top[1]);
                return true;
            }

            public long topKey() {
                return entries.isEmpty() ? Timeline.NEVER : entries.get(0)[0];
            }
        }
    }
}
