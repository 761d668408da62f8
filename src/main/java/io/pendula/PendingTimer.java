package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An armed timer that {@link TimerScheduler#pendingTimers} has found. Immutable; the timer may have fired or been stopped
 * since.
 *
 * @since 0.1
 */
public final class PendingTimer {
    /** A task that counts as another object; texts still name the task itself. */
    interface Counted {
        Object countedAs();
    }

    private final QueuedNode timer;
    private final Object task;
    private final long remaining;
    private final long period;

    PendingTimer(QueuedNode timer, long now) {
        this.timer = timer;
        this.task = timer.task();
        this.remaining = Timeline.between(now, TimerNode.deadline(timer.wordVolatile()));
        this.period = timer.periodNanos();
    }

    /** {@return the timer itself, which can be cancelled or, after a cast to its type, stopped and reset} */
    public TimerHandle timer() {
        return (TimerHandle) timer;
    }

    /** {@return the task as the program passed it; null if there is none} */
    public @Nullable Object task() {
        return task;
    }

    /** {@return the remaining time when it was found; zero if it was due; 292 years if it will never fire} */
    public Duration remaining() {
        return Duration.ofNanos(remaining);
    }

    /** {@return the time between two firings, or from the end of a run to the next; zero if it fires once} */
    public Duration period() {
        return Duration.ofNanos(period);
    }

    /** Workers are numbered from 0, loops after them. */
    int queue() {
        return timer.queue.index;
    }

    /** {@return the task's text or, if it has none, its class; remaining time, period and queue, for humans} */
    @Override
    public String toString() {
        return "PendingTimer[" + Texts.of(task, QueuedNode::named) + ", " + Texts.dueIn(remaining)
                + (period == 0 ? "" : ", period " + Texts.duration(period)) + ", queue " + queue() + "]";
    }

    /** At most {@code limit} armed timers of a scheduler. */
    static List<PendingTimer> list(Engine engine, int limit) {
        Check.atLeast(limit, 1, "limit");
        List<PendingTimer> found = new ArrayList<>();
        long now = engine.timeline.now();
        for (TimerQueue q : engine.queues) {
            if (!q.view().forEachPending(t -> {
                PendingTimer pending = new PendingTimer((QueuedNode) t, now);
                if (pending.timer.isPending()) { // else it may have dropped its task before the task was read
                    found.add(pending);
                }
                return found.size() < limit;
            })) {
                break;
            }
        }
        return Collections.unmodifiableList(found);
    }

    /** The number of timers for each key, most frequent first. No lock is held when {@code key} is called. */
    static <K> Map<K, Long> count(TimerQueue[] queues, Function<? super TimerHandle, ? extends K> key) {
        Check.notNull(key, "key");
        Map<K, long[]> counts = new HashMap<>(); // nothing is allocated for each timer: the heap may be nearly full
        for (TimerQueue q : queues) {
            q.view().forEachPending(t -> {
                K k = key.apply((TimerHandle) t);
                if (((TimerHandle) t).isPending()) { // else it may have dropped its task before the key read it
                    counts.computeIfAbsent(k, none -> new long[1])[0]++;
                }
                return true;
            });
        }
        Map<K, Long> sorted = new LinkedHashMap<>();
        counts.entrySet().stream().sorted((a, b) -> Long.compare(b.getValue()[0], a.getValue()[0]))
                .forEach(e -> sorted.put(e.getKey(), e.getValue()[0]));
        return Collections.unmodifiableMap(sorted);
    }

    /** The key that counts by class of task. */
    static Class<?> classOf(TimerHandle t) {
        Object task = QueuedNode.named(t.task() instanceof Counted c ? c.countedAs() : t.task());
        return task != null ? task.getClass() : Alarm.class;
    }
}
