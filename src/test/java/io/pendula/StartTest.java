package io.pendula;

import static io.pendula.LifeFixtures.runInChild;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a new JVM loads and links before the first timer fires; each of these things alone takes milliseconds. */
@Timeout(120)
class StartTest {
    /** Own classes; each takes a fifth of a millisecond and more. */
    private static final int MOST_CLASSES = 42;
    private static final Pattern COSTLY = Pattern.compile("LambdaForm\\$[A-Z]+/|\\$\\$Lambda|StringConcatFactory"
            + "|ObjectMethods|java\\.nio\\.file\\.|java\\.nio\\.channels\\.|sun\\.nio\\.(ch|fs)\\."
            + "|java\\.util\\.stream\\.");

    /** Uses nothing itself that costs anything. */
    static final class Child implements Runnable {
        private final CountDownLatch fired = new CountDownLatch(1);

        @Override
        public void run() {
            new Fired();
            fired.countDown();
        }

        public static void main(String[] args) throws InterruptedException {
            Child task = new Child();
            task.arm(args[0]);
            task.fired.await(60, TimeUnit.SECONDS); // a class of the tests would count
            Runtime.getRuntime().halt(0);
        }

        private void arm(String how) {
            switch (how) {
                case "after":
                    Timer.after(1, TimeUnit.MILLISECONDS, this);
                    break;
                case "every":
                    Ticker.every(Duration.ofMillis(1), this);
                    break;
                case "build":
                    TimerScheduler.builder().name("start").workers(2).build().after(Duration.ofMillis(1), this);
                    break;
                case "schedule":
                    TimerExecutors.newScheduledThreadPool(2).schedule(this, 1, TimeUnit.MILLISECONDS);
                    break;
                default:
                    TimerExecutors.newScheduledThreadPool(2).execute(this);
                    break;
            }
        }
    }

    /** Marks the end in the log. */
    static final class Fired {}

    /** By the thread that arms and by the one that runs the callback: what the monitor needs delays neither. */
    private static List<String> loadedUntilFired(String how) throws Exception {
        List<String[]> log = runInChild(Child.class, List.of("-Xlog:class+load:stdout:tid"), how).lines()
                .filter(line -> line.startsWith("[")).map(line -> line.substring(1).split(" *] ", 2)).toList();
        int from = firstOf(Child.class, log);
        int to = firstOf(Fired.class, log);
        assertTrue(from >= 0 && to > from, () -> how + ": " + log.size() + " lines, from " + from + " to " + to);
        Set<String> threads = Set.of(log.get(from)[0], log.get(to)[0]);
        assertEquals(2, threads.size());
        return log.subList(from, to).stream().filter(line -> threads.contains(line[0])).map(line -> line[1]).toList();
    }

    private static int firstOf(Class<?> marker, List<String[]> log) {
        for (int i = 0; i < log.size(); i++) {
            if (log.get(i)[1].startsWith(marker.getName() + " ")) {
                return i;
            }
        }
        return -1;
    }

    @ParameterizedTest
    @ValueSource(strings = {"after", "every", "build", "schedule", "execute"})
    void arm_inANewJvm_linksNothingAtRunTime(String how) throws Exception {
        List<String> loaded = loadedUntilFired(how);
        assertEquals(List.of(), loaded.stream().filter(line -> COSTLY.matcher(line).find()).toList());
        List<String> own = loaded.stream().filter(line -> line.startsWith("io.pendula.")).toList();
        assertTrue(own.size() >= 10 && own.size() <= MOST_CLASSES, () -> own.size() + ": " + String.join("\n", own));
    }
}
