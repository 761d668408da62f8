package io.pendula.adapters.jmx;

import io.pendula.TimerStats;
import io.pendula.TimerStats.Figure;
import io.pendula.TimerStats.Lateness;
import io.pendula.adapters.internal.Snapshots;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.ImmutableDescriptor;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanException;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.ReflectionException;
import javax.management.StandardMBean;

/**
 * Reads the figures of a scheduler or pool that it does not keep from being collected.
 *
 * @param <S> which of them
 */
final class SchedulerBean<S> extends StandardMBean implements TimerSchedulerMXBean {
    /** Readers of the snapshots, one for each attribute: these, then the figures. */
    private enum Recent { FIRINGS, MEAN, P50, P99, MAX }

    private static final List<Figure> FIGURES = Figure.all();
    private static final List<String> NAMES = FIGURES.stream()
            .map(f -> Character.toUpperCase(f.id().charAt(0)) + f.id().substring(1)).toList();

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

    @Override
    public MBeanInfo getMBeanInfo() {
        MBeanInfo own = super.getMBeanInfo();
        List<MBeanAttributeInfo> all = new ArrayList<>(List.of(own.getAttributes()));
        for (int i = 0; i < NAMES.size(); i++) {
            Figure f = FIGURES.get(i);
            all.add(new MBeanAttributeInfo(NAMES.get(i), "long", f.text(), true, false, false,
                    new ImmutableDescriptor("units=" + f.unit())));
        }
        return new MBeanInfo(own.getClassName(), own.getDescription(), all.toArray(new MBeanAttributeInfo[0]),
                own.getConstructors(), own.getOperations(), own.getNotifications(), own.getDescriptor());
    }

    @Override
    public Object getAttribute(String attribute) throws AttributeNotFoundException, MBeanException, ReflectionException {
        int i = NAMES.indexOf(attribute);
        return i < 0 ? super.getAttribute(attribute)
                : snapshots.get(subject(), Recent.values().length + i).get(FIGURES.get(i));
    }

    /** Those that cannot be read are left out, as of every bean. */
    @Override
    public AttributeList getAttributes(String[] attributes) {
        AttributeList values = new AttributeList();
        for (String attribute : attributes) {
            try {
                values.add(new Attribute(attribute, getAttribute(attribute)));
            } catch (JMException | RuntimeException e) {
                continue;
            }
        }
        return values;
    }

    private Lateness recent(Recent reader) {
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
    public long getRecentFirings() {
        return recent(Recent.FIRINGS).count();
    }

    @Override
    public double getRecentLatenessMean() {
        Lateness recent = recent(Recent.MEAN);
        return recent.count() == 0 ? 0 : millis((double) recent.sumNanos() / recent.count());
    }

    @Override
    public double getRecentLatenessP50() {
        return millis(recent(Recent.P50).quantileNanos(0.5));
    }

    @Override
    public double getRecentLatenessP99() {
        return millis(recent(Recent.P99).quantileNanos(0.99));
    }

    @Override
    public double getRecentLatenessMax() {
        return millis(recent(Recent.MAX).maxNanos());
    }

    @Override
    public Map<String, Long> pendingByTask() {
        Map<String, Long> counts = new LinkedHashMap<>();
        pendingByTask.apply(subject()).forEach((task, count) -> counts.merge(task.getName(), count, Long::sum));
        return counts;
    }
}
