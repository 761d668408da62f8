package io.pendula;

import static io.pendula.LifeFixtures.runInChild;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The shared scheduler cannot be made at first: the next use tries again. */
@Timeout(120)
class SharedRetryTest {
    static final class Child {
        private static Object[] hoard;

        private Child() {}

        /** Uses up the memory, then arms; frees it, and arms again. */
        public static void main(String[] args) throws Exception {
            // What fails must be the making of the scheduler, not the loading or linking of a class: that is retried.
            try (TimerScheduler other = TimerScheduler.builder().build()) {
                other.after(1, TimeUnit.HOURS, () -> {});
            }
            Class.forName(Timer.class.getName()).getDeclaredMethods();
            Class.forName("io.pendula.internal.scheduler.SharedScheduler", false, Child.class.getClassLoader())
                    .getDeclaredMethods();
            CountDownLatch fired = new CountDownLatch(1);
            Runnable task = fired::countDown;
            boolean failed = false;
            try {
                for (int size = 1 << 20; size > 0; size >>= 1) {
                    fill(size);
                }
                Timer.after(1, TimeUnit.MILLISECONDS, task);
            } catch (OutOfMemoryError e) {
                failed = true;
            }
            hoard = null;
            System.out.println(failed ? "failed at first" : "there was memory left");
            Timer.after(1, TimeUnit.MILLISECONDS, task);
            System.out.println(fired.await(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS) ? "fired" : "lost");
        }

        private static void fill(int size) {
            try {
                for (;;) {
                    Object[] next = new Object[size];
                    next[0] = hoard;
                    hoard = next;
                }
            } catch (OutOfMemoryError e) {
                return; // not even so much is left
            }
        }
    }

    @Test
    void shared_firstUseWithoutMemory_secondSucceeds() throws Exception {
        String out = runInChild(Child.class, List.of("-Xmx24m", "-XX:+UseSerialGC", "-Xlog:disable"));
        assertEquals(List.of("failed at first", "fired"), out.lines().toList());
    }
}
