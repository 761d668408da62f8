package io.pendula.adapters.dbscheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.github.kagkarlsson.scheduler.Scheduler;
import io.pendula.ManualClock;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On H2. */
@SuppressWarnings("try") // timers that are only started and closed
class DueTimersTest extends DueTimersCase {
    @TempDir
    private Path directory;

    private final ManualClock clock = new ManualClock();
    private final List<Throwable> thrown = new ArrayList<>();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).listener(new TimerListener() {
        @Override
        public void threw(TimerHandle timer, long latenessNanos, Throwable t) {
            thrown.add(t);
        }
    }).build();

    @Override
    String database(String name, boolean inFiles) {
        return inFiles ? "jdbc:h2:file:" + directory.resolve(name) + ";WRITE_DELAY=0"
                : "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1";
    }

    private DataSource empty(String name) throws SQLException {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL(database(name, false));
        Tables.create(source);
        return source;
    }

    /** Looks each five seconds. */
    private DueTimers started(DataSource source, Executor executor) {
        DueTimers due = new DueTimers(timers, source, "scheduled_tasks", Duration.ofSeconds(10), executor);
        due.start(Scheduler.create(source).build());
        return due;
    }

    /** However long a database hangs, one look waits for it. */
    @Test
    void look_theOneBeforeHasNotEnded_isLeftOut() throws SQLException {
        List<Runnable> handedOver = new ArrayList<>();
        try (timers; DueTimers due = started(empty("hangs"), handedOver::add)) {
            clock.advance(Duration.ofMinutes(10));
            assertEquals(1, handedOver.size());
            handedOver.remove(0).run();
            clock.advance(Duration.ofSeconds(5));
            assertEquals(1, handedOver.size(), "the next look comes when it is time");
            clock.advance(Duration.ofMinutes(10));
            assertEquals(1, handedOver.size());
        }
    }

    @Test
    void look_executorRejectsOrThrows_nextOneComes() throws SQLException {
        Logger log = Logger.getLogger(DueTimers.class.getName());
        Level before = log.getLevel();
        log.setLevel(Level.OFF);
        List<Runnable> handedOver = new ArrayList<>();
        IllegalStateException broken = new IllegalStateException("meant");
        List<RuntimeException> failures = new ArrayList<>(List.of(new RejectedExecutionException("meant"), broken));
        try (timers; DueTimers due = started(empty("rejected"), look -> {
            if (!failures.isEmpty()) {
                throw failures.remove(0);
            }
            handedOver.add(look);
        })) {
            clock.advance(Duration.ofSeconds(5));
            assertEquals(List.of(broken), thrown);
            assertEquals(List.of(), handedOver);
            clock.advance(Duration.ofSeconds(5));
            assertEquals(1, handedOver.size());
        } finally {
            log.setLevel(before);
        }
    }

    @Test
    void start_afterClose_isRefusedAndLeavesNoTicker() throws SQLException {
        List<Runnable> handedOver = new ArrayList<>();
        DataSource source = empty("closed");
        try (timers) {
            DueTimers due = new DueTimers(timers, source, "scheduled_tasks", Duration.ofSeconds(10), handedOver::add);
            due.close();
            assertThrows(IllegalStateException.class, () -> due.start(Scheduler.create(source).build()));
            assertEquals(0, timers.pending());
            assertEquals(List.of(), handedOver);
        }
    }

    @Test
    void look_throwsWhatIsNoSqlException_nextOneComes() throws SQLException {
        List<Runnable> handedOver = new ArrayList<>();
        DataSource empty = empty("broken");
        boolean[] broken = {false};
        DataSource source = (DataSource) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    if (broken[0]) {
                        throw new IllegalStateException("meant");
                    }
                    return method.invoke(empty, arguments);
                });
        try (timers; DueTimers due = started(source, handedOver::add)) {
            broken[0] = true;
            assertThrows(IllegalStateException.class, handedOver.remove(0)::run);
            clock.advance(Duration.ofSeconds(5));
            assertEquals(1, handedOver.size());
        }
    }
}
