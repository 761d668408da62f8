package io.pendula.adapters.dbscheduler;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.event.AbstractSchedulerListener;
import com.github.kagkarlsson.scheduler.task.TaskInstanceId;
import io.pendula.MissedTicks;
import io.pendula.Ticker;
import io.pendula.Timer;
import io.pendula.TimerScheduler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

/**
 * Makes db-scheduler check for due executions when one is due, instead of at its next poll. There is a timer for each
 * instant of the near future at which an execution is due. Executions that this process schedules are known at once.
 * Those of other processes, even of ended ones, are found by reading the table from time to time.
 *
 * <pre>{@code
 * DueTimers due = new DueTimers(timers, dataSource, "scheduled_tasks", Duration.ofSeconds(10), executor);
 * Scheduler scheduler = Scheduler.create(dataSource, task).addSchedulerListener(due).build();
 * scheduler.start();
 * due.start(scheduler);
 * }</pre>
 *
 * <p>This object changes only when db-scheduler checks. All else remains up to db-scheduler: which process runs an
 * execution, that it runs at least once, and what happens if its process has died. Its polling continues. If this
 * object fails, an execution is late by at most the polling interval, and not lost.
 *
 * <p>All methods may be called by any thread at any time.
 *
 * @since 0.1
 */
public final class DueTimers extends AbstractSchedulerListener implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(DueTimers.class.getName());

    /** So that the present and this make a time that instants and databases can hold. */
    private static final Duration MOST = Duration.ofDays(365);

    private final TimerScheduler timers;
    private final DataSource dataSource;
    private final String query;
    private final Duration lookAhead;
    private final Executor executor;
    /** By the instants at which they are due. */
    private final Map<Instant, Timer> armed = new ConcurrentHashMap<>();
    /** Whether the executor has a look that has not ended. */
    private final AtomicBoolean isLooking = new AtomicBoolean();
    /** Null until started, and after closing. */
    private volatile Scheduler scheduler;
    /** Guarded by this. */
    private Ticker looks;
    /** Guarded by this. */
    private boolean closed;

    /**
     * Creates the object, which does nothing until {@link #start}.
     *
     * @param timers the scheduler for the timers; stays open
     * @param dataSource the data source of db-scheduler
     * @param table the table of db-scheduler, by default {@code scheduled_tasks}
     * @param lookAhead executions that are due within this time have timers. The table is read twice in this time. An
     *     execution that another process schedules to run before the next reading is late by at most half of this time
     * @param executor reads the table, which blocks; one reading at a time. It must run or reject each task
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code lookAhead} is less than a millisecond or more than 365 days, or
     *     {@code table} is not a name
     */
    public DueTimers(TimerScheduler timers, DataSource dataSource, String table, Duration lookAhead, Executor executor) {
        this.timers = Objects.requireNonNull(timers, "timers");
        this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        if (!Objects.requireNonNull(table, "table").matches("[\\w.]+")) {
            throw new IllegalArgumentException("table must be a name, but is '" + table + "'");
        }
        if (Objects.requireNonNull(lookAhead, "lookAhead").compareTo(Duration.ofMillis(1)) < 0
                || lookAhead.compareTo(MOST) > 0) {
            throw new IllegalArgumentException("lookAhead must be from 1 ms to 365 days, but is " + lookAhead);
        }
        this.query = "select distinct execution_time from " + table
                + " where picked = ? and execution_time > ? and execution_time <= ?";
        this.lookAhead = lookAhead;
        this.executor = Objects.requireNonNull(executor, "executor");
    }

    /**
     * Starts to read the table, at once and then at intervals. May be called once.
     *
     * @param scheduler a scheduler that has this object as a listener
     * @throws NullPointerException if {@code scheduler} is null
     * @throws IllegalStateException if this object was started before, or is closed
     */
    public synchronized void start(Scheduler scheduler) {
        Objects.requireNonNull(scheduler, "scheduler");
        if (closed) {
            throw new IllegalStateException("these timers are closed");
        }
        if (looks != null) {
            throw new IllegalStateException("these timers were started before");
        }
        this.scheduler = scheduler;
        looks = timers.every(lookAhead.dividedBy(2), MissedTicks.SKIP, this::lookSoon);
        lookSoon();
    }

    private void lookSoon() {
        if (!isLooking.compareAndSet(false, true)) { // a database that hangs gets no queue of looks
            return;
        }
        try {
            executor.execute(this::look);
        } catch (RejectedExecutionException e) {
            isLooking.set(false);
            LOG.log(System.Logger.Level.WARNING, "The executor rejects looks into the table; polling goes on.", e);
        } catch (Throwable e) {
            isLooking.set(false);
            throw e; // for the scheduler's listener
        }
    }

    private void look() {
        try {
            armWhatIsInTheTable();
        } finally {
            isLooking.set(false);
        }
    }

    private void armWhatIsInTheTable() {
        Instant now = Instant.now();
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setBoolean(1, false);
            // Also what is overdue for a short while: another process may have scheduled it since the look before, to
            // run before this one. What is overdue for longer waits for threads, not for a look.
            statement.setTimestamp(2, Timestamp.from(now.minus(lookAhead)));
            statement.setTimestamp(3, Timestamp.from(now.plus(lookAhead)));
            try (ResultSet times = statement.executeQuery()) {
                while (times.next()) {
                    arm(times.getTimestamp(1).toInstant());
                }
            }
        } catch (SQLException e) {
            LOG.log(System.Logger.Level.WARNING, "No look into the table was possible; polling goes on.", e);
        }
    }

    /** Called by db-scheduler when this process has scheduled an execution. */
    @Override
    public void onExecutionScheduled(TaskInstanceId id, Instant due) {
        if (due.isBefore(Instant.now().plus(lookAhead))) {
            arm(due);
        }
    }

    private void arm(Instant due) {
        if (scheduler == null) {
            return;
        }
        try {
            armed.computeIfAbsent(due, instant -> timers.after(until(instant), () -> check(instant)));
        } catch (RejectedExecutionException e) {
            LOG.log(System.Logger.Level.WARNING, "No timer for " + due + "; polling goes on.", e);
        }
    }

    /** Up to the next millisecond, as a database may round to it. */
    private static Duration until(Instant due) {
        return Duration.between(Instant.now(), due).plusMillis(1);
    }

    private void check(Instant due) {
        armed.remove(due);
        Scheduler s = scheduler;
        if (s == null) {
            return;
        }
        if (due.isAfter(Instant.now())) {
            arm(due); // the wall clock was set back
        } else {
            s.triggerCheckForDueExecutions();
        }
    }

    /** Cancels the timers permanently. The polling of db-scheduler continues. Further calls do nothing. */
    @Override
    public synchronized void close() {
        closed = true; // also if the start is still to come: nobody would end what it begins
        scheduler = null;
        if (looks != null) {
            looks.close();
        }
        armed.values().forEach(Timer::cancel);
        armed.clear();
    }
}
