package io.pendula.adapters.dbscheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.kagkarlsson.scheduler.SchedulerClient;
import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Child;
import io.pendula.adapters.Patience;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executions of db-scheduler run when they are due, also if they were scheduled by others, and survive a kill. */
@Timeout(120)
abstract class DueTimersCase {
    static final Duration POLLING = Duration.ofSeconds(60);

    /** An empty database. If it is kept in files, it survives the process that uses it. */
    abstract String database(String name, boolean inFiles) throws Exception;

    private String database(String name) throws Exception {
        return database(name, false);
    }

    private void printFigures(String figures) {
        if (Boolean.getBoolean("figures")) {
            System.out.println(getClass().getSimpleName() + ": " + figures);
        }
    }

    @Test
    void executions_ofThisProcess_runWhenDue_notAtTheNextPoll() throws Exception {
        try (Durable durable = new Durable(database("own"), Duration.ofSeconds(4), POLLING, true)) {
            int count = 300;
            Random random = new Random(1);
            for (int i = 0; i < count; i++) {
                durable.scheduler.schedule(durable.task.instance("own-" + i),
                        Instant.now().plusMillis(500 + random.nextInt(2_000)));
            }
            Patience.until("all ran", () -> durable.count("select count(distinct id) from runs") == count);
            assertEquals(count, durable.count("select count(*) from runs"));
            assertEquals(0, durable.count("select count(*) from runs where ran_millis < due_millis"));
            assertTrue(durable.quantile(1) < POLLING.toMillis() / 2);
            printFigures("late by p50 " + durable.quantile(0.5) + " ms, p99 " + durable.quantile(0.99) + " ms, max "
                    + durable.quantile(1) + " ms");
        }
    }

    @Test
    void executions_ofAnotherProcess_areSeenByTheLookAhead() throws Exception {
        try (Durable durable = new Durable(database("other"), Duration.ofSeconds(2), POLLING, true)) {
            Patience.until("the first poll is over", () -> durable.scheduler.getSchedulerState().isStarted());
            SchedulerClient other = SchedulerClient.Builder.create(durable.dataSource, durable.task).build();
            int count = 50;
            for (int i = 0; i < count; i++) {
                other.scheduleIfNotExists(durable.task.instance("other-" + i), Instant.now().plusMillis(3_000 + 20 * i));
            }
            Patience.until("all ran", () -> durable.count("select count(*) from runs") == count);
            assertEquals(0, durable.count("select count(*) from runs where ran_millis < due_millis"));
            assertTrue(durable.quantile(1) < POLLING.toMillis() / 2);
        }
    }

    /** No look can see it before it is due. */
    @Test
    void execution_ofAnotherProcess_thatIsDueAtOnce_isSeenByTheNextLook() throws Exception {
        try (Durable durable = new Durable(database("at_once"), Duration.ofSeconds(2), POLLING, true)) {
            durable.scheduler.schedule(durable.task.instance("own"), Instant.now());
            Patience.until("the first poll is over", () -> durable.count("select count(*) from runs") == 1
                    && durable.count("select count(*) from scheduled_tasks") == 0);
            SchedulerClient other = SchedulerClient.Builder.create(durable.dataSource, durable.task).build();
            other.scheduleIfNotExists(durable.task.instance("other"), Instant.now());
            Patience.until("it ran", () -> durable.count("select count(*) from runs") == 2);
            assertTrue(durable.quantile(1) < POLLING.toMillis() / 2);
        }
    }

    @Test
    void withoutIt_executionsWaitForTheNextPoll() throws Exception {
        try (Durable durable = new Durable(database("without"), Duration.ofSeconds(4),
                Duration.ofSeconds(3), false)) {
            for (int i = 0; i < 20; i++) {
                durable.scheduler.schedule(durable.task.instance("slow-" + i), Instant.now().plusMillis(200 + 10 * i));
            }
            Patience.until("all ran", () -> durable.count("select count(*) from runs") == 20);
            assertTrue(durable.quantile(1) > 200, "what the timers are for");
        }
    }

    /** Each execution that was in the table has run, at least once, though its process was killed again and again. */
    @Test
    void kill9_losesNothing() throws Exception {
        int attempt = 1;
        while (!runsAllThatKill9Left(database("killed" + attempt, true))) {
            assertTrue(++attempt <= 3, "the kill broke the database itself, each time");
        }
    }

    /** False if nothing can be said, as the kill has broken the database. */
    private boolean runsAllThatKill9Left(String url) throws Exception {
        Set<String> scheduled = new HashSet<>();
        Random random = new Random(2);
        for (int round = 0; round < 3; round++) {
            try (Child child = Child.start(Durable.class, "none", url, "round" + round)) {
                int count = 40 + random.nextInt(80);
                for (int i = 0; i < count; i++) {
                    scheduled.add(child.line("SCHEDULED").split(" ")[1]);
                }
            }
        }
        try (Child child = Child.start(Durable.class, "none", url)) {
            if (child.line("DRAINED", "BROKEN").equals("BROKEN")) {
                return false;
            }
        }
        Set<String> ran = new HashSet<>();
        int runs = 0;
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("select id, ran_millis - due_millis from runs")) {
            while (result.next()) {
                runs++;
                ran.add(result.getString(1));
                assertTrue(result.getLong(2) >= 0, "early");
            }
        }
        assertTrue(scheduled.size() >= 120, () -> scheduled.size() + " scheduled");
        Set<String> lost = new HashSet<>(scheduled);
        lost.removeAll(ran);
        assertEquals(Set.of(), lost);
        printFigures(scheduled.size() + " reported, " + ran.size() + " ran, " + runs + " runs");
        return true;
    }

    /** There may be any number of executions in the table: timers are for the near ones. */
    @Test
    void execution_beyondTheLookAhead_hasNoTimer_andClosingLeavesNone() throws Exception {
        try (Durable durable = new Durable(database("far"), Duration.ofSeconds(50), POLLING, true)) {
            Patience.until("the first poll is over", () -> durable.scheduler.getSchedulerState().isStarted());
            for (int i = 0; i < 20; i++) {
                durable.scheduler.schedule(durable.task.instance("far-" + i), Instant.now().plusSeconds(3_600 + i));
            }
            assertEquals(1, durable.timers.pending(), "the ticker for looks into the table");
            Instant near = Instant.now().plusSeconds(40);
            for (int i = 0; i < 20; i++) {
                durable.scheduler.schedule(durable.task.instance("near-" + i), near.plusSeconds(i % 2));
            }
            assertEquals(3, durable.timers.pending(), "one for each instant");
            durable.closeTimers();
            assertEquals(0, durable.timers.pending());
            durable.scheduler.schedule(durable.task.instance("later"), near);
            assertEquals(0, durable.timers.pending());
            assertEquals(41, durable.count("select count(*) from scheduled_tasks"));
        }
    }

    @Test
    void constructor_andStart_rejectNonsense() throws Exception {
        JdbcDataSource source = new JdbcDataSource();
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build()) {
            assertThrows(IllegalArgumentException.class,
                    () -> new DueTimers(timers, source, "x; drop table y", Duration.ofSeconds(1), Runnable::run));
            assertThrows(IllegalArgumentException.class,
                    () -> new DueTimers(timers, source, "x", Duration.ZERO, Runnable::run));
            assertThrows(IllegalArgumentException.class,
                    () -> new DueTimers(timers, source, "x", ChronoUnit.FOREVER.getDuration(), Runnable::run));
            assertThrows(NullPointerException.class,
                    () -> new DueTimers(timers, source, "x", Duration.ofSeconds(1), null));
            assertThrows(NullPointerException.class,
                    () -> new DueTimers(timers, source, "x", Duration.ofSeconds(1), Runnable::run).start(null));
        }
    }
}
