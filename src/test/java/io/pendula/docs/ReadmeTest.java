package io.pendula.docs;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.Timer;
import io.pendula.TimerScheduler;
import io.pendula.examples.FirstTimers;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of the README does what it says, and it names the version that the build makes. */
@Timeout(60)
class ReadmeTest {
    /** A connection as the recipe needs it. */
    private static final class Connection {
        private final List<Runnable> onMessage = new ArrayList<>();
        private final List<Runnable> onClose = new ArrayList<>();
        private boolean closed;

        void onMessage(Runnable action) {
            onMessage.add(action);
        }

        void onClose(Runnable action) {
            onClose.add(action);
        }

        void receive() {
            onMessage.forEach(Runnable::run);
        }

        void close() {
            closed = true;
            onClose.forEach(Runnable::run);
        }
    }

    @Test
    void idleConnection_messages_postponeTheClosing() {
        ManualClock clock = new ManualClock();
        TimerScheduler timers = TimerScheduler.builder().clock(clock).build();
        Duration limit = Duration.ofSeconds(30);
        Connection connection = new Connection();

        Timer idle = timers.after(limit, connection::close);
        connection.onMessage(() -> idle.reset(limit));     // allocates nothing
        connection.onClose(idle::cancel);

        clock.advance(Duration.ofSeconds(29));
        connection.receive();
        clock.advance(Duration.ofSeconds(29));
        assertFalse(connection.closed);
        clock.advance(Duration.ofSeconds(1));
        assertTrue(connection.closed);
        assertEquals(0, timers.pending());
    }

    @Test
    void firstTimers_main_ticksAndRunsTheTask() throws InterruptedException {
        BlockingQueue<String> printed = new LinkedBlockingQueue<>();
        PrintStream before = System.out;
        List<String> lines = new ArrayList<>();
        System.setOut(new PrintStream(OutputStream.nullOutputStream()) {
            @Override
            public void println(String line) {
                printed.add(line);
            }
        });
        try {
            FirstTimers.main(new String[0]);
            String line;
            do { // the task of the pool runs after main
                line = printed.poll(30, SECONDS);
                lines.add(line);
            } while (line != null && !line.equals("later"));
        } finally {
            System.setOut(before);
        }
        assertEquals("later", lines.remove(lines.size() - 1));
        assertTrue(lines.size() >= 1 && lines.size() <= 4, lines::toString);
        assertTrue(lines.stream().allMatch("flush"::equals), lines::toString);
    }

    @Test
    void version_isThatOfTheBuild() throws Exception {
        Matcher m = Pattern.compile("<revision>(.+)</revision>\\s*<changelist>(.*)</changelist>")
                .matcher(Files.readString(Path.of("parent/pom.xml")));
        assertTrue(m.find());
        String version = m.group(1) + m.group(2);
        String readme = Files.readString(Path.of("README.md"));
        assertTrue(readme.contains("<version>" + version + "</version>"));
        assertTrue(readme.contains("io.pendula:pendula:" + version + "\""));
    }

    @Test
    void readme_isShort() throws Exception {
        assertTrue(Files.readAllLines(Path.of("README.md")).size() <= 120);
    }
}
