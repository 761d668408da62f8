package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A program without any permission uses a library that has all. There are security managers until JDK 23. */
@Timeout(60)
class SecurityManagerTest {
    static final class Submit {
        private Submit() {}

        public static void main(String[] args) throws Exception {
            ScheduledExecutorService pool = switch (args[0]) {
                case "pool" -> TimerExecutors.newScheduledThreadPool(1);
                case "shared" -> TimerScheduler.shared().asScheduledExecutorService();
                default -> TimerScheduler.builder().build().asScheduledExecutorService();
            };
            System.out.println(pool.submit(() -> 40).get() + pool.schedule(() -> 2, 1, TimeUnit.MILLISECONDS).get());
            pool.shutdown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pool", "shared"})
    void submit_noPermissions_runs(String kind, @TempDir Path dir) throws Exception {
        assumeTrue(Runtime.version().feature() < 24);
        Path library = Path.of(TimerScheduler.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path policy = dir.resolve("policy");
        Files.writeString(policy, "grant codeBase \"" + library.toUri() + "-\" { permission java.security.AllPermission; };");
        String out = LifeFixtures.runInChild(Submit.class,
                List.of("-Djava.security.manager", "-Djava.security.policy==" + policy), kind);
        assertEquals("42", out.substring(out.lastIndexOf('\n') + 1), out);
    }
}
