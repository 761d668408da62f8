package io.pendula;

import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.runInChild;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An application that has used the shared scheduler is undeployed: its class loader can be collected. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class UndeployTest {
    private static final long LIMIT_SECONDS = 15;

    /** Loaded by a class loader of its own. */
    public static final class Application implements Runnable {
        private final List<Object> kept = new ArrayList<>();

        /** As containers do for each application. */
        private static final class Group extends ThreadGroup {
            @SuppressWarnings("removal") // else the group stays in its parent for ever, on JDK 17
            Group() {
                super("of the application");
                setDaemon(true);
            }
        }

        /** Uses timers of all kinds by a thread that belongs to the application through and through. */
        @Override
        public void run() {
            Thread t = new Thread(new Group(), this::use);
            t.setContextClassLoader(Application.class.getClassLoader());
            t.setPriority(Thread.MAX_PRIORITY);
            t.setDaemon(true);
            t.start();
            try {
                t.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        private void use() {
            CountDownLatch fired = new CountDownLatch(2);
            Timer.after(1, TimeUnit.MILLISECONDS, fired::countDown);
            Ticker ticker = Ticker.every(Duration.ofMillis(1), fired::countDown);
            Timer stopped = Timer.after(Duration.ofHours(1), () -> kept.add(1));
            Timer soon = Timer.after(Duration.ofSeconds(20), () -> kept.add(2));
            Timer putOff = Timer.after(Duration.ofMinutes(1), () -> kept.add(3));
            Timer never = Timer.after(Long.MAX_VALUE, TimeUnit.DAYS, () -> kept.add(6));
            ScheduledExecutorService view = TimerScheduler.shared().asScheduledExecutorService();
            view.scheduleAtFixedRate(() -> kept.add(4), 1, 1, TimeUnit.HOURS);
            view.schedule(() -> kept.add(5), 50, TimeUnit.SECONDS);
            try {
                if (!fired.await(10, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("nothing fired");
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            putOff.reset(Duration.ofHours(2));
            ticker.stop();
            stopped.stop();
            soon.stop();
            putOff.stop();
            never.stop();
            view.shutdownNow();
        }
    }

    /** The container: prints after how many milliseconds the application's loader was gone. */
    static final class Container {
        private Container() {}

        public static void main(String[] args) throws Exception {
            boolean own = args[0].equals("own");
            if (args[1].equals("first")) {
                arm();
            }
            WeakReference<ClassLoader> loader = deploy(own);
            if (args[1].equals("afterwards")) {
                arm();
            }
            long began = System.nanoTime();
            while (loader.get() != null && System.nanoTime() - began < TimeUnit.SECONDS.toNanos(LIMIT_SECONDS)) {
                System.gc();
                Thread.sleep(50);
            }
            System.out.println(loader.get() == null ? (System.nanoTime() - began) / 1_000_000 : -1);
        }

        /** Timers of the container's own, on all workers, so that no thread ends. */
        private static void arm() throws InterruptedException {
            for (int i = 0; i < 8; i++) {
                Thread t = new Thread(() -> Timer.after(Duration.ofHours(3), () -> {}));
                t.start();
                t.join();
            }
        }

        private static WeakReference<ClassLoader> deploy(boolean own) throws Exception {
            URL library = TimerScheduler.class.getProtectionDomain().getCodeSource().getLocation();
            URL tests = UndeployTest.class.getProtectionDomain().getCodeSource().getLocation();
            try (URLClassLoader loader = own
                    ? new URLClassLoader(new URL[] {library, tests}, ClassLoader.getPlatformClassLoader())
                    : new URLClassLoader(new URL[] {tests}, new LibraryOnly())) {
                Class<?> application = loader.loadClass(Application.class.getName());
                if (application == Application.class || own == (library(application) == TimerScheduler.class)) {
                    throw new IllegalStateException("wrong placement");
                }
                ((Runnable) application.getConstructor().newInstance()).run();
                return new WeakReference<>(loader);
            }
        }

        private static Class<?> library(Class<?> application) throws ClassNotFoundException {
            return Class.forName(TimerScheduler.class.getName(), false, application.getClassLoader());
        }
    }

    /** The container's class loader, but for the application's own classes. */
    private static final class LibraryOnly extends ClassLoader {
        LibraryOnly() {
            super(UndeployTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith(Application.class.getName())) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }
    }

    @ParameterizedTest
    @CsvSource({"parent, first", "parent, afterwards", "parent, never", "own, never"})
    void undeploy_timersStopped_loaderIsCollected(String library, String container) throws Exception {
        String out = runInChild(Container.class, List.of("-Xmx64m"), library, container);
        assertTrue(out.matches("-?\\d+"), out);
        long millis = Long.parseLong(out);
        figure("class loader collected after %d ms: library in %s loader, container arms %s", millis, library,
                container);
        assertTrue(millis >= 0, "still reachable after " + LIMIT_SECONDS + " s");
        assertEquals(0, millis / TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
    }
}
