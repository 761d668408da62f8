package io.pendula.adapters.dbscheduler;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.pendula.TimerScheduler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.h2.api.ErrorCode;

/** A db-scheduler whose task notes when each execution has run. */
final class Durable implements AutoCloseable {
    final HikariDataSource dataSource;
    final Scheduler scheduler;
    final OneTimeTask<Void> task;
    final TimerScheduler timers = TimerScheduler.builder().name("due").build();
    private final ExecutorService looks = Executors.newSingleThreadExecutor();
    private final DueTimers due;

    Durable(String url, Duration lookAhead, Duration polling, boolean started) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(15);
        dataSource = new HikariDataSource(config);
        Tables.create(dataSource);
        task = Tasks.oneTime("note").execute((instance, context) -> note(instance.getId(),
                context.getExecution().executionTime));
        due = new DueTimers(timers, dataSource, "scheduled_tasks", lookAhead, looks);
        scheduler = Scheduler.create(dataSource, task).threads(10).pollingInterval(polling)
                .heartbeatInterval(Duration.ofSeconds(1)).missedHeartbeatsLimit(4).addSchedulerListener(due).build();
        scheduler.start();
        if (started) {
            due.start(scheduler);
        }
    }

    private void note(String id, Instant dueAt) {
        long now = System.currentTimeMillis();
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement("insert into runs values (?, ?, ?)")) {
            insert.setString(1, id);
            insert.setLong(2, dueAt.toEpochMilli());
            insert.setLong(3, now);
            insert.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void execute(String command) throws SQLException {
        try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute(command);
        }
    }

    long count(String query) {
        try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(query)) {
            result.next();
            return result.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    boolean isConnected() {
        try {
            execute("select 1");
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    /** Whether an index names a row that is gone, as H2 leaves it now and then when it is killed: no look finds anything. */
    private boolean isBroken() {
        try {
            execute("select * from scheduled_tasks where picked = false and execution_time <= current_timestamp "
                    + "order by execution_time");
        } catch (SQLException e) {
            for (Throwable t = e; t != null; t = t.getCause()) {
                if (t instanceof SQLException s && s.getErrorCode() == ErrorCode.ROW_NOT_FOUND_IN_PRIMARY_INDEX) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The executions that have run. */
    Set<String> ran() {
        Set<String> ids = new HashSet<>();
        try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("select distinct id from runs")) {
            while (result.next()) {
                ids.add(result.getString(1));
            }
            return ids;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A part of the executions was not later than this, in milliseconds. */
    long quantile(double part) {
        return count("select percentile_disc(" + part + ") within group (order by ran_millis - due_millis) from runs");
    }

    void closeTimers() {
        due.close();
    }

    @Override
    public void close() {
        due.close();
        scheduler.stop();
        looks.shutdown();
        timers.close();
        dataSource.close();
    }

    /**
     * Schedules executions, and says of each that it is in the table, until the process is killed; or, without a prefix,
     * waits until none is left, or the database is found to be broken.
     */
    public static void main(String[] args) throws Exception {
        Durable durable = new Durable(args[0], Duration.ofSeconds(4), Duration.ofSeconds(10), true);
        if (args.length > 1) {
            Random random = new Random(args[1].hashCode());
            for (int i = 0; ; i++) {
                String id = args[1] + "-" + i;
                durable.scheduler.schedule(durable.task.instance(id), Instant.now().plusMillis(random.nextInt(2_000)));
                if (args[0].startsWith("jdbc:h2:")) {
                    durable.execute("checkpoint sync"); // H2 returns from a commit before it is in the file
                }
                System.out.println("SCHEDULED " + id);
                System.out.flush();
                Thread.sleep(5);
            }
        }
        while (durable.count("select count(*) from scheduled_tasks") > 0) {
            if (durable.isBroken()) {
                System.out.println("BROKEN");
                Runtime.getRuntime().halt(1);
            }
            Thread.sleep(100);
        }
        System.out.println("DRAINED");
        durable.close();
    }
}
