package io.pendula.adapters.dbscheduler;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** The table of db-scheduler, and one for what has run. */
public final class Tables {
    private static final String SCRIPT = """
            create table if not exists scheduled_tasks (
              task_name varchar(100), task_instance varchar(100), task_data %1$s,
              execution_time %2$s, picked boolean, picked_by varchar(50), last_success %2$s, last_failure %2$s,
              consecutive_failures int, last_heartbeat %2$s, version bigint, priority smallint,
              primary key (task_name, task_instance));
            create index if not exists due_times on scheduled_tasks (execution_time);
            create table if not exists runs (id varchar(100), due_millis bigint, ran_millis bigint)""";

    private Tables() {}

    public static void create(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
            boolean postgres = connection.getMetaData().getDatabaseProductName().equals("PostgreSQL");
            statement.execute(postgres ? SCRIPT.formatted("bytea", "timestamp with time zone")
                    : SCRIPT.formatted("blob", "timestamp(9) with time zone"));
        }
    }
}
