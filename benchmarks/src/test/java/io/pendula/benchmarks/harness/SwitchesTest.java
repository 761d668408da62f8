package io.pendula.benchmarks.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SwitchesTest {
    private static final String NAME = "a-scheduler-thread-17";

    private final CountDownLatch over = new CountDownLatch(1);

    @AfterEach
    void endThreads() {
        over.countDown();
    }

    private Thread started(String name) {
        Thread t = new Thread(() -> {
            try {
                over.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    private static void task(Path tasks, int id, String name, long switches) throws IOException {
        Path task = Files.createDirectories(tasks.resolve(String.valueOf(id)));
        Files.writeString(task.resolve("comm"), name + "\n");
        Files.writeString(task.resolve("status"), "Name:\t" + name + "\nvoluntary_ctxt_switches:\t" + switches
                + "\nnonvoluntary_ctxt_switches:\t1000\n");
    }

    @Test
    void count_tasks_areThoseOfThreadsStartedSince(@TempDir Path tasks) throws IOException {
        started("an-older-thread-1");
        task(tasks, 1, "an-older-thread", 5);
        task(tasks, 2, "a-schedu..ad-17", 5);
        Switches switches = Switches.beforeOpening(tasks);
        started(NAME);
        task(tasks, 3, "a-scheduler-thr", 7); // as one JDK shortens it
        task(tasks, 4, "a-sched..ead-17", 7); // and another
        task(tasks, 5, "C2 CompilerThre", 7); // no Java thread has the name
        task(tasks, 6, "an-older-thread", 7); // its thread was there before
        switches.begin();
        assertEquals(0, switches.count());
        for (int id = 1; id <= 6; id++) {
            task(tasks, id, Files.readString(tasks.resolve(id + "/comm")).strip(), 107);
        }
        assertEquals(200, switches.count());
        task(tasks, 7, "a-scheduler-thr", 3);
        assertEquals(203, switches.count(), "with one that began meanwhile");
    }

    @Test
    void count_threadsLeftOut_areNotCounted(@TempDir Path tasks) throws IOException {
        Switches switches = Switches.beforeOpening(tasks);
        switches.leaveOut(Set.of(started(NAME)));
        task(tasks, 3, Switches.shortened(NAME), 7);
        switches.begin();
        task(tasks, 3, Switches.shortened(NAME), 9);
        assertEquals(0, switches.count());
    }

    @Test
    void areKnown_noSuchFolder_isFalse(@TempDir Path folder) {
        assertFalse(Switches.beforeOpening(folder.resolve("task")).areKnown());
    }

    @Test
    void shortened_names_haveFifteenLettersAtMost() {
        assertEquals("a-scheduler-thr", Switches.shortened(NAME));
        assertEquals("a-sched..ead-17", Switches.shortenedInTheMiddle(NAME));
        assertEquals("Go19", Switches.shortened("Go19"));
        assertEquals("exactly-fifteen", Switches.shortenedInTheMiddle("exactly-fifteen"));
    }

    @Test
    void count_threadThatParks_isAtLeastOnePerPark() throws InterruptedException {
        Switches switches = Switches.beforeOpening();
        assumeTrue(switches.areKnown(), "not on Linux");
        CountDownLatch parked = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Thread t = new Thread(() -> {
            try {
                begun.await();
                for (int i = 0; i < 50; i++) {
                    LockSupport.parkNanos(100_000);
                }
                parked.countDown();
                over.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, NAME);
        t.setDaemon(true);
        t.start();
        switches.begin();
        begun.countDown();
        parked.await();
        long count = switches.count();
        assertTrue(count >= 50, () -> "switches: " + count);
    }
}
