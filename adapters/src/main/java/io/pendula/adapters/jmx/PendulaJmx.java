package io.pendula.adapters.jmx;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerScheduler;
import java.lang.management.ManagementFactory;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * Shows a {@link TimerScheduler} or a pool in JMX until this object is closed.
 *
 * <pre>{@code
 * PendulaJmx jmx = PendulaJmx.register(scheduler); // io.pendula:type=TimerScheduler,name="io"
 * }</pre>
 *
 * <p>A registered scheduler or pool can still be garbage-collected. All methods may be called by any thread at any
 * time.
 *
 * @since 0.1
 */
public final class PendulaJmx implements AutoCloseable {
    private final MBeanServer server;
    private final ObjectName objectName;
    private final AtomicBoolean closed = new AtomicBoolean();

    private PendulaJmx(MBeanServer server, ObjectName objectName) {
        this.server = server;
        this.objectName = objectName;
    }

    /**
     * Registers a scheduler with the platform's MBean server under its own name, see
     * {@link #register(TimerScheduler, MBeanServer)}.
     *
     * @param scheduler the scheduler to show
     * @return the registration
     * @throws NullPointerException if {@code scheduler} is null
     * @throws IllegalStateException if the server refuses the bean for a reason other than its name
     */
    public static PendulaJmx register(TimerScheduler scheduler) {
        return register(scheduler, ManagementFactory.getPlatformMBeanServer());
    }

    /**
     * Registers a scheduler under its own name. If that name is taken, for example by another application in the same
     * JVM, the bean gets another key: {@code id=2}, or the next number that is free.
     *
     * @param scheduler the scheduler to show
     * @param server the MBean server
     * @return the registration
     * @throws NullPointerException if an argument is null
     * @throws IllegalStateException if the server refuses the bean for a reason other than its name
     */
    public static PendulaJmx register(TimerScheduler scheduler, MBeanServer server) {
        Objects.requireNonNull(scheduler, "scheduler");
        return register(new SchedulerBean<>(scheduler, scheduler.stats().name(), TimerScheduler::stats,
                TimerScheduler::pendingByTask, TimerScheduler::isClosed), server);
    }

    /**
     * Registers a pool with the platform's MBean server under its own name, see
     * {@link #register(TimerScheduler, MBeanServer)}.
     *
     * @param executor a pool; for a view, the figures are those of its scheduler
     * @return the registration
     * @throws NullPointerException if {@code executor} is null
     * @throws IllegalStateException if the server refuses the bean for a reason other than its name
     */
    public static PendulaJmx register(SchedulerExecutor executor) {
        return register(executor, ManagementFactory.getPlatformMBeanServer());
    }

    /**
     * Registers a pool under its own name, with another key if needed, as
     * {@link #register(TimerScheduler, MBeanServer)} does.
     *
     * @param executor a pool; for a view, the figures are those of its scheduler
     * @param server the MBean server
     * @return the registration
     * @throws NullPointerException if an argument is null
     * @throws IllegalStateException if the server refuses the bean for a reason other than its name
     */
    public static PendulaJmx register(SchedulerExecutor executor, MBeanServer server) {
        Objects.requireNonNull(executor, "executor");
        return register(new SchedulerBean<>(executor, executor.stats().name(), SchedulerExecutor::stats,
                SchedulerExecutor::pendingByTask, SchedulerExecutor::isShutdown), server);
    }

    private static PendulaJmx register(SchedulerBean<?> bean, MBeanServer server) {
        Objects.requireNonNull(server, "server");
        String name = bean.getName();
        for (int id = 1; ; id++) {
            try {
                ObjectName objectName = objectName(name, id);
                server.registerMBean(bean, objectName);
                return new PendulaJmx(server, objectName);
            } catch (InstanceAlreadyExistsException e) {
                // the next id
            } catch (JMException e) {
                throw new IllegalStateException("scheduler '" + name + "' cannot be registered", e);
            }
        }
    }

    private static ObjectName objectName(String name, int id) throws MalformedObjectNameException {
        String text = "io.pendula:type=TimerScheduler,name=" + ObjectName.quote(name);
        return new ObjectName(id == 1 ? text : text + ",id=" + id);
    }

    /** {@return the name of the bean, which is unique in its server} */
    public ObjectName objectName() {
        return objectName;
    }

    /**
     * Removes the bean, if it is still registered. Further calls do nothing.
     *
     * @throws IllegalStateException if the server fails to remove the bean
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return; // another bean may have the name by now
        }
        try {
            server.unregisterMBean(objectName);
        } catch (InstanceNotFoundException e) {
            // removed by hand
        } catch (JMException e) {
            throw new IllegalStateException(objectName + " cannot be removed", e);
        }
    }
}
