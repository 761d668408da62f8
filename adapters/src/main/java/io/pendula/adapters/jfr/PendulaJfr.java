package io.pendula.adapters.jfr;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;

/**
 * Writes events {@code io.pendula.*} to the JVM's flight recorder. As a listener, it writes events about callbacks that
 * throw, take long or block. Once a second, it writes the statistics of the schedulers and pools that it watches.
 *
 * <pre>{@code
 * PendulaJfr recorder = PendulaJfr.start();
 * TimerScheduler scheduler = TimerScheduler.builder().name("io")
 *         .listener(TimerListener.logging().andThen(recorder)).build();
 * recorder.watch(scheduler);
 * }</pre>
 *
 * <p>As a listener it only writes events. Without another listener, exceptions would no longer reach the
 * uncaught-exception handler, so combine it with one, as above. One object may listen to any number of schedulers.
 *
 * <p><b>Threads.</b> The daemon thread {@code pendula-jfr} writes the events, and sleeps while no recording runs. Timer
 * threads only put events into a queue, so they do not wait while a recording starts, stops or is dumped. The time of
 * an event is the time of its writing, usually less than a millisecond after what it reports. The first events are
 * written some milliseconds after the start of a recording, when the thread has noticed it. If the recorder is busy for
 * long, the queue holds 1,024 events, and further ones are dropped; the counts in the statistics are exact in any case.
 *
 * <p>All methods may be called by any thread at any time.
 *
 * @since 0.1
 */
public final class PendulaJfr implements TimerListener, AutoCloseable {
    /*
     * The recorder has a lock that it holds while a recording starts or stops, and while it calls hooks for periodic
     * events. A timer thread that took it could wait for a hook that waits for a lock of that thread. So the two never
     * meet: timer threads create events, of classes that are registered by then, and this object's thread commits them;
     * and that thread takes the statistics while it does not hold the recorder's lock, so no hook is needed.
     */

    private static final long PERIOD_NANOS = 1_000_000_000;
    private static final int CAPACITY = 1024;

    private final BlockingQueue<Runnable> toDo = new ArrayBlockingQueue<>(CAPACITY);
    private final List<Subject<?>> subjects = new CopyOnWriteArrayList<>();
    private final FlightRecorderListener onChange = new FlightRecorderListener() {
        @Override
        public void recordingStateChanged(Recording recording) {
            hasChanged = true;
            wake();
        }
    };
    private final Runnable register;
    private final Thread thread = new Thread(null, this::run, "pendula-jfr", 0, false);
    /** A recording may have started or stopped. Set before the thread is woken. */
    private volatile boolean hasChanged = true;
    /** Whether events are wanted; set only after their classes were registered. Written by the thread. */
    private volatile boolean recording;
    private volatile boolean closed;

    private PendulaJfr(Runnable register) {
        this.register = register;
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
    }

    /**
     * Starts the thread, which waits for recordings.
     *
     * @return a listener, to be closed when it is no longer needed
     * @throws LinkageError if the JVM has no module {@code jdk.jfr}
     */
    public static PendulaJfr start() {
        return start(TimerEvent::register);
    }

    /** {@code register} makes the events' classes known to the recorder. */
    static PendulaJfr start(Runnable register) {
        PendulaJfr jfr = new PendulaJfr(register);
        FlightRecorder.addListener(jfr.onChange);
        jfr.thread.start();
        return jfr;
    }

    /**
     * Writes the statistics of a scheduler each second while a recording runs, until the scheduler is closed or
     * garbage-collected. Nothing is written if no timer is pending or running and none has fired. Does nothing if the
     * scheduler is watched already.
     *
     * @param scheduler the scheduler; it need not have this object as a listener
     * @throws NullPointerException if {@code scheduler} is null
     */
    public void watch(TimerScheduler scheduler) {
        watch(scheduler, new Subject<>(Objects.requireNonNull(scheduler, "scheduler"), TimerScheduler::stats,
                TimerScheduler::isClosed));
    }

    /**
     * Like {@link #watch(TimerScheduler)}, for a pool, until its tasks and threads have ended.
     *
     * @param executor a pool; for a view, the figures are those of its scheduler, so watch only one of the two
     * @throws NullPointerException if {@code executor} is null
     */
    public void watch(SchedulerExecutor executor) {
        watch(executor, new Subject<>(Objects.requireNonNull(executor, "executor"), SchedulerExecutor::stats,
                SchedulerExecutor::isTerminated));
    }

    private void watch(Object watched, Subject<?> subject) {
        synchronized (subjects) { // or two threads might both add it
            subjects.removeIf(Subject::isGone);
            if (subjects.stream().noneMatch(s -> s.reference.get() == watched)) {
                subjects.add(subject);
            }
        }
    }

    /**
     * Writes the queued events, ends the thread, and waits for its end. If no other object of this class is open, also
     * unregisters the events, through which the recorder refers to their class loader. An interrupt ends the wait, and
     * the interrupt flag stays set. Further calls do nothing.
     */
    @Override
    public void close() {
        FlightRecorder.removeListener(onChange);
        closed = true;
        wake();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // it ends all the same
        }
    }

    /** If there is no room, the thread is awake. */
    private void wake() {
        toDo.offer(() -> {});
    }

    // ---- the listener ----

    /** Whether events are taken. Not after close, as the thread ends when the queue is empty. */
    boolean takesEvents() {
        return recording && !closed;
    }

    @Override
    public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
        if (takesEvents()) {
            toDo.offer(new TimerEvent.CallbackThrew(timer, latenessNanos, thrown)::commit);
        }
    }

    @Override
    public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
        if (takesEvents()) {
            toDo.offer(new TimerEvent.SlowCallback(timer, latenessNanos, ranNanos)::commit);
        }
    }

    @Override
    public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
        if (takesEvents()) {
            toDo.offer(new TimerEvent.WorkerStalled(timer, latenessNanos, blockedNanos)::commit);
        }
    }

    @Override
    public void timedOut(TimerHandle timer, long latenessNanos, long ranNanos) {
        if (takesEvents()) {
            toDo.offer(new TimerEvent.RunTimedOut(timer, latenessNanos, ranNanos)::commit);
        }
    }

    @Override
    public void allBlocked(String schedulerName, int threads, long blockedNanos) {
        if (takesEvents()) {
            toDo.offer(new TimerEvent.AllBlocked(schedulerName, threads, blockedNanos)::commit);
        }
    }

    @Override
    public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
        if (takesEvents()) {
            toDo.offer(new TimerEvent.LoopStalled(loop.toString(), timer, latenessNanos)::commit);
        }
    }

    /** Does nothing: there is no such event, and the exception must not reach the uncaught-exception handler twice. */
    @Override
    public void wakeupThrew(TimerLoop loop, Throwable thrown) {}

    // ---- the thread ----

    private void run() {
        long next = 0;
        boolean hasFailed = false; // the last look, so there is another one after a period
        while (!closed || !toDo.isEmpty()) {
            try {
                if (hasChanged || hasFailed && System.nanoTime() - next >= 0) {
                    hasChanged = false; // before the look
                    hasFailed = true;
                    next = System.nanoTime() + PERIOD_NANOS;
                    look();
                    hasFailed = false;
                    next = System.nanoTime();
                }
                if (recording && System.nanoTime() - next >= 0) {
                    next = System.nanoTime() + PERIOD_NANOS;
                    tellStatistics();
                }
                Runnable todo = recording || hasFailed
                        ? toDo.poll(next - System.nanoTime(), TimeUnit.NANOSECONDS) : toDo.take();
                if (todo != null) {
                    todo.run();
                }
            } catch (Throwable e) {
                uncaught(e); // the next event may be written
            }
        }
        if (recording) {
            recording = false;
            TimerEvent.unregister();
        }
    }

    /** The thread goes on, as it has the events to take back. What the handler throws is ignored, as by the JVM. */
    private void uncaught(Throwable e) {
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } catch (Throwable ignored) {
            return;
        }
    }

    private void look() {
        boolean is = isRecording();
        if (is && !recording) {
            register.run();
            recording = true;
        } else if (!is && recording) {
            recording = false;
            TimerEvent.unregister();
            subjects.forEach(Subject::forget);
        }
    }

    private static boolean isRecording() {
        return FlightRecorder.isInitialized() && FlightRecorder.getFlightRecorder().getRecordings().stream()
                .anyMatch(r -> r.getState() == RecordingState.RUNNING);
    }

    private void tellStatistics() {
        for (Subject<?> s : subjects) {
            if (s.isGone()) {
                subjects.remove(s);
            } else {
                s.tell();
            }
        }
    }

    /**
     * A scheduler or pool that is watched.
     *
     * @param <S> which of them
     */
    private static final class Subject<S> {
        private final WeakReference<S> reference;
        private final Function<? super S, TimerStats> stats;
        private final Predicate<? super S> isClosed;
        /** Of the event before, or null. Of the thread, as is the next. */
        private TimerStats before;

        /** The functions must not refer to {@code subject}. */
        Subject(S subject, Function<? super S, TimerStats> stats, Predicate<? super S> isClosed) {
            this.reference = new WeakReference<>(subject);
            this.stats = stats;
            this.isClosed = isClosed;
        }

        boolean isGone() {
            S s = reference.get();
            return s == null || isClosed.test(s);
        }

        void forget() {
            before = null;
        }

        void tell() {
            S s = reference.get();
            if (s == null) {
                return;
            }
            TimerStats now = stats.apply(s);
            if (now.pending() + now.running() > 0 || before != null && now.fired() > before.fired()) {
                StatisticsEvent.write(now, before == null ? now.lateness() : now.lateness().since(before.lateness()));
            }
            long spares = before == null ? 0 : now.spareThreads() - before.spareThreads();
            if (spares > 0) {
                new TimerEvent.SpareStarted(now.name(), spares, now.threads()).commit();
            }
            before = now;
        }
    }
}
