package io.pendula;

import static io.pendula.LifeFixtures.runInChild;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import jdk.jfr.Configuration;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What the flight recorder is told, and that it costs nothing where nobody records or it is missing. */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class FlightEventsTest {
    private static final List<String> NAMES = List.of("SchedulerStatistics", "QueueStatistics", "LateFiring",
            "SlowCallback", "CallbackThrew", "WorkerStalled", "LoopStalled", "SpareStarted");

    /** Callbacks of each kind; uses nothing but the library and java.base. */
    public static final class Trouble {
        static final class Slow implements Runnable {
            @Override
            public void run() {
                block(40);
            }
        }

        static final class Thrower implements Runnable {
            @Override
            public void run() {
                throw new IllegalStateException("by " + getClass().getSimpleName());
            }
        }

        /** Of a loop whose thread does not come to run it in time. */
        static final class Neglected implements Runnable {
            @Override
            public void run() {}
        }

        private static void block(long millis) {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
            for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
                try {
                    TimeUnit.NANOSECONDS.sleep(left);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }

        static TimerScheduler make() throws InterruptedException {
            TimerScheduler s = TimerScheduler.builder().name("recorded").workers(1).maxThreads(3).stallAfter(Duration.ofMillis(1))
                    .slowCallback(Duration.ofMillis(5)).listener(new TimerListener() {
                        @Override
                        public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {}
                    }).build();
            s.after(Duration.ofHours(1), () -> {});
            trouble(s);
            return s;
        }

        static void trouble(TimerScheduler s) throws InterruptedException {
            CountDownLatch done = new CountDownLatch(4);
            for (int i = 0; i < 4; i++) {
                s.after(Duration.ZERO, new Slow());
                s.after(Duration.ofMillis(1), done::countDown); // late, behind two that block
            }
            s.after(Duration.ZERO, new Thrower());
            if (!done.await(30, TimeUnit.SECONDS)) {
                throw new AssertionError("nothing ran");
            }
        }

        /** A loop whose thread comes too late again and again, until it is told to end. */
        static Thread neglectALoop(TimerScheduler s, CountDownLatch end) {
            Thread t = new Thread(() -> {
                try (TimerLoop loop = s.attach(() -> {})) {
                    boolean ended = false;
                    while (!ended) {
                        loop.after(Duration.ZERO, new Neglected());
                        ended = end.await(300, TimeUnit.MILLISECONDS);
                        loop.runDue();
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }, "the loop's");
            t.start();
            return t;
        }

        /** By the shared scheduler, which cannot be closed. */
        public static void idleAfter(Runnable whileArmed) {
            Timer armed = Timer.after(Duration.ofHours(1), new Neglected());
            whileArmed.run();
            armed.stop();
        }

        /** In a JVM that nobody records. */
        public static void main(String[] args) throws Exception {
            try (TimerScheduler s = make()) {
                Thread.sleep(1500); // a look at all timers comes each second
                System.out.println(s.stats().callbacksThrew());
            }
        }
    }

    /** Prints the name of each kind of event, and what it tells. */
    static final class Recorder {
        public static void main(String[] args) throws Exception {
            Set<String> seen = ConcurrentHashMap.newKeySet();
            TimerScheduler before = args[0].equals("before") ? Trouble.make() : null;
            CountDownLatch all = new CountDownLatch(NAMES.size() - (before == null ? 0 : 1)); // the spare was started
            try (RecordingStream stream = new RecordingStream()) {
                for (String name : NAMES) {
                    stream.enable("io.pendula." + name);
                    stream.onEvent("io.pendula." + name, e -> {
                        if (isComplete(name, e) && seen.add(name + " " + tell(name, e)) && countOf(seen, name) == 1) {
                            all.countDown();
                        }
                    });
                }
                stream.startAsync();
                try (TimerScheduler s = before == null ? Trouble.make() : before) {
                    CountDownLatch end = new CountDownLatch(1);
                    Thread loop = Trouble.neglectALoop(s, end);
                    for (int i = 0; i < 15 && !all.await(1, TimeUnit.SECONDS); i++) {
                        Trouble.trouble(s);
                    }
                    end.countDown();
                    loop.join();
                }
            }
            new TreeSet<>(seen).forEach(System.out::println);
        }

        private static long countOf(Set<String> seen, String name) {
            return seen.stream().filter(s -> s.startsWith(name + " ")).count();
        }

        private static boolean isComplete(String name, RecordedEvent e) {
            return !name.endsWith("Statistics") || e.getLong("fired") > 0;
        }

        private static String tell(String name, RecordedEvent e) {
            String text = e.getString("scheduler");
            if (e.hasField("task")) {
                RecordedClass task = e.getClass("task");
                boolean late = e.getDuration("lateness").toNanos() >= FlightEvents.LATE_NANOS;
                text += " " + (task == null ? "none" : task.getName().replaceAll("\\$\\$Lambda.*", " lambda"))
                        + (name.equals("LateFiring") ? " " + late : "");
            }
            if (e.hasField("ran")) {
                text += " " + (e.getDuration("ran").toMillis() >= 5);
            }
            if (e.hasField("message")) {
                text += " " + e.getClass("thrown").getName() + " " + e.getString("message");
            }
            if (e.hasField("thread")) {
                text += " " + (e.getThread("thread") == null ? "none" : e.getThread("thread").getJavaName()
                        .replaceAll("-(worker|spare)-.*", ""));
            }
            if (e.hasField("pending")) {
                text += " " + (e.getLong("pending") >= 1);
            }
            return text;
        }
    }

    private static void check(String out, String... more) {
        String slow = Trouble.Slow.class.getName();
        for (String line : more) {
            assertTrue(out.lines().anyMatch(line::equals), () -> line + " is missing in\n" + out);
        }
        for (String line : List.of("SchedulerStatistics recorded true", "QueueStatistics recorded true",
                "SlowCallback recorded " + slow + " true",
                "CallbackThrew recorded " + Trouble.Thrower.class.getName() + " java.lang.IllegalStateException by Thrower")) {
            assertTrue(out.lines().anyMatch(line::equals), () -> line + " is missing in\n" + out);
        }
        String loop = "LoopStalled recorded " + Trouble.Neglected.class.getName() + " the loop's";
        assertTrue(out.lines().anyMatch(loop::equals), () -> loop + " is missing in\n" + out);
        assertTrue(out.lines().anyMatch(l -> l.startsWith("LateFiring recorded ") && l.endsWith(" true")), out);
        assertFalse(out.lines().anyMatch(l -> l.startsWith("LateFiring") && !l.endsWith(" true")), out);
        assertTrue(out.lines().anyMatch(l -> l.startsWith("WorkerStalled recorded " + slow)), out);
    }

    @Test
    void recording_schedulerMadeMeanwhile_tellsEachKindOfEvent() throws Exception {
        check(runInChild(Recorder.class, List.of(), "meanwhile"), "SpareStarted recorded");
    }

    @Test
    void recording_schedulerMadeBefore_isFoundWithinASecond() throws Exception {
        check(runInChild(Recorder.class, List.of(), "before"));
    }

    @Test
    void events_allOfThem_standInTheSettingsAndOnThePage() throws Exception {
        Set<String> names = new TreeSet<>();
        for (Class<?> c : JfrEvents.class.getDeclaredClasses()) {
            Name name = c.getAnnotation(Name.class);
            if (name != null) {
                names.add(name.value());
            }
        }
        assertEquals(NAMES.stream().map(n -> "io.pendula." + n).collect(Collectors.toCollection(TreeSet::new)), names);
        Path settings = Path.of("docs", "pendula.jfc");
        Configuration c = Configuration.create(settings);
        assertEquals(names, c.getSettings().keySet().stream().map(k -> k.substring(0, k.indexOf('#')))
                .collect(Collectors.toCollection(TreeSet::new)));
        String page = Files.readString(Path.of("docs", "observability.md"));
        names.forEach(n -> assertTrue(page.contains("`" + n + "`"), n));
    }

    @Test
    void noRecording_noClassOfTheRecorderIsLoaded() throws Exception {
        String out = runInChild(Trouble.class, List.of("-Xlog:class+load:stdout:none"));
        assertTrue(out.contains("io.pendula.FlightEvents "), "it was asked");
        assertEquals(List.of(), out.lines().filter(l -> l.startsWith("jdk.jfr.") || l.contains("io.pendula.JfrEvents"))
                .collect(Collectors.toList()));
    }

    /** Also if the property says that the recorder is there. */
    @Test
    void imageWithoutTheModule_runs(@TempDir Path folder) throws Exception {
        Path image = folder.resolve("image");
        ToolProvider jlink = ToolProvider.findFirst("jlink").orElseThrow();
        assertEquals(0, jlink.run(System.out, System.err, "--add-modules", "java.base", "--output", image.toString()));
        String classes = Path.of(TimerScheduler.class.getProtectionDomain().getCodeSource().getLocation().toURI())
                + File.pathSeparator + Path.of(Trouble.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path out = folder.resolve("out.txt");
        Process p = new ProcessBuilder(image.resolve("bin").resolve("java").toString(), "-Djdk.jfr.repository=nowhere",
                "-cp", classes, Trouble.class.getName()).redirectErrorStream(true).redirectOutput(out.toFile()).start();
        assertTrue(p.waitFor(60, TimeUnit.SECONDS));
        assertEquals("1", Files.readString(out).strip());
        assertEquals(0, p.exitValue());
    }

    /** Loads the library by a loader of its own, while a recording runs, or has run. */
    static final class Container {
        public static void main(String[] args) throws Exception {
            try (Recording r = new Recording()) {
                for (String name : NAMES) {
                    r.enable("io.pendula." + name);
                }
                r.start();
                WeakReference<ClassLoader> loader = use(args[0]);
                if (args[0].equals("has run")) {
                    r.stop();
                }
                System.out.println(isSoon(() -> {
                    System.gc();
                    return loader.get() == null;
                }) ? "collected" : "still there");
                System.out.println(areRegistered() ? "known to the recorder" : "forgotten");
            }
            Runtime.getRuntime().halt(0);
        }

        private static boolean isSoon(BooleanSupplier condition) throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            boolean is = condition.getAsBoolean();
            while (!is && System.nanoTime() < end) {
                Thread.sleep(50);
                is = condition.getAsBoolean();
            }
            return is;
        }

        /** The recorder knows the events by their classes, and calls what makes the periodic ones. */
        private static boolean areRegistered() {
            return FlightRecorder.getFlightRecorder().getEventTypes().stream()
                    .anyMatch(e -> e.getName().startsWith("io.pendula."));
        }

        private static void awaitRegistered() {
            try {
                System.out.println(isSoon(Container::areRegistered) ? "known" : "never known");
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static WeakReference<ClassLoader> use(String how) throws Exception {
            URL library = TimerScheduler.class.getProtectionDomain().getCodeSource().getLocation();
            URL tests = FlightEventsTest.class.getProtectionDomain().getCodeSource().getLocation();
            URLClassLoader loader = new URLClassLoader(new URL[] {library, tests}, ClassLoader.getPlatformClassLoader());
            Class<?> trouble = loader.loadClass(Trouble.class.getName());
            if (how.startsWith("idles")) {
                trouble.getMethod("idleAfter", Runnable.class).invoke(null, (Runnable) Container::awaitRegistered);
            } else {
                trouble.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            }
            if (!how.equals("idles in a loader that is open")) {
                loader.close();
            }
            return new WeakReference<>(loader);
        }
    }

    private static List<String> runContainer(String how) throws Exception {
        return runInChild(Container.class, List.of("-Xmx128m"), how).lines().toList();
    }

    @Test
    void recordingRuns_idleSchedulersLoader_isCollected() throws Exception {
        assertEquals(List.of("known", "collected", "forgotten"), runContainer("idles in a loader that is open"));
    }

    /** Where the hook cannot load what it needs; the recorder logs that it fails. */
    @Test
    void recordingRuns_idleSchedulersLoaderThatIsClosed_isCollected() throws Exception {
        assertEquals(List.of("known", "collected", "forgotten"),
                runContainer("idles").stream().filter(line -> !line.contains("[warning][jfr")).toList());
    }

    @Test
    void recordingRuns_closedSchedulersLoader_isCollected() throws Exception {
        assertEquals(List.of("1", "collected", "forgotten"), runContainer("runs"));
    }

    @Test
    void recordingHasRun_closedSchedulersLoader_isCollected() throws Exception {
        assertEquals(List.of("1", "collected", "forgotten"), runContainer("has run"));
    }
}
