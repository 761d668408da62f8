package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.Timers;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** At most one pending task for each key. */
// tag::recipe[]
final class KeyedTimers<K> {
    private final ConcurrentMap<K, Entry> entries = new ConcurrentHashMap<>();
    private final Timers timers;

    KeyedTimers(Timers timers) {
        this.timers = timers;
    }

    private final class Entry implements Runnable {
        private final K key;
        private final Runnable task;
        private final boolean replaces;
        private final Timer timer;

        Entry(K key, Duration delay, Runnable task, Entry old) {
            this.key = key;
            this.task = task;
            this.replaces = old != null;
            this.timer = timers.after(delay, this); // if it is refused, the old one stays
            if (old != null) {
                old.timer.cancel();
            }
        }

        /** The entry decides a race: the thread that takes it out of the map has won. */
        @Override
        public void run() {
            if (entries.remove(key, this)) {
                task.run();
            }
        }
    }

    /** Returns true if this replaced a task, which has not run and will not run. */
    boolean start(K key, Duration delay, Runnable task) {
        return entries.compute(key, (k, old) -> new Entry(k, delay, task, old)).replaces;
    }

    /** Returns true if this prevented a run. */
    boolean cancel(K key) {
        Entry old = entries.remove(key);
        if (old != null) {
            old.timer.cancel();
        }
        return old != null;
    }
}
// end::recipe[]
