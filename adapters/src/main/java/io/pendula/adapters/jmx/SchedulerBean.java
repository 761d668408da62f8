package io.pendula.adapters.jmx;

import io.pendula.TimerStats;
import io.pendula.TimerStats.Lateness;
import io.pendula.adapters.internal.Snapshots;
import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.StandardMBean;

/**
 * Reads the figures of a scheduler or pool that it does not keep from being collected.
 *
 * @param <S> which of them
 */
final class SchedulerBean<S> extends StandardMBean implements TimerSchedulerMXBean {
    /** A reader of the snapshots for each attribute. */
    private enum Attribute {
        ARMED, FIRED, STOPPED, RESET, UNFIRED, PENDING, STALE, CAPACITY, STOLEN, WAKES, SPARES, THREADS, CORE_THREADS,
        MAX_THREADS, MAX_PENDING, RUNNING, SLOW, THREW, STALLS, ALL_BLOCKED, NEXT, RECENT, MEAN, P50, P99, MAX
    }

    private final String name;
    private final WeakReference<S> subject;
    private final Function<? super S, Map<Class<?>, Long>> pendingByTask;
    private final Predicate<? super S> isClosed;
    private final Snapshots<S> snapshots;

    /** The functions must not refer to {@code subject}. */
    SchedulerBean(S subject, String name, Function<? super S, TimerStats> stats,
            Function<? super S, Map<Class<?>, Long>> pendingByTask, Predicate<? super S> isClosed) {
        super(TimerSchedulerMXBean.class, true);
        this.name = name;
        this.subject = new WeakReference<>(subject);
        this.pendingByTask = pendingByTask;
        this.isClosed = isClosed;
        this.snapshots = new Snapshots<>(subject, stats, System::nanoTime);
    }

    @Override
    protected String getDescription(MBeanInfo info) {
        return "a scheduler or pool of Pendula";
    }

    @Override
    protected String getDescription(MBeanFeatureInfo info) {
        return (String) info.getDescriptor().getFieldValue("description");
    }

    private S subject() {
        S s = subject.get();
        if (s == null) {
            throw new IllegalStateException("scheduler '" + name + "' is no more");
        }
        return s;
    }

    private TimerStats stats(Attribute reader) {
        return snapshots.get(subject(), reader.ordinal());
    }

    private Lateness recent(Attribute reader) {
        return snapshots.recent(subject(), reader.ordinal());
    }

    private static double millis(double nanos) {
        return nanos / 1e6;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public boolean isClosed() {
        return isClosed.test(subject());
    }

    @Override
    public long getArmed() {
        return stats(Attribute.ARMED).armed();
    }

    @Override
    public long getFired() {
        return stats(Attribute.FIRED).fired();
    }

    @Override
    public long getStopped() {
        return stats(Attribute.STOPPED).stopped();
    }

    @Override
    public long getResets() {
        return stats(Attribute.RESET).resets();
    }

    @Override
    public long getUnfired() {
        return stats(Attribute.UNFIRED).unfired();
    }

    @Override
    public long getPending() {
        return stats(Attribute.PENDING).pending();
    }

    @Override
    public long getStaleEntries() {
        return stats(Attribute.STALE).staleEntries();
    }

    @Override
    public long getHeapCapacity() {
        return stats(Attribute.CAPACITY).heapCapacity();
    }

    @Override
    public long getStolen() {
        return stats(Attribute.STOLEN).stolen();
    }

    @Override
    public long getOverdueWakes() {
        return stats(Attribute.WAKES).overdueWakes();
    }

    @Override
    public long getSpareThreads() {
        return stats(Attribute.SPARES).spareThreads();
    }

    @Override
    public int getThreads() {
        return stats(Attribute.THREADS).threads();
    }

    @Override
    public int getCoreThreads() {
        return stats(Attribute.CORE_THREADS).coreThreads();
    }

    @Override
    public int getMaxThreads() {
        return stats(Attribute.MAX_THREADS).maxThreads();
    }

    @Override
    public long getMaxPending() {
        return stats(Attribute.MAX_PENDING).maxPending();
    }

    @Override
    public int getRunning() {
        return stats(Attribute.RUNNING).running();
    }

    @Override
    public long getCallbacksSlow() {
        return stats(Attribute.SLOW).callbacksSlow();
    }

    @Override
    public long getCallbacksThrew() {
        return stats(Attribute.THREW).callbacksThrew();
    }

    @Override
    public long getStalls() {
        return stats(Attribute.STALLS).stalls();
    }

    @Override
    public long getAllBlocked() {
        return stats(Attribute.ALL_BLOCKED).allBlocked();
    }

    @Override
    public double getMillisUntilNext() {
        long nanos = stats(Attribute.NEXT).nanosUntilNext();
        return nanos == Long.MAX_VALUE ? -1 : millis(nanos);
    }

    @Override
    public long getRecentFirings() {
        return recent(Attribute.RECENT).count();
    }

    @Override
    public double getRecentLatenessMean() {
        Lateness recent = recent(Attribute.MEAN);
        return recent.count() == 0 ? 0 : millis((double) recent.sumNanos() / recent.count());
    }

    @Override
    public double getRecentLatenessP50() {
        return millis(recent(Attribute.P50).quantileNanos(0.5));
    }

    @Override
    public double getRecentLatenessP99() {
        return millis(recent(Attribute.P99).quantileNanos(0.99));
    }

    @Override
    public double getRecentLatenessMax() {
        return millis(recent(Attribute.MAX).maxNanos());
    }

    @Override
    public Map<String, Long> pendingByTask() {
        Map<String, Long> counts = new LinkedHashMap<>();
        pendingByTask.apply(subject()).forEach((task, count) -> counts.merge(task.getName(), count, Long::sum));
        return counts;
    }
}
