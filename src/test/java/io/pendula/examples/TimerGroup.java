package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Timers that belong to one thing, as a connection or a request, and are cancelled with it. */
// tag::recipe[]
final class TimerGroup implements AutoCloseable {
    private final TimerScheduler timers;
    private final Set<Member> members = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    TimerGroup(TimerScheduler timers) {
        this.timers = timers;
    }

    private final class Member implements Runnable {
        private final Runnable task;
        private volatile Timer timer;

        Member(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            members.remove(this);
            task.run();
        }
    }

    void after(Duration delay, Runnable task) {
        Member m = new Member(task);
        members.add(m);
        try {
            m.timer = timers.after(delay, m);
        } catch (Throwable e) { // the scheduler is closed, its limit is reached, or the delay is null
            members.remove(m);
            throw e;
        }
        if (closed) { // close() may have looked at this member before its timer was there
            m.timer.cancel();
            members.remove(m);
        }
    }

    int size() {
        return members.size();
    }

    /** Cancels all timers that have not fired. A timer that is armed later is cancelled at once. */
    @Override
    public void close() {
        closed = true;
        for (Member m : members) {
            if (m.timer != null) {
                m.timer.cancel();
            }
            members.remove(m);
        }
    }
}
// end::recipe[]
