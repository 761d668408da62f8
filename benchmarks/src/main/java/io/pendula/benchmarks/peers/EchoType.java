package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import io.pendula.benchmarks.rivals.EchoServer;
import io.pendula.benchmarks.rivals.Rival;
import java.io.IOException;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;

/** How a server's loop can run timers beside its I/O. */
public enum EchoType {
    /** A TimerLoop with the selector. */
    PENDULA {
        @Override
        public EchoServer open() throws IOException {
            return started(new Pendula());
        }
    },
    /** Netty's loop, over a selector. */
    NETTY {
        @Override
        public EchoServer open() {
            return new NettyEcho(new NioEventLoopGroup(1), NioServerSocketChannel.class);
        }
    },
    /** Netty's loop over the system's epoll, which can wait for less than a millisecond. Linux only. */
    NETTY_EPOLL {
        @Override
        public EchoServer open() {
            if (!Epoll.isAvailable()) {
                throw new UnsupportedOperationException("no epoll: " + Epoll.unavailabilityCause());
            }
            return new NettyEcho(new EpollEventLoopGroup(1), EpollServerSocketChannel.class);
        }
    },
    /** Pendula's timers in turns on Netty's loop, over a selector. */
    PENDULA_IN_NETTY {
        @Override
        public EchoServer open() {
            return new InNetty();
        }
    },
    /** ScheduledThreadPoolExecutor, whose thread gives what is due to the loop, and wakes it. */
    STPE {
        @Override
        public EchoServer open() throws IOException {
            return started(new HandedOver());
        }
    },
    /** A loop that waits for a millisecond at most, and looks at a PriorityQueue each time. */
    POLLING {
        @Override
        public EchoServer open() throws IOException {
            return started(new Polling());
        }
    };

    public abstract EchoServer open() throws IOException;

    private static EchoServer started(NioEcho server) {
        server.start();
        return server;
    }

    private static final class Pendula extends NioEcho {
        private TimerLoop loop;

        Pendula() throws IOException {}

        @Override
        void begin() {
            loop = TimerScheduler.builder().workers(0).build().attach(selector::wakeup);
        }

        @Override
        void await() throws IOException {
            loop.select(selector);
        }

        @Override
        void runTimers() {
            loop.runDue();
        }

        @Override
        public void schedule(long delayNanos, Rival.Task task) {
            loop.after(delayNanos, NANOSECONDS, task);
        }
    }

    private static final class InNetty extends NettyEcho {
        private NettyTurns turns;

        InNetty() {
            super(new NioEventLoopGroup(1), NioServerSocketChannel.class);
            execute(() -> turns = new NettyTurns(TimerScheduler.builder().workers(0).build(), loop.next()));
        }

        @Override
        public void schedule(long delayNanos, Rival.Task task) {
            turns.loop.after(delayNanos, NANOSECONDS, task);
        }
    }

    private static final class HandedOver extends NioEcho {
        private final ScheduledExecutorService timers = PoolType.STPE.open(1);
        private final Queue<Runnable> due = new ConcurrentLinkedQueue<>();

        HandedOver() throws IOException {}

        @Override
        void await() throws IOException {
            selector.select();
        }

        @Override
        void runTimers() {
            for (Runnable task = due.poll(); task != null; task = due.poll()) {
                task.run();
            }
        }

        @Override
        public void schedule(long delayNanos, Rival.Task task) {
            timers.schedule(() -> {
                due.add(task);
                selector.wakeup();
            }, delayNanos, NANOSECONDS);
        }
    }

    private static final class Polling extends NioEcho {
        private final PriorityQueue<Entry> timers = new PriorityQueue<>();

        Polling() throws IOException {}

        @Override
        void await() throws IOException {
            selector.select(1);
        }

        @Override
        void runTimers() {
            if (!timers.isEmpty()) {
                long now = System.nanoTime();
                for (Entry e = timers.peek(); e != null && e.deadline - now <= 0; e = timers.peek()) {
                    timers.remove().task.run();
                }
            }
        }

        @Override
        public void schedule(long delayNanos, Rival.Task task) {
            timers.add(new Entry(System.nanoTime() + delayNanos, task));
        }

        private record Entry(long deadline, Runnable task) implements Comparable<Entry> {
            @Override
            public int compareTo(Entry other) {
                return Long.signum(deadline - other.deadline);
            }
        }
    }
}
