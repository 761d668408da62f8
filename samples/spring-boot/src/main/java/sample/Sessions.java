package sample;

import io.pendula.Timer;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Sessions of users. One that is not used for some time ends. */
@Component
public class Sessions {
    private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);

    private final Map<String, Timer> sessions = new ConcurrentHashMap<>();
    private final TimerScheduler timers;
    private final Duration limit;

    Sessions(TimerScheduler timers, @Value("${session.limit:30m}") Duration limit) {
        this.timers = timers;
        this.limit = limit;
    }

    /** Begins a session, or starts the time of the present one again. */
    public void use(String user) {
        sessions.compute(user, (u, timer) -> {
            if (timer == null) {
                return timers.after(limit, () -> expire(u));
            }
            timer.reset(limit);
            return timer;
        });
    }

    private void expire(String user) {
        sessions.computeIfPresent(user, (u, timer) -> timer.isPending() ? timer : null); // pending: used just now
    }

    public boolean isOpen(String user) {
        return sessions.containsKey(user);
    }

    @Scheduled(fixedRateString = "PT10M")
    void report() {
        LOG.info("open sessions: {}", sessions.size());
    }
}
