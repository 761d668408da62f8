package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Sessions that expire when they were not used for a while; a million of them is a million timers. */
final class Sessions {
    private final Map<Long, Session> live = new ConcurrentHashMap<>();
    private final TimerScheduler timers;
    private final long idleNanos;

    Sessions(TimerScheduler timers, Duration idle) {
        this.timers = timers;
        this.idleNanos = idle.toNanos();
    }

    /** It is the task of its timer, so a session is two objects and no lambda. */
    private final class Session implements Runnable {
        private final Long id;
        private final Timer expiry;

        Session(Long id) {
            this.id = id;
            this.expiry = timers.after(idleNanos, TimeUnit.NANOSECONDS, this);
        }

        /** Unless it was used at the last moment. */
        @Override
        public void run() {
            live.computeIfPresent(id, (i, s) -> s.expiry.isPending() ? s : null);
        }
    }

    /** False if there is no such session; none expires or is closed in between. */
    boolean touch(Long id) {
        return live.computeIfPresent(id, (i, s) -> {
            s.expiry.reset(idleNanos, TimeUnit.NANOSECONDS);
            return s;
        }) != null;
    }

    void open(Long id) {
        live.computeIfAbsent(id, Session::new);
    }

    void close(Long id) {
        Session s = live.remove(id);
        if (s != null) {
            s.expiry.cancel();
        }
    }

    int size() {
        return live.size();
    }
}
