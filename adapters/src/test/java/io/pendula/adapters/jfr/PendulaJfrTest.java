package io.pendula.adapters.jfr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.SchedulerExecutor;
import io.pendula.spi.TaskWrapper;
import io.pendula.TimerExecutors;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import io.pendula.adapters.Patience;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Configuration;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the flight recorder is told, and that no timer waits for it. */
@SuppressWarnings("try") // a recording need not be named to run
@Timeout(120)
class PendulaJfrTest {
    private static final String THREAD = "pendula-jfr";
    private static final List<String> NAMES = List.of("SchedulerStatistics", "QueueStatistics", "SlowCallback",
            "CallbackThrew", "WorkerStalled", "RunTimedOut", "AllBlocked", "LoopStalled", "SpareStarted");

    static final class Blocks implements Runnable {
        final CountDownLatch release = new CountDownLatch(1);

        @Override
        public void run() {
            Patience.await(release);
        }
    }

    static final class Throws implements Runnable {
        @Override
        public void run() {
            throw new IllegalStateException("by " + getClass().getSimpleName());
        }
    }

    /** What was recorded. */
    private static final class Recorded implements AutoCloseable {
        private final Queue<RecordedEvent> events = new ConcurrentLinkedQueue<>();
        private final RecordingStream stream = new RecordingStream();

        /** Begins when the listener takes events, which is a little after their classes are registered. */
        Recorded(PendulaJfr recorder) {
            for (String name : NAMES) {
                stream.enable("io.pendula." + name);
                stream.onEvent("io.pendula." + name, events::add);
            }
            stream.setReuse(false);
            stream.startAsync();
            Patience.until("the listener has seen the recording", recorder::takesEvents);
        }

        RecordedEvent await(String name, Predicate<RecordedEvent> which) {
            Supplier<Optional<RecordedEvent>> found = () -> events.stream()
                    .filter(e -> e.getEventType().getName().equals("io.pendula." + name) && which.test(e)).findFirst();
            Patience.until(name, () -> found.get().isPresent());
            return found.get().orElseThrow();
        }

        /** The schedulers whose statistics were written, in order. */
        List<String> statistics() {
            return events.stream().filter(e -> e.getEventType().getName().equals("io.pendula.SchedulerStatistics"))
                    .map(e -> e.getString("scheduler")).toList();
        }

        @Override
        public void close() {
            stream.close();
        }
    }

    private static boolean areRegistered(boolean wanted) {
        return wanted == FlightRecorder.getFlightRecorder().getEventTypes().stream()
                .anyMatch(e -> e.getName().equals("io.pendula.SpareStarted"));
    }

    private static String taskOf(RecordedEvent e) {
        assertEquals("recorded", e.getString("scheduler"));
        assertTrue(e.getDuration("lateness").toNanos() >= 0, e::toString);
        return e.getClass("task").getName();
    }

    @Test
    void recording_tellsOfCallbacksAndStatistics() {
        try (PendulaJfr recorder = PendulaJfr.start();
                TimerScheduler s = TimerScheduler.builder().name("recorded").workers(1).maxThreads(3)
                        .stallAfter(Duration.ofMillis(1)).slowCallback(Duration.ofMillis(1)).listener(recorder).build()) {
            recorder.watch(s);
            s.after(Duration.ofHours(1), () -> {});
            try (Recorded recorded = new Recorded(recorder)) {
                recorded.await("SchedulerStatistics", e -> e.getLong("pending") == 1);
                Blocks blocks = new Blocks();
                s.after(Duration.ZERO, blocks);
                s.after(Duration.ZERO, blocks);
                s.after(Duration.ZERO, new Throws()); // behind them, on a spare thread
                RecordedEvent threw = recorded.await("CallbackThrew", e -> true);
                assertEquals(Throws.class.getName(), taskOf(threw));
                assertEquals(IllegalStateException.class.getName(), threw.getClass("thrown").getName());
                assertEquals("by Throws", threw.getString("message"));
                RecordedEvent stalled = recorded.await("WorkerStalled", e -> taskOf(e).equals(Blocks.class.getName()));
                assertTrue(stalled.getThread("thread").getJavaName().startsWith("pendula-recorded-"), stalled::toString);
                assertTrue(stalled.getDuration("blocked").toNanos() >= 1_000_000, stalled::toString);
                RecordedEvent spare = recorded.await("SpareStarted", e -> true);
                assertTrue(spare.getInt("threads") >= 3, spare::toString);
                assertTrue(spare.getLong("started") >= 1, spare::toString);
                blocks.release.countDown();
                RecordedEvent slow = recorded.await("SlowCallback", e -> taskOf(e).equals(Blocks.class.getName()));
                assertTrue(slow.getThread("thread").getJavaName().startsWith("pendula-recorded-"), slow::toString);
                assertTrue(slow.getDuration("ran").toNanos() >= 1_000_000, slow::toString);
                recorded.await("SchedulerStatistics", e -> e.getLong("fired") >= 2 && e.getLong("callbacksThrew") == 1
                        && e.getLong("callbacksSlow") >= 1 && e.getLong("spareThreads") >= 1);
                recorded.await("QueueStatistics", e -> e.getInt("queue") == 0 && e.getLong("fired") >= 2);
            }
        }
    }

    /** Each figure of the table has its field, of a queue those that each queue has. */
    @Test
    void statistics_haveEachFigure() {
        try (PendulaJfr recorder = PendulaJfr.start();
                TimerScheduler s = TimerScheduler.builder().name("recorded").clock(new ManualClock()).build();
                Recorded recorded = new Recorded(recorder)) {
            recorder.watch(s);
            s.after(Duration.ofHours(1), () -> {});
            s.after(Duration.ofHours(2), () -> {}).stop();
            RecordedEvent all = recorded.await("SchedulerStatistics", e -> e.getLong("stopped") == 1);
            RecordedEvent queue = recorded.await("QueueStatistics", e -> e.getLong("stopped") == 1);
            TimerStats stats = s.stats();
            for (TimerStats.Figure f : TimerStats.Figure.all()) {
                assertEquals(stats.get(f), all.getLong(f.id()), f.id());
                assertEquals(f.isByQueue(), queue.hasField(f.id()), f.id());
                if (f.isByQueue()) {
                    assertEquals(stats.queues().get(0).get(f), queue.getLong(f.id()), f.id());
                }
            }
            assertEquals("Stale Entries", all.getEventType().getField("staleEntries").getLabel());
            assertEquals(Duration.ofHours(1), all.getDuration("nanosUntilNext"));
        }
    }

    @Test
    void recording_tellsOfRunsThatTheirLimitInterrupts() {
        try (PendulaJfr recorder = PendulaJfr.start();
                SchedulerExecutor pool = TimerExecutors.builder().name("recorded").runTimeout(Duration.ofMillis(1))
                        .listener(recorder).build();
                Recorded recorded = new Recorded(recorder)) {
            Blocks blocks = new Blocks();
            pool.submit(blocks);
            RecordedEvent out = recorded.await("RunTimedOut", e -> true);
            assertEquals(Blocks.class.getName(), taskOf(out));
            assertTrue(out.getThread("thread").getJavaName().startsWith("pendula-recorded-"), out::toString);
            assertEquals(Duration.ofMillis(1), out.getDuration("ran"));
            blocks.release.countDown();
        }
    }

    @Test
    void recording_tellsThatAllThreadsAreBlocked() {
        try (PendulaJfr recorder = PendulaJfr.start();
                TimerScheduler s = TimerScheduler.builder().name("recorded").workers(1).stallAfter(Duration.ofMillis(1))
                        .listener(recorder).build();
                Recorded recorded = new Recorded(recorder)) {
            recorder.watch(s);
            s.after(Duration.ofHours(1), () -> {});
            recorded.await("SchedulerStatistics", e -> e.getLong("pending") == 1);
            Blocks blocks = new Blocks();
            s.after(Duration.ZERO, blocks);
            RecordedEvent all = recorded.await("AllBlocked", e -> true);
            assertEquals("recorded", all.getString("scheduler"));
            assertEquals(1, all.getInt("threads"));
            assertTrue(all.getDuration("blocked").toNanos() >= 1_000_000, all::toString);
            recorded.await("SchedulerStatistics", e -> e.getLong("allBlocked") == 1);
            blocks.release.countDown();
        }
    }

    @Test
    void recording_tellsOfALoopThatIsLate() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        try (PendulaJfr recorder = PendulaJfr.start();
                TimerScheduler s = TimerScheduler.builder().name("recorded").workers(1).stallAfter(Duration.ofMillis(1))
                        .listener(recorder).build();
                Recorded recorded = new Recorded(recorder)) {
            Thread loop = new Thread(() -> {
                try (TimerLoop l = s.attach(() -> {})) {
                    l.after(Duration.ZERO, new Throws());
                    l.nanosUntilNext();
                    Patience.await(told);
                }
            }, "the loop's");
            loop.start();
            RecordedEvent late = recorded.await("LoopStalled", e -> true);
            assertEquals(Throws.class.getName(), taskOf(late));
            assertTrue(late.getString("loop").contains("the loop's"), late::toString);
            told.countDown();
            loop.join();
        }
    }

    @Name("io.pendula.test.Held")
    static final class Held extends Event {}

    /**
     * The recorder calls a hook while it holds its lock, as it does when a recording starts. What waits for that lock
     * waits for the hook. The scheduler's threads do not.
     */
    @Test
    void recorderIsHeldUp_poolOfOneThread_runsItsTasksAndEnds() throws Exception {
        CountDownLatch isHeld = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger failed = new AtomicInteger();
        Runnable hook = () -> {
            isHeld.countDown();
            Patience.await(release);
        };
        PendulaJfr recorder = PendulaJfr.start();
        SchedulerExecutor pool = TimerExecutors.builder().threads(1).name("recorded").slowCallback(Duration.ofNanos(1))
                .listener(new TimerListener() {
                    @Override
                    public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
                        failed.incrementAndGet();
                    }
                }.andThen(recorder)).build();
        recorder.watch(pool);
        try (Recorded recorded = new Recorded(recorder)) {
            FlightRecorder.addPeriodicEvent(Held.class, hook);
            Thread starts = new Thread(() -> {
                try (Recording second = new Recording()) {
                    second.enable(Held.class).with("period", "everyChunk");
                    second.start();
                }
            });
            starts.start();
            Patience.await(isHeld);
            Thread waits = new Thread(() -> FlightRecorder.getFlightRecorder().getRecordings());
            waits.start();
            Patience.until("the recorder is locked", () -> waits.getState() == Thread.State.BLOCKED
                    || waits.getState() == Thread.State.WAITING);

            for (int i = 0; i < 3_000; i++) {
                pool.execute(new Throws()); // each is slow and throws: more than the queue to the recorder holds
            }
            pool.schedule(() -> {}, 2, TimeUnit.MILLISECONDS).get(Patience.SECONDS, TimeUnit.SECONDS);
            assertEquals(3_000, failed.get());
            pool.shutdownNow();
            assertTrue(pool.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS));
            assertTrue(waits.isAlive(), "the recorder was locked all the time");

            release.countDown();
            starts.join();
            waits.join();
            recorded.await("CallbackThrew", e -> taskOf(e).equals(Throws.class.getName()));
            recorded.await("SlowCallback", e -> taskOf(e).equals(Throws.class.getName()));
        } finally {
            release.countDown();
            FlightRecorder.removePeriodicEvent(hook);
            recorder.close();
        }
    }

    @Test
    void recordings_oneAfterTheOther_areEachWritten() {
        try (PendulaJfr recorder = PendulaJfr.start();
                TimerScheduler s = TimerScheduler.builder().name("recorded").workers(1).listener(recorder).build()) {
            for (int i = 0; i < 3; i++) {
                try (Recorded recorded = new Recorded(recorder)) {
                    s.after(Duration.ZERO, new Throws());
                    recorded.await("CallbackThrew", e -> true);
                }
                Patience.until("the events are taken back", () -> areRegistered(false));
            }
        }
    }

    private static Thread threadOfTheRecorder() {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().equals(THREAD)).findAny().orElse(null);
    }

    @Test
    void noRecording_itsThreadSleepsWithoutALimit_andCloseEndsIt() {
        PendulaJfr recorder = PendulaJfr.start();
        Thread thread = threadOfTheRecorder();
        assertTrue(thread.isDaemon());
        Patience.until("it sleeps", () -> thread.getState() == Thread.State.WAITING);
        recorder.close();
        recorder.close();
        assertTrue(!thread.isAlive());
    }

    /** So often that no change of a recording's state brings the look that succeeds. */
    @Test
    void recordingStarts_eventsCannotBeRegistered_isTriedAgain() {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> thrown.add(e));
        AtomicInteger left = new AtomicInteger(3);
        try (PendulaJfr recorder = PendulaJfr.start(() -> {
            if (left.getAndDecrement() > 0) {
                throw new IllegalStateException("meant");
            }
            TimerEvent.register();
        });
                TimerScheduler s = TimerScheduler.builder().name("recorded").workers(1).listener(recorder).build();
                Recorded recorded = new Recorded(recorder)) {
            recorder.watch(s);
            s.after(Duration.ofHours(1), () -> {});
            recorded.await("SchedulerStatistics", e -> true);
            assertEquals(List.of("meant", "meant", "meant"), thrown.stream().map(Throwable::getMessage).toList());
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    /** Else the thread would end, and leave the events in the recorder. */
    @Test
    void statistics_clockThrowsAndSoDoesTheHandler_areTakenAgain() {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        AtomicInteger told = new AtomicInteger();
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            told.incrementAndGet();
            throw new IllegalStateException("meant");
        });
        try (PendulaJfr recorder = PendulaJfr.start();
                TimerScheduler s = TimerScheduler.builder().name("recorded").workers(1).clock(() -> {
                    if (Thread.currentThread().getName().equals(THREAD) && told.get() == 0) {
                        throw new IllegalStateException("meant");
                    }
                    return System.nanoTime();
                }).build();
                Recorded recorded = new Recorded(recorder)) {
            s.after(Duration.ofHours(1), () -> {});
            recorder.watch(s);
            recorded.await("SchedulerStatistics", e -> true);
            assertEquals(1, told.get());
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
        assertTrue(areRegistered(false));
    }

    /** If it took more, it would not end while they come faster than they are written. */
    @Test
    void close_listenersAreToldMeanwhile_takesNoMoreEvents() throws Exception {
        CountDownLatch isHeld = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        PendulaJfr recorder = PendulaJfr.start();
        Thread closes = new Thread(recorder::close);
        try (TimerScheduler s = TimerScheduler.builder().workers(1).clock(() -> {
            if (Thread.currentThread().getName().equals(THREAD)) { // it takes the statistics
                isHeld.countDown();
                Patience.await(release);
            }
            return System.nanoTime();
        }).build(); Recorded recorded = new Recorded(recorder); AutoCloseable held = release::countDown) {
            recorder.watch(s);
            Wrapper task = new Wrapper(new Throws());
            TimerHandle timer = s.after(Duration.ofHours(1), task);
            Patience.await(isHeld);
            recorder.slow(timer, 0, 1);
            int asked = task.asked.get();
            assertTrue(asked > 0, "it asks for the name of a task that it writes about");
            closes.start();
            Patience.until("close waits for the thread", () -> Stream.of(closes.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("join")));
            recorder.slow(timer, 0, 1);
            recorder.threw(timer, 0, new IOException("meant"));
            recorder.stalled(timer, 0, 1);
            assertEquals(asked, task.asked.get());
            release.countDown();
            closes.join();
            recorded.await("SlowCallback", e -> true); // told before close
        } finally {
            recorder.close();
        }
    }

    private static final class Wrapper implements Runnable, TaskWrapper {
        final AtomicInteger asked = new AtomicInteger();
        private final Object inner;

        Wrapper(Object inner) {
            this.inner = inner;
        }

        @Override
        public void run() {}

        @Override
        public Object task() {
            asked.incrementAndGet();
            return inner;
        }
    }

    private static final class BrokenWrapper implements Runnable, TaskWrapper {
        @Override
        public void run() {}

        @Override
        public Object task() {
            throw new IllegalStateException("meant");
        }
    }

    /** As the library's texts and counts do: {@code PendingTimersTest}. */
    @Test
    void task_wrappersInWrappers_isNamedAfterTheInnermost() {
        try (TimerScheduler s = TimerScheduler.builder().clock(new ManualClock()).build()) {
            Wrapper inner = new Wrapper(new Throws());
            Wrapper outer = new Wrapper(inner);
            TimerHandle timer = s.after(Duration.ofHours(1), outer);
            assertEquals(Throws.class, new TimerEvent.CallbackThrew(timer, 0, new IOException("meant")).task);
            assertEquals(1, outer.asked.get());
            assertEquals(1, inner.asked.get());
            timer = s.after(Duration.ofHours(1), new Wrapper(null));
            assertEquals(Wrapper.class, new TimerEvent.CallbackThrew(timer, 0, new IOException("meant")).task);
            timer = s.after(Duration.ofHours(1), new BrokenWrapper());
            assertEquals(BrokenWrapper.class, new TimerEvent.CallbackThrew(timer, 0, new IOException("meant")).task);
        }
    }

    @Test
    void close_whileARecordingRuns_takesTheEventsBack() {
        PendulaJfr recorder = PendulaJfr.start();
        try (Recorded recorded = new Recorded(recorder)) {
            recorder.close();
            assertTrue(areRegistered(false));
        }
    }

    @Test
    void close_ofOneOfTwo_leavesTheEventsToTheOther() {
        PendulaJfr one = PendulaJfr.start();
        PendulaJfr other = PendulaJfr.start();
        try (Recorded recorded = new Recorded(other);
                TimerScheduler s = TimerScheduler.builder().name("recorded").workers(1).listener(other).build()) {
            other.watch(s);
            s.after(Duration.ofHours(1), () -> {});
            recorded.await("SchedulerStatistics", e -> true);
            Patience.until("both have seen the recording", one::takesEvents);
            one.close();
            s.after(Duration.ZERO, new Throws());
            recorded.await("CallbackThrew", e -> true);
            other.close();
            assertTrue(areRegistered(false));
        } finally {
            one.close();
            other.close();
        }
    }

    /** The statistics of a second come in the order of the calls of watch, so a second one would follow the first. */
    @Test
    void watch_twice_writesTheStatisticsOnce() {
        SchedulerExecutor pool = TimerExecutors.builder().threads(1).name("p").build();
        try (PendulaJfr recorder = PendulaJfr.start();
                TimerScheduler s = TimerScheduler.builder().name("s").workers(1).build()) {
            recorder.watch(s);
            recorder.watch(s);
            recorder.watch(pool);
            recorder.watch(pool);
            s.after(Duration.ofHours(1), () -> {});
            pool.schedule(() -> {}, 1, TimeUnit.HOURS);
            try (Recorded recorded = new Recorded(recorder)) {
                Patience.until("two seconds are written", () -> recorded.statistics().size() >= 4);
                List<String> names = recorded.statistics();
                for (int i = 1; i < names.size(); i++) {
                    assertNotEquals(names.get(i - 1), names.get(i), names::toString);
                }
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void watched_doesNotKeepTheScheduler() {
        try (PendulaJfr recorder = PendulaJfr.start(); Recorded recorded = new Recorded(recorder)) {
            WeakReference<TimerScheduler> scheduler = new WeakReference<>(watched(recorder));
            Patience.until("it is collected", () -> {
                System.gc();
                return scheduler.get() == null;
            });
        }
    }

    private static TimerScheduler watched(PendulaJfr recorder) {
        TimerScheduler s = TimerScheduler.builder().workers(1).build();
        recorder.watch(s);
        s.close();
        return s;
    }

    /** Of an application in a container, loaded by a loader of its own. */
    public static final class Application {
        public static void main(String[] args) throws InterruptedException {
            try (PendulaJfr recorder = PendulaJfr.start();
                    TimerScheduler s = TimerScheduler.builder().workers(1).listener(recorder).build()) {
                recorder.watch(s);
                while (areRegistered(false)) {
                    Thread.sleep(1);
                }
            }
        }
    }

    @Test
    void application_thatIsUnloadedWhileARecordingRuns_isCollected() throws Exception {
        try (Recording recording = new Recording()) {
            recording.start();
            WeakReference<ClassLoader> loader = new WeakReference<>(runInLoader());
            Patience.until("its classes are collected", () -> {
                System.gc();
                return loader.get() == null;
            });
        }
    }

    private static ClassLoader runInLoader() throws Exception {
        URL[] path = {TimerScheduler.class.getProtectionDomain().getCodeSource().getLocation(),
            PendulaJfr.class.getProtectionDomain().getCodeSource().getLocation(),
            PendulaJfrTest.class.getProtectionDomain().getCodeSource().getLocation()};
        try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
            loader.loadClass(Application.class.getName()).getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]);
            return loader;
        }
    }

    @Test
    void events_allOfThem_standInTheSettingsAndOnThePage() throws Exception {
        Set<String> names = new TreeSet<>(Set.of("io.pendula.SchedulerStatistics", "io.pendula.QueueStatistics")); // statistics_haveEachFigure
        for (Class<?> c : TimerEvent.class.getDeclaredClasses()) {
            Name name = c.getAnnotation(Name.class);
            if (name != null) {
                names.add(name.value());
            }
        }
        assertEquals(NAMES.stream().map(n -> "io.pendula." + n).collect(Collectors.toCollection(TreeSet::new)), names);
        Configuration c = Configuration.create(Path.of("pendula.jfc"));
        assertEquals(names, c.getSettings().keySet().stream().map(k -> k.substring(0, k.indexOf('#')))
                .collect(Collectors.toCollection(TreeSet::new)));
        String page = Files.readString(Path.of("..", "docs", "observability.md"));
        names.forEach(n -> assertTrue(page.contains("`" + n + "`"), n));
    }
}
