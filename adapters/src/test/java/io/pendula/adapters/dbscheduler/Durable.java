package io.pendula.adapters.dbscheduler;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import io.pendula.TimerScheduler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.h2.jdbcx.JdbcConnectionPool;

/** A db-scheduler on H2 whose task notes when each execution has run. */
final class Durable implements AutoCloseable {
    private static final String TABLES = """
            create table if not exists scheduled_tasks (
              task_name varchar(100), task_instance varchar(100), task_data blob,
              execution_time timestamp(9) with time zone, picked boolean, picked_by varchar(50),
              last_success timestamp(9) with time zone, last_failure timestamp(9) with time zone,
              consecutive_failures int, last_heartbeat timestamp(9) with time zone, version bigint, priority smallint,
              primary key (task_name, task_instance));
            create index if not exists due_times on scheduled_tasks (execution_time);
            create table if not exists runs (id varchar(100), due_millis bigint, ran_millis bigint)""";

    final JdbcConnectionPool dataSource;
    final Scheduler scheduler;
    final OneTimeTask<Void> task;
    final TimerScheduler timers = TimerScheduler.builder().name("due").build();
    private final ExecutorService looks = Executors.newSingleThreadExecutor();
    private final DueTimers due;

    Durable(String url, Duration lookAhead, Duration polling, boolean started) throws SQLException {
        dataSource = JdbcConnectionPool.create(url, "sa", "");
        dataSource.setMaxConnections(30);
        execute(TABLES);
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

    /** A part of the executions was not later than this, in milliseconds. */
    long quantile(double part) {
        return count("select percentile_disc(" + part + ") within group (order by ran_millis - due_millis) from runs");
    }

    @Override
    public void close() {
        due.close();
        scheduler.stop();
        looks.shutdown();
        timers.close();
        dataSource.dispose();
    }

    /**
     * Schedules executions, and says of each that it is in the table, until the process is killed; or, without a prefix,
     * waits until none is left.
     */
    public static void main(String[] args) throws Exception {
        Durable durable = new Durable(args[0], Duration.ofSeconds(4), Duration.ofSeconds(10), true);
        if (args.length > 1) {
            Random random = new Random(args[1].hashCode());
            for (int i = 0; ; i++) {
                String id = args[1] + "-" + i;
                durable.scheduler.schedule(durable.task.instance(id), Instant.now().plusMillis(random.nextInt(2_000)));
                durable.execute("checkpoint sync"); // H2 returns from a commit before it is in the file
                System.out.println("SCHEDULED " + id);
                System.out.flush();
                Thread.sleep(5);
            }
        }
        while (durable.count("select count(*) from scheduled_tasks") > 0) {
            Thread.sleep(100);
        }
        System.out.println("DRAINED");
        durable.close();
    }
}
