package io.pendula.adapters.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.pendula.SchedulerExecutor;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import io.pendula.TimerStats.Lateness;
import io.pendula.adapters.internal.Snapshots;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Publishes the figures of a {@link TimerScheduler} or a pool as meters. Meters named {@code executor.*} are those that
 * Micrometer has for the JDK's pools, so existing dashboards work. All figures, and the lateness, are named
 * {@code pendula.*}.
 *
 * <pre>{@code
 * new PendulaMetrics(scheduler).bindTo(registry); // or a pool of TimerExecutors
 * }</pre>
 *
 * <p>All meters have the tag {@code name}. All meters of one scrape are read from one
 * {@linkplain TimerScheduler#stats() snapshot}, so they belong together. Nothing is measured between scrapes.
 *
 * <p><b>References.</b> The scheduler or pool can be garbage-collected although it is observed. Its meters then stay,
 * without a value, until this object is closed.
 *
 * <p>All methods may be called by any thread at any time.
 *
 * @since 0.1
 */
public final class PendulaMetrics implements MeterBinder, AutoCloseable {
    private static final double[] QUANTILES = {0.5, 0.9, 0.99, 0.999};

    private record Bound(MeterRegistry registry, Meter meter) {}

    /** A scheduler or an executor. */
    private final WeakReference<Object> subject;
    private final Tags tags;
    private final Function<Object, TimerStats> source;
    private final LongSupplier clock;
    /** Guarded by this. */
    private final List<Bound> bound = new ArrayList<>();

    /**
     * Creates a binder for a scheduler, under its own name.
     *
     * @param scheduler the scheduler to observe
     * @throws NullPointerException if {@code scheduler} is null
     */
    public PendulaMetrics(TimerScheduler scheduler) {
        this(scheduler, Objects.requireNonNull(scheduler, "scheduler").stats().name(), Tags.empty());
    }

    /**
     * Creates a binder for a scheduler, under the given name.
     *
     * @param scheduler the scheduler to observe
     * @param name the value of the tag {@code name}
     * @throws NullPointerException if an argument is null
     */
    public PendulaMetrics(TimerScheduler scheduler, String name) {
        this(scheduler, name, Tags.empty());
    }

    /**
     * Creates a binder for a scheduler, under the given name and with further tags.
     *
     * @param scheduler the scheduler to observe
     * @param name the value of the tag {@code name}
     * @param tags further tags for each meter
     * @throws NullPointerException if an argument is null
     */
    public PendulaMetrics(TimerScheduler scheduler, String name, Iterable<Tag> tags) {
        this(Objects.requireNonNull(scheduler, "scheduler"), name, tags, s -> ((TimerScheduler) s).stats(),
                System::nanoTime);
    }

    /**
     * Creates a binder for a pool, under its own name.
     *
     * @param executor a pool; for a view, the figures are those of its scheduler
     * @throws NullPointerException if {@code executor} is null
     */
    public PendulaMetrics(SchedulerExecutor executor) {
        this(executor, Objects.requireNonNull(executor, "executor").stats().name(), Tags.empty());
    }

    /**
     * Creates a binder for a pool, under the given name.
     *
     * @param executor a pool; for a view, the figures are those of its scheduler
     * @param name the value of the tag {@code name}
     * @throws NullPointerException if an argument is null
     */
    public PendulaMetrics(SchedulerExecutor executor, String name) {
        this(executor, name, Tags.empty());
    }

    /**
     * Creates a binder for a pool, under the given name and with further tags.
     *
     * @param executor a pool; for a view, the figures are those of its scheduler
     * @param name the value of the tag {@code name}
     * @param tags further tags for each meter
     * @throws NullPointerException if an argument is null
     */
    public PendulaMetrics(SchedulerExecutor executor, String name, Iterable<Tag> tags) {
        this(Objects.requireNonNull(executor, "executor"), name, tags, s -> ((SchedulerExecutor) s).stats(),
                System::nanoTime);
    }

    PendulaMetrics(Object subject, String name, Iterable<Tag> tags, Function<Object, TimerStats> source,
            LongSupplier clock) {
        this.subject = new WeakReference<>(subject);
        this.tags = Tags.concat(Objects.requireNonNull(tags, "tags"), "name", Objects.requireNonNull(name, "name"));
        this.source = source;
        this.clock = clock;
    }

    /**
     * Registers the meters. Does nothing if the scheduler or pool has been garbage-collected.
     *
     * @param registry the registry for the meters
     * @throws NullPointerException if {@code registry} is null
     * @throws IllegalStateException if the registry already has one of the meters with these tags, for example from
     *     another scheduler or a pool of the JDK; nothing is registered then
     */
    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        Objects.requireNonNull(registry, "registry");
        Object observed = subject.get();
        if (observed == null) {
            return;
        }
        int before = bound.size();
        try {
            new Binding(registry, observed).bindAll();
        } catch (RuntimeException e) {
            remove(bound.subList(before, bound.size()));
            throw e;
        }
    }

    /** Removes all meters that this object has registered. May be called more than once. */
    @Override
    public synchronized void close() {
        remove(bound);
    }

    private static void remove(List<Bound> some) {
        some.forEach(b -> b.registry.remove(b.meter));
        some.clear();
    }

    /** Registers the meters for one registry. Each figure of each meter is a reader of the snapshots. */
    private final class Binding {
        private final MeterRegistry registry;
        private final Object observed;
        private final Snapshots<Object> snapshots;
        /** The meters that were there before. */
        private final Set<Meter> others = Collections.newSetFromMap(new IdentityHashMap<>());
        private int readers;

        Binding(MeterRegistry registry, Object observed) {
            this.registry = registry;
            this.observed = observed;
            this.snapshots = new Snapshots<>(observed, source, clock);
            this.others.addAll(registry.getMeters());
        }

        void bindAll() {
            counter("executor.completed", "tasks", "Callbacks run", TimerStats::fired);
            gauge("executor.active", "threads", "Callbacks in progress", TimerStats::running);
            gauge("executor.queued", "tasks", "Timers and tasks that are to run, now or later", TimerStats::pending);
            gauge("executor.queue.remaining", "tasks", "Timers and tasks for which there is room", PendulaMetrics::room);
            gauge("executor.pool.size", "threads", "Threads", TimerStats::threads);
            gauge("executor.pool.core", "threads", "Threads, if none is blocked and each was needed",
                    TimerStats::coreThreads);
            gauge("executor.pool.max", "threads", "The most threads there may be", TimerStats::maxThreads);
            counter("executor.steals", "tasks", "Callbacks run by another worker than their own", TimerStats::stolen);

            TimerStats.Figure.all().forEach(this::figure);
            timer("pendula.lateness", "How long after their deadlines timers fired", s -> s.lateness().count(),
                    s -> s.lateness().sumNanos());
            recent("pendula.lateness.max", "The largest lateness in the last one to two minutes", Tags.empty(),
                    Lateness::maxNanos);
            for (double quantile : QUANTILES) {
                recent("pendula.lateness.quantile",
                        "Lateness in the last one to two minutes that this share of the firings did not exceed",
                        Tags.of("quantile", Double.toString(quantile)), l -> l.quantileNanos(quantile));
            }
        }

        /** By its own name in small letters, without the unit of a time, which the registry adds. */
        private void figure(TimerStats.Figure f) {
            String name = "pendula." + f.id().replaceAll("([A-Z])", ".$1").toLowerCase(Locale.ROOT)
                    .replaceAll("^nanos\\.|\\.nanos$", "");
            boolean isTime = f.unit().equals("ns");
            if (f.isCounter() && isTime) {
                ToLongFunction<TimerStats> nanos = rising(s -> s.get(f));
                add(FunctionCounter.builder(name, observed, value(s -> nanos.applyAsLong(s) / 1e9)).tags(tags)
                        .description(f.text()).baseUnit("seconds").register(registry));
            } else if (f.isCounter()) {
                counter(name, null, f.text(), s -> s.get(f));
            } else if (isTime) {
                add(TimeGauge.builder(name, observed, TimeUnit.NANOSECONDS, value(s -> bounded(s.get(f)))).tags(tags)
                        .description(f.text()).register(registry));
            } else {
                add(Gauge.builder(name, observed, value(s -> bounded(s.get(f)))).tags(tags).description(f.text())
                        .register(registry));
            }
        }

        /** {@code unit} is null where the name says it. */
        private void counter(String name, String unit, String text, ToLongFunction<TimerStats> figure) {
            ToDoubleFunction<Object> value = value(rising(figure)::applyAsLong);
            add(FunctionCounter.builder(name, observed, value).tags(tags).description(text).baseUnit(unit)
                    .register(registry));
        }

        private void gauge(String name, String unit, String text, ToLongFunction<TimerStats> figure) {
            ToDoubleFunction<Object> value = value(figure::applyAsLong);
            add(Gauge.builder(name, observed, value).tags(tags).description(text).baseUnit(unit).register(registry));
        }

        private void recent(String name, String text, Tags more, ToLongFunction<Lateness> nanos) {
            Snapshots<Object> from = snapshots;
            int reader = readers++;
            ToDoubleFunction<Object> value = s -> nanos.applyAsLong(from.recent(s, reader));
            add(TimeGauge.builder(name, observed, TimeUnit.NANOSECONDS, value).tags(tags).tags(more)
                    .description(text).register(registry));
        }

        private void timer(String name, String text, ToLongFunction<TimerStats> count, ToLongFunction<TimerStats> nanos) {
            Snapshots<Object> from = snapshots;
            int first = readers++;
            int second = readers++;
            ToLongFunction<TimerStats> counts = rising(count);
            ToLongFunction<TimerStats> sums = rising(nanos);
            add(FunctionTimer.builder(name, observed, s -> counts.applyAsLong(from.get(s, first)),
                    s -> sums.applyAsLong(from.get(s, second)), TimeUnit.NANOSECONDS).tags(tags).description(text)
                    .register(registry));
        }

        /** Refers to the snapshots, and not to what is observed: registries keep the function, and its argument weakly. */
        private ToDoubleFunction<Object> value(ToDoubleFunction<TimerStats> figure) {
            Snapshots<Object> from = snapshots;
            int reader = readers++;
            return s -> figure.applyAsDouble(from.get(s, reader));
        }

        /**
         * A registry returns the meter that has the id already, if there is one. It is found by that, and not by its
         * tags, as the registry may add further ones to those of all meters.
         */
        private void add(Meter meter) {
            if (others.contains(meter)) {
                throw new IllegalStateException("the registry has a meter " + meter.getId().getName()
                        + " with the tags " + tags.stream().toList() + " already; give one of the two another name");
            }
            bound.add(new Bound(registry, meter));
        }
    }

    /** A figure that never falls, as a close makes some: Prometheus takes a counter that falls for one that began anew. */
    private static ToLongFunction<TimerStats> rising(ToLongFunction<TimerStats> figure) {
        AtomicLong most = new AtomicLong();
        return stats -> most.accumulateAndGet(figure.applyAsLong(stats), Math::max);
    }

    /** Without a bound, the number that the queue of the JDK's pool tells. */
    private static long room(TimerStats stats) {
        return stats.maxPending() == Long.MAX_VALUE ? Integer.MAX_VALUE : Math.max(0, stats.maxPending() - stats.pending());
    }

    /** No value for what has no bound or never comes. */
    private static double bounded(long value) {
        return value == Long.MAX_VALUE ? Double.NaN : value;
    }
}
