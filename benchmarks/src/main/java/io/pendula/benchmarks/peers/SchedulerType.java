package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.pendula.Timer;
import io.pendula.TimerScheduler;
import io.pendula.benchmarks.designs.Designs;
import io.pendula.benchmarks.rivals.Rival;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.IntFunction;

/** The schedulers under test. */
public enum SchedulerType {
    PENDULA(SchedulerType::pendula),
    /** ScheduledThreadPoolExecutor, which removes what is cancelled. */
    STPE(threads -> executor(PoolType.STPE.open(Math.max(1, threads)))),
    /**
     * Netty's HashedWheelTimer, which has one thread. The wheel is sized for a million timers: with the default of 512
     * slots each tick would look at thousands that are not due.
     */
    HWT(threads -> wheel(new HashedWheelTimer(Executors.defaultThreadFactory(), 1, MILLISECONDS, 1 << 16, false))),
    /** ForkJoinPool, a ScheduledExecutorService since JDK 25. */
    FJP(SchedulerType::forkJoin),

    /** Pendula's ScheduledExecutorService, whose tasks may block. */
    PENDULA_POOL(threads -> executor(PoolType.PENDULA_POOL.open(orProcessors(threads)))),
    /** Netty's DefaultEventExecutorGroup: event loops without I/O, a heap each, and a queue of tasks before it. */
    NETTY_EXECUTOR(threads -> executor(PoolType.NETTY_EXECUTOR.open(orProcessors(threads)))),

    // Further libraries, and further settings of those above.
    /** ScheduledThreadPoolExecutor as built: what is cancelled stays in its heap until it is due. */
    STPE_KEEPS(threads -> executor(new ScheduledThreadPoolExecutor(Math.max(1, threads)))),
    /** Netty's HashedWheelTimer as built: a tick of 100 ms and 512 slots. */
    HWT_100MS(threads -> wheel(new HashedWheelTimer())),
    /** Netty's event loops, called from outside: a heap each, and a queue of tasks before it. */
    NETTY_NIO(threads -> executor(new NioEventLoopGroup(orProcessors(threads)))),
    /** The same over the system's epoll, which can wait for less than a millisecond. Linux only. */
    NETTY_EPOLL(SchedulerType::epoll),
    JAVA_TIMER(threads -> new JavaTimer()),
    KAFKA(threads -> new KafkaTimer()),
    PEKKO(threads -> new PekkoTimer()),
    VERTX(threads -> new VertxTimer()),

    // The designs of the history of timers.
    GO_1_9(threads -> Designs.go19()),
    GO_1_10(threads -> Designs.go110()),
    /** Go 1.10's with as many queues as processors in place of 64. */
    GO_1_10_P(threads -> Designs.go110(orProcessors(threads))),
    /** Those of 1.9 and 1.10 whose callbacks are run by as many other threads as there are processors, as in Go. */
    GO_1_9_HANDED(threads -> Designs.handedOver(Designs.go19(), orProcessors(threads))),
    GO_1_10_HANDED(threads -> Designs.handedOver(Designs.go110(), orProcessors(threads))),
    GO_1_14(threads -> Designs.go114(orProcessors(threads))),
    GOIM(threads -> Designs.goim()),
    NGINX(threads -> Designs.redBlackTree()),
    SKIP_LIST(threads -> Designs.skipList()),
    WHEEL_1MS(threads -> Designs.simpleWheel(1)),
    WHEEL_10MS(threads -> Designs.simpleWheel(10)),
    SKYNET_1MS(threads -> Designs.hierarchicalWheel(1)),
    SKYNET_10MS(threads -> Designs.hierarchicalWheel(10)),
    EVENT_LOOP(threads -> Designs.eventLoop()),
    EVENT_LOOPS(threads -> Designs.eventLoops(orProcessors(threads)));

    /** As many threads as the scheduler has by default; STPE, which has no default, gets one. */
    public static final int AS_BUILT = 0;

    /** The designs of the history. */
    public static final List<SchedulerType> DESIGNS = List.copyOf(EnumSet.range(GO_1_9, EVENT_LOOPS));

    private final IntFunction<Rival> opener;

    SchedulerType(IntFunction<Rival> opener) {
        this.opener = opener;
    }

    public final Rival open(int threads) {
        return opener.apply(threads);
    }

    private static int orProcessors(int threads) {
        return threads == AS_BUILT ? Runtime.getRuntime().availableProcessors() : threads;
    }

    private static Rival pendula(int threads) {
        TimerScheduler.Builder builder = TimerScheduler.builder();
        if (threads != AS_BUILT) {
            builder.workers(threads);
        }
        return pendula(builder.build());
    }

    private static Rival forkJoin(int threads) {
        return executor(PoolType.scheduled(threads == AS_BUILT ? new ForkJoinPool() : new ForkJoinPool(threads)));
    }

    private static Rival epoll(int threads) {
        if (!Epoll.isAvailable()) {
            throw new UnsupportedOperationException("no epoll: " + Epoll.unavailabilityCause());
        }
        return executor(new EpollEventLoopGroup(orProcessors(threads)));
    }

    public static Rival pendula(TimerScheduler timers) {
        return new Rival() {
            @Override
            public Object schedule(long delayNanos, Task task) {
                return timers.after(delayNanos, NANOSECONDS, task);
            }

            @Override
            public boolean cancel(Object handle) {
                return ((Timer) handle).stop();
            }

            @Override
            public Object reset(Object handle, long delayNanos, Task task) {
                ((Timer) handle).reset(delayNanos, NANOSECONDS);
                return handle;
            }

            @Override
            public void close() {
                timers.close();
            }
        };
    }

    static Rival executor(ScheduledExecutorService pool) {
        return new Rival() {
            @Override
            public Object schedule(long delayNanos, Task task) {
                return pool.schedule(task, delayNanos, NANOSECONDS);
            }

            @Override
            public boolean cancel(Object handle) {
                return ((Future<?>) handle).cancel(false);
            }

            @Override
            public void close() {
                pool.shutdownNow();
            }
        };
    }

    private static Rival wheel(HashedWheelTimer timer) {
        return new Rival() {
            @Override
            public Object schedule(long delayNanos, Task task) {
                return timer.newTimeout(task, delayNanos, NANOSECONDS);
            }

            @Override
            public boolean cancel(Object handle) {
                return ((Timeout) handle).cancel();
            }

            @Override
            public void close() {
                timer.stop();
            }
        };
    }
}
