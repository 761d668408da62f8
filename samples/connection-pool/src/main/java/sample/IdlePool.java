package sample;

import io.pendula.Timer;
import io.pendula.TimerScheduler;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;

/** Keeps connections that are not in use, and closes each one that has been idle for some time. */
final class IdlePool<C extends Closeable> implements Closeable {
    private static final class Idle<C> {
        final C connection;
        Timer eviction;

        Idle(C connection) {
            this.connection = connection;
        }
    }

    private final TimerScheduler timers;
    private final Duration limit;
    private final Supplier<C> open;
    private final Deque<Idle<C>> idle = new ArrayDeque<>(); // guarded by this

    IdlePool(TimerScheduler timers, Duration limit, Supplier<C> open) {
        this.timers = timers;
        this.limit = limit;
        this.open = open;
    }

    /** The connection that was given back last, or a new one. */
    C take() {
        C kept = takeIdle();
        return kept != null ? kept : open.get();
    }

    private synchronized C takeIdle() {
        for (Idle<C> last = idle.pollLast(); last != null; last = idle.pollLast()) {
            if (last.eviction.cancel()) { // true: the eviction has not run and will not run
                return last.connection;
            }
        }
        return null;
    }

    synchronized void giveBack(C connection) {
        Idle<C> entry = new Idle<>(connection);
        entry.eviction = timers.after(limit, () -> evict(entry));
        idle.addLast(entry);
    }

    private void evict(Idle<C> entry) {
        synchronized (this) {
            idle.remove(entry);
        }
        try {
            entry.connection.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // goes to the scheduler's listener
        }
    }

    /** Closes the idle connections now. One that is given back later is closed after the limit. */
    @Override
    public void close() throws IOException {
        for (C kept = takeIdle(); kept != null; kept = takeIdle()) {
            kept.close();
        }
    }
}
