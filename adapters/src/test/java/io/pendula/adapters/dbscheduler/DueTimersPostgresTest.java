package io.pendula.adapters.dbscheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.adapters.Patience;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** On PostgreSQL, where it is installed; elsewhere skipped, with a word about it. */
class DueTimersPostgresTest extends DueTimersCase {
    private static PostgresServer server;

    @BeforeAll
    static void start() throws Exception {
        server = PostgresServer.start();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    /** PostgreSQL's are always in files. */
    @Override
    String database(String name, boolean inFiles) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.url("postgres"));
                Statement statement = connection.createStatement()) {
            statement.execute("create database " + name);
        }
        return server.url(name);
    }

    /** What breaks with the server is logged by all who use it, and meant. */
    private static final List<Logger> NOISY = Stream.of("com.github.kagkarlsson", "com.zaxxer.hikari", "org.postgresql",
            DueTimers.class.getName()).map(Logger::getLogger).toList();

    /** The database itself is killed, twice, while executions are scheduled and run: what it had taken it still has. */
    @Test
    void kill9_ofTheServer_losesNothing() throws Exception {
        List<Level> before = NOISY.stream().map(Logger::getLevel).toList();
        NOISY.forEach(logger -> logger.setLevel(Level.OFF));
        try {
            scheduleWhileTheServerIsKilled();
        } finally {
            for (int i = 0; i < before.size(); i++) {
                NOISY.get(i).setLevel(before.get(i));
            }
        }
    }

    private void scheduleWhileTheServerIsKilled() throws Exception {
        try (Durable durable = new Durable(database("crashed", true), Duration.ofSeconds(4), Duration.ofSeconds(2), true)) {
            Set<String> scheduled = new HashSet<>();
            Random random = new Random(3);
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 60; i++) {
                    String id = "crashed-" + round + "-" + i;
                    durable.scheduler.schedule(durable.task.instance(id),
                            Instant.now().plusMillis(random.nextInt(1_000)));
                    scheduled.add(id);
                }
                if (round < 2) {
                    long ran = durable.count("select count(*) from runs");
                    Patience.until("some have run", () -> durable.count("select count(*) from runs") >= ran + 10);
                    server.kill();
                    server.run();
                    Patience.until("the pool has new connections", durable::isConnected);
                }
            }
            Patience.until("all that were taken have run", () -> durable.ran().containsAll(scheduled));
            assertEquals(new TreeSet<>(scheduled), new TreeSet<>(durable.ran()));
            assertEquals(0, durable.count("select count(*) from runs where ran_millis < due_millis"));
        }
    }
}
