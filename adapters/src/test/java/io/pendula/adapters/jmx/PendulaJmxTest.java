package io.pendula.adapters.jmx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.SchedulerExecutor;
import io.pendula.TimerExecutors;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats.Figure;
import io.pendula.adapters.BusyScheduler;
import io.pendula.adapters.Patience;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.management.Attribute;
import javax.management.InstanceNotFoundException;
import javax.management.JMX;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.openmbean.TabularData;
import org.junit.jupiter.api.Test;

class PendulaJmxTest {
    private final MBeanServer server = MBeanServerFactory.newMBeanServer();

    /** As a console reads them: all at once. */
    private Map<String, Object> attributes(ObjectName name) throws Exception {
        String[] names = Arrays.stream(server.getMBeanInfo(name).getAttributes())
                .map(MBeanAttributeInfo::getName).toArray(String[]::new);
        Map<String, Object> values = new HashMap<>();
        for (Attribute attribute : server.getAttributes(name, names).asList()) {
            values.put(attribute.getName(), attribute.getValue());
        }
        assertEquals(names.length, values.size());
        return values;
    }

    @Test
    void attributes_ofASteppedScheduler() throws Exception {
        ManualClock clock = new ManualClock();
        try (TimerScheduler timers = TimerScheduler.builder().name("a, \"quoted\" name=*").clock(clock).build();
                PendulaJmx jmx = PendulaJmx.register(timers, server)) {
            assertEquals(Long.MAX_VALUE, attributes(jmx.objectName()).get("NanosUntilNext"));
            timers.after(Duration.ofSeconds(1), () -> {});
            timers.after(Duration.ofSeconds(1), () -> {}).stop();
            timers.after(Duration.ofSeconds(9), () -> {}).reset(Duration.ofSeconds(12));
            timers.after(Duration.ofSeconds(5), () -> {});
            clock.advance(Duration.ofSeconds(2));
            Map<String, Object> values = attributes(jmx.objectName());
            assertEquals("a, \"quoted\" name=*", values.get("Name"));
            assertEquals(false, values.get("Closed"));
            assertEquals(5L, values.get("Armed"));
            assertEquals(1L, values.get("Fired"));
            assertEquals(1L, values.get("Stopped"));
            assertEquals(1L, values.get("Resets"));
            assertEquals(2L, values.get("Pending"));
            assertEquals(1L, values.get("RecentFirings"));
            assertEquals(3_000_000_000L, values.get("NanosUntilNext"));
            timers.shutdownNow();
            assertEquals(true, attributes(jmx.objectName()).get("Closed"));
        }
        assertEquals(0, server.queryNames(new ObjectName("io.pendula:*"), null).size());
    }

    @Test
    void recentLateness_ofATimerBehindABlockedThread_inMilliseconds() throws Exception {
        try (TimerScheduler timers = TimerScheduler.builder().name("late").workers(1).build();
                PendulaJmx jmx = PendulaJmx.register(timers, server)) {
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch late = new CountDownLatch(1);
            timers.after(Duration.ZERO, () -> Patience.await(release));
            Patience.until("it runs", () -> timers.stats().running() == 1);
            timers.after(Duration.ZERO, late::countDown);
            long start = System.nanoTime(); // no earlier than the deadline
            Patience.until("20 ms have passed", () -> System.nanoTime() - start > 20_000_000);
            release.countDown();
            Patience.await(late);
            Map<String, Object> values = attributes(jmx.objectName());
            double max = (double) values.get("RecentLatenessMax");
            assertTrue(max >= 20 && max < Patience.SECONDS * 1e3, values::toString);
            assertTrue((double) values.get("RecentLatenessMean") >= 10, values::toString);
            assertTrue((double) values.get("RecentLatenessP99") > (double) values.get("RecentLatenessP50"),
                    values::toString);
            assertEquals(1L, values.get("MaxThreads"));
        }
    }

    /** What a console shows beside the figure. */
    @Test
    void attributesAndOperation_haveDescriptions_andFiguresHaveUnits() throws Exception {
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();
                PendulaJmx jmx = PendulaJmx.register(timers, server)) {
            MBeanInfo info = server.getMBeanInfo(jmx.objectName());
            assertEquals("a scheduler or pool of Pendula", info.getDescription());
            assertEquals("counts pending timers by the class of the task, for example to find a leak",
                    info.getOperations()[0].getDescription());
            for (MBeanAttributeInfo attribute : info.getAttributes()) {
                String text = attribute.getDescription();
                assertTrue(text.contains(" ") && !text.equals(attribute.getName()), attribute::toString);
                boolean isFigure = !attribute.getName().equals("Name") && !attribute.getName().equals("Closed");
                String unit = String.valueOf(attribute.getDescriptor().getFieldValue("units"));
                assertEquals(isFigure, !unit.isEmpty() && !unit.equals("null"), attribute::toString);
                assertEquals(text.contains("milliseconds"), unit.equals("ms"), attribute::toString);
            }
        }
    }

    /** Each attribute is the figure that its name says: no two are exchanged. */
    @Test
    void attributes_ofABusyScheduler_areWhatItsStatisticsSay() throws Exception {
        Map<String, Figure> figures = new TreeMap<>();
        for (Figure f : Figure.all()) {
            figures.put(Character.toUpperCase(f.id().charAt(0)) + f.id().substring(1), f);
        }
        try (TimerScheduler timers = BusyScheduler.make();
                PendulaJmx jmx = PendulaJmx.register(timers, server)) {
            figures.remove("NanosUntilNext"); // goes on between two readings
            for (boolean closed : new boolean[] {false, true}) {
                if (closed) {
                    assertEquals(5, timers.shutdownNow().size());
                }
                BusyScheduler.compare(timers, () -> attributesOf(jmx), (stats, values) -> figures.forEach(
                        (name, f) -> assertEquals(stats.get(f), values.get(name), name)));
            }
            assertEquals(Set.of("Name", "Closed", "NanosUntilNext", "RecentFirings", "RecentLatenessMean",
                    "RecentLatenessP50", "RecentLatenessP99", "RecentLatenessMax"), others(jmx, figures.keySet()),
                    "those have tests of their own");
        }
    }

    private Map<String, Object> attributesOf(PendulaJmx jmx) {
        try {
            attributes(jmx.objectName()); // who asks again gets a new snapshot
            return attributes(jmx.objectName());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private Set<String> others(PendulaJmx jmx, Set<String> known) {
        Set<String> others = new TreeSet<>(attributesOf(jmx).keySet());
        others.removeAll(known);
        return others;
    }

    @Test
    void pendingByTask_namesTheClassThatLeaks() throws Exception {
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();
                PendulaJmx jmx = PendulaJmx.register(timers, server)) {
            class Heartbeat implements Runnable {
                @Override
                public void run() {}
            }
            for (int i = 0; i < 100; i++) {
                timers.after(Duration.ofHours(1), new Heartbeat());
            }
            timers.after(Duration.ofHours(1), () -> {});
            TimerSchedulerMXBean bean = JMX.newMXBeanProxy(server, jmx.objectName(), TimerSchedulerMXBean.class);
            assertEquals(100, bean.pendingByTask().get(Heartbeat.class.getName()));
            TabularData table = (TabularData) server.invoke(jmx.objectName(), "pendingByTask", null, null);
            assertEquals(2, table.size());
        }
    }

    @Test
    void register_theSameName_givesANameOfItsOwn_andClosingTakesOnlyThatAway() throws Exception {
        try (TimerScheduler one = TimerScheduler.builder().name("same").clock(new ManualClock()).build();
                TimerScheduler two = TimerScheduler.builder().name("same").clock(new ManualClock()).build()) {
            PendulaJmx first = PendulaJmx.register(one, server);
            PendulaJmx second = PendulaJmx.register(two, server);
            PendulaJmx third = PendulaJmx.register(two, server);
            assertNotEquals(first.objectName(), second.objectName());
            assertNotEquals(second.objectName(), third.objectName());
            one.after(Duration.ofSeconds(1), () -> {});
            assertEquals(1L, attributes(first.objectName()).get("Armed"));
            assertEquals(0L, attributes(second.objectName()).get("Armed"));
            second.close();
            second.close();
            assertTrue(server.isRegistered(first.objectName()));
            assertFalse(server.isRegistered(second.objectName()));
            PendulaJmx again = PendulaJmx.register(two, server);
            assertEquals(second.objectName(), again.objectName());
            second.close();
            assertTrue(server.isRegistered(again.objectName()), "the name is another's by now");
            assertThrows(InstanceNotFoundException.class,
                    () -> server.getMBeanInfo(new ObjectName("io.pendula:type=TimerScheduler,name=\"none\"")));
        }
    }

    @Test
    void pool_isShownToo() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.builder().threads(3).name("db").maxPending(50).build();
                PendulaJmx jmx = PendulaJmx.register(pool, server)) {
            assertEquals("ran", pool.schedule(() -> "ran", 1, TimeUnit.MILLISECONDS).get());
            Future<?> later = pool.schedule(() -> {}, 1, TimeUnit.HOURS);
            Map<String, Object> values = attributes(jmx.objectName());
            assertEquals("db", values.get("Name"));
            assertEquals(1L, values.get("Fired"));
            assertEquals(1L, values.get("Pending"));
            assertEquals(3L, values.get("CoreThreads"));
            assertEquals(3L, values.get("MaxThreads"));
            assertEquals(50L, values.get("MaxPending"));
            assertEquals(false, values.get("Closed"));
            TimerSchedulerMXBean bean = JMX.newMXBeanProxy(server, jmx.objectName(), TimerSchedulerMXBean.class);
            assertEquals(1, bean.pendingByTask().size());
            later.cancel(false);
            pool.shutdown();
            assertTrue(bean.isClosed());
            PendulaJmx byDefault = PendulaJmx.register(pool);
            assertTrue(ManagementFactory.getPlatformMBeanServer().isRegistered(byDefault.objectName()));
            byDefault.close();
        }
        assertThrows(NullPointerException.class, () -> PendulaJmx.register((SchedulerExecutor) null, server));
    }

    @Test
    void register_withThePlatformServer_byDefault() {
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();
                PendulaJmx jmx = PendulaJmx.register(timers)) {
            MBeanServer platform = ManagementFactory.getPlatformMBeanServer();
            assertTrue(platform.isRegistered(jmx.objectName()));
        }
    }

    @Test
    void schedulerIsCollected_thoughRegistered() {
        TimerScheduler timers = TimerScheduler.builder().name("gone").clock(new ManualClock()).build();
        PendulaJmx jmx = PendulaJmx.register(timers, server);
        WeakReference<TimerScheduler> gone = new WeakReference<>(timers);
        timers = null;
        Patience.until("collected", () -> {
            System.gc();
            return gone.get() == null;
        });
        TimerSchedulerMXBean bean = JMX.newMXBeanProxy(server, jmx.objectName(), TimerSchedulerMXBean.class);
        assertEquals("gone", bean.getName());
        IllegalStateException thrown = assertThrows(IllegalStateException.class, bean::isClosed);
        assertTrue(thrown.getMessage().contains("'gone'"), thrown.getMessage());
        assertThrows(RuntimeMBeanException.class, () -> server.getAttribute(jmx.objectName(), "Armed"));
        jmx.close();
    }
}
