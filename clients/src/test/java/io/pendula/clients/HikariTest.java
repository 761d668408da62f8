package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * HikariCP's housekeeping, leak detection and end of life of connections, with H2 behind it. It reports by its log
 * alone; and the executor that it was given it does not close, but it takes its tasks back.
 */
class HikariTest {
    /** The least that it takes. */
    private static final long LEAK_AFTER = 2_000;

    private static final String PERIOD = "com.zaxxer.hikari.housekeeping.periodMs";

    private static final Logger LOG = Logger.getLogger("com.zaxxer.hikari");

    /** What the pool logs, with the instant and whether one of the executor's threads did it. */
    private static final class Log extends Handler implements AutoCloseable {
        record Line(String text, Level level, long instant, boolean onOwnThread) {}

        final Queue<Line> lines = new ConcurrentLinkedQueue<>();
        final CountDownLatch leaks;
        private final Subject subject;

        Log(Subject subject, int leaks) {
            this.subject = subject;
            this.leaks = new CountDownLatch(leaks);
            LOG.addHandler(this);
        }

        @Override
        public void publish(LogRecord record) {
            String text = record.getMessage();
            lines.add(new Line(text, record.getLevel(), System.nanoTime(), subject.isOwnThread()));
            if (text.startsWith("Connection leak detection")) {
                leaks.countDown();
            }
        }

        List<Line> with(String part) {
            return lines.stream().filter(line -> line.text.contains(part)).toList();
        }

        /** Leaks apart, and what a busy machine does to a clock. */
        List<Line> otherWarnings() {
            return lines.stream()
                    .filter(line -> line.level.intValue() >= Level.WARNING.intValue())
                    .filter(line -> !line.text.startsWith("Connection leak detection"))
                    .filter(line -> !line.text.contains("clock leap"))
                    .toList();
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            LOG.removeHandler(this);
        }
    }

    @BeforeEach
    void keepHouseOften() {
        System.setProperty(PERIOD, "100");
        LOG.setUseParentHandlers(false);
    }

    @AfterEach
    void keepHouseAsEver() {
        System.clearProperty(PERIOD);
        LOG.setUseParentHandlers(true);
    }

    private static HikariDataSource open(Subject subject) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:");
        config.setScheduledExecutor(subject.executor);
        config.setMaximumPoolSize(5);
        config.setMinimumIdle(1);
        config.setLeakDetectionThreshold(LEAK_AFTER);
        return new HikariDataSource(config);
    }

    private static int query(Connection connection, int value) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("select " + value)) {
            assertTrue(result.next());
            return result.getInt(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void leakDetection_reportsEachLeakOnce_andNothingElse(ExecutorKind kind) throws SQLException {
        int leaked = 3;
        try (Subject subject = kind.open(1); Log log = new Log(subject, leaked)) {
            try (HikariDataSource source = open(subject)) {
                long start = System.nanoTime();
                List<Connection> kept = new ArrayList<>();
                for (int i = 0; i < leaked; i++) {
                    kept.add(source.getConnection());
                }
                for (int i = 0; i < 500; i++) {
                    try (Connection connection = source.getConnection()) {
                        assertEquals(i, query(connection, i));
                    }
                }
                Patience.await(log.leaks);
                subject.letPass(LEAK_AFTER / 4);
                List<Log.Line> reports = log.with("Connection leak detection triggered");
                assertEquals(leaked, reports.size());
                assertEquals(leaked, reports.stream().map(Log.Line::text).distinct().count());
                for (Log.Line report : reports) {
                    Patience.assertElapsed(LEAK_AFTER, start, report.instant());
                    assertTrue(report.onOwnThread());
                }
                for (Connection connection : kept) {
                    assertEquals(1, query(connection, 1));
                    connection.close();
                }
                assertEquals(leaked, log.with("was returned to the pool (unleaked)").size());
            }
            assertEquals(List.of(), log.otherWarnings());
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void housekeeping_fillsThePool_andEvictionTakesLifetimesBack(ExecutorKind kind) {
        try (Subject subject = kind.open(1); Log log = new Log(subject, 0)) {
            try (HikariDataSource source = open(subject)) {
                assertEquals(1, source.getHikariPoolMXBean().getTotalConnections());
                source.getHikariConfigMXBean().setMinimumIdle(4); // only the housekeeper looks at it
                Patience.until("filled", () -> source.getHikariPoolMXBean().getIdleConnections() == 4);
                source.getHikariPoolMXBean().softEvictConnections();
                Patience.until("filled again", () -> source.getHikariPoolMXBean().getIdleConnections() == 4);
            }
            assertEquals(List.of(), log.otherWarnings()); // it warns of a task that it could not take back
            subject.assertLeftRunning(0);
        }
    }
}
