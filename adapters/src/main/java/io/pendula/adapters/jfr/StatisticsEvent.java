package io.pendula.adapters.jfr;

import io.pendula.TimerStats;
import io.pendula.TimerStats.Figure;
import io.pendula.TimerStats.Lateness;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import jdk.jfr.AnnotationElement;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventFactory;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import jdk.jfr.ValueDescriptor;

/** The events whose fields are the figures of {@link TimerStats}. The recorder makes their classes from that table. */
final class StatisticsEvent {
    static final StatisticsEvent SCHEDULER = new StatisticsEvent("SchedulerStatistics", "Scheduler Statistics", f -> true,
            List.of(), List.of(nanos("latenessMedian", "Lateness, Median", ""), nanos("lateness99", "Lateness, 99 %", ""),
            nanos("latenessMax", "Lateness, Maximum", "")));
    static final StatisticsEvent QUEUE = new StatisticsEvent("QueueStatistics", "Queue Statistics", Figure::isByQueue,
            List.of(new ValueDescriptor(int.class, "queue", List.of(new AnnotationElement(Label.class, "Queue")))), List.of());

    private final List<Figure> figures;
    private final EventFactory factory;

    private StatisticsEvent(String name, String label, Predicate<Figure> which, List<ValueDescriptor> first,
            List<ValueDescriptor> last) {
        figures = Figure.all().stream().filter(which).toList();
        List<ValueDescriptor> fields = new ArrayList<>();
        fields.add(new ValueDescriptor(String.class, "scheduler", List.of(new AnnotationElement(Label.class, "Scheduler"))));
        fields.addAll(first);
        figures.forEach(f -> fields.add(field(f)));
        fields.addAll(last);
        factory = EventFactory.create(List.of(new AnnotationElement(Name.class, TimerEvent.PREFIX + name),
                new AnnotationElement(Label.class, label), new AnnotationElement(Category.class, new String[] {"Pendula"}),
                new AnnotationElement(StackTrace.class, false), new AnnotationElement(Registered.class, false)), fields);
    }

    private static ValueDescriptor field(Figure f) {
        String words = f.id().replaceAll("([A-Z])", " $1");
        String label = words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1);
        return f.unit().equals("ns") ? nanos(f.id(), label, f.text()) : new ValueDescriptor(long.class, f.id(),
                List.of(new AnnotationElement(Label.class, label), new AnnotationElement(Description.class, f.text())));
    }

    private static ValueDescriptor nanos(String name, String label, String text) {
        return new ValueDescriptor(long.class, name, List.of(new AnnotationElement(Label.class, label),
                new AnnotationElement(Description.class, text), new AnnotationElement(Timespan.class, Timespan.NANOSECONDS)));
    }

    void register() {
        factory.register();
    }

    void unregister() {
        factory.unregister();
    }

    /** Counts are since the start; lateness is of what has fired since the event before. */
    static void write(TimerStats stats, Lateness lately) {
        List<Object> values = new ArrayList<>(List.of(stats.name()));
        SCHEDULER.figures.forEach(f -> values.add(stats.get(f)));
        values.addAll(List.of(lately.quantileNanos(0.5), lately.quantileNanos(0.99), lately.maxNanos()));
        SCHEDULER.commit(values);
        for (int i = 0; i < stats.queues().size(); i++) {
            List<Object> ofQueue = new ArrayList<>(List.of(stats.name(), i));
            TimerStats.Queue queue = stats.queues().get(i);
            QUEUE.figures.forEach(f -> ofQueue.add(queue.get(f)));
            QUEUE.commit(ofQueue);
        }
    }

    private void commit(List<Object> values) {
        Event event = factory.newEvent();
        for (int i = 0; i < values.size(); i++) {
            event.set(i, values.get(i));
        }
        event.commit();
    }
}
