package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.pendula.Timer;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import io.pendula.benchmarks.rivals.LoopRival;
import io.pendula.benchmarks.rivals.Rival;
import java.util.concurrent.Future;

/** Where a loop that does everything in one thread can keep its timers. */
public enum LoopType {
    /** A TimerLoop, armed through its own methods. */
    PENDULA {
        @Override
        public LoopRival open(int slots) {
            return new Pendula(TimerScheduler.builder().workers(0).build(), slots) {
                @Override
                public void arm(int slot, long delayNanos) {
                    timers[slot] = loop.after(delayNanos, NANOSECONDS, Rival.Task.NOTHING);
                }
            };
        }
    },
    /** The same, armed through the scheduler, which has to find the loop that the thread belongs to. */
    PENDULA_HERE {
        @Override
        public LoopRival open(int slots) {
            return new Pendula(TimerScheduler.builder().workers(0).build(), slots) {
                @Override
                public void arm(int slot, long delayNanos) {
                    timers[slot] = scheduler.after(delayNanos, NANOSECONDS, Rival.Task.NOTHING);
                }
            };
        }
    },
    /** Netty's own loop, without channels. */
    NETTY {
        @Override
        public LoopRival open(int slots) {
            EventExecutor executor = new DefaultEventExecutor(new DefaultThreadFactory("loop", true));
            return new Netty(executor, slots) {
                private final Future<?>[] futures = new Future<?>[slots];

                @Override
                public void arm(int slot, long delayNanos) {
                    futures[slot] = executor.schedule(Rival.Task.NOTHING, delayNanos, NANOSECONDS);
                }

                @Override
                public void stop(int slot) {
                    futures[slot].cancel(false);
                }
            };
        }
    },
    /** A TimerLoop whose turns are tasks of Netty's loop. */
    PENDULA_IN_NETTY {
        @Override
        public LoopRival open(int slots) {
            EventExecutor executor = new DefaultEventExecutor(new DefaultThreadFactory("loop", true));
            return new Netty(executor, slots) {
                private final Timer[] timers = new Timer[slots];
                private NettyTurns turns;

                @Override
                public void begin() {
                    turns = new NettyTurns(TimerScheduler.builder().workers(0).build(), executor);
                }

                @Override
                public void arm(int slot, long delayNanos) {
                    timers[slot] = turns.loop.after(delayNanos, NANOSECONDS, Rival.Task.NOTHING);
                }

                @Override
                public void stop(int slot) {
                    timers[slot].stop();
                }

                @Override
                public void reset(int slot, long delayNanos) {
                    timers[slot].reset(delayNanos, NANOSECONDS);
                }
            };
        }
    },
    /** Agrona's DeadlineTimerWheel, which knows numbers only: what is to be run, the loop must find by itself. */
    AGRONA {
        @Override
        public LoopRival open(int slots) {
            return new AgronaWheel(slots) {
                @Override
                long now() {
                    return System.nanoTime();
                }
            };
        }
    },
    /**
     * The same with a clock that is not read, but advances by 5 us with each timer that is armed: at full speed so many
     * timers are due in one tick that the wheel, which looks for room in it, is slower than it is in practice.
     */
    AGRONA_PACED {
        @Override
        public LoopRival open(int slots) {
            return new AgronaWheel(slots) {
                private long now;

                @Override
                long now() {
                    return now;
                }

                @Override
                public void arm(int slot, long delayNanos) {
                    now += 5_000;
                    super.arm(slot, delayNanos);
                }
            };
        }
    },
    /** Netty's HashedWheelTimer, with a thread of its own. */
    HWT {
        @Override
        public LoopRival open(int slots) {
            return new Elsewhere(SchedulerType.HWT.open(1), slots);
        }
    },
    /** ScheduledThreadPoolExecutor, with a thread of its own. */
    STPE {
        @Override
        public LoopRival open(int slots) {
            return new Elsewhere(SchedulerType.STPE.open(1), slots);
        }
    };

    /** For so many timers at a time; called by any thread, which need not be the loop's. */
    public abstract LoopRival open(int slots);

    private abstract static class Pendula extends LoopRival {
        final TimerScheduler scheduler;
        final Timer[] timers;
        TimerLoop loop;

        Pendula(TimerScheduler scheduler, int slots) {
            this.scheduler = scheduler;
            this.timers = new Timer[slots];
        }

        @Override
        public void begin() {
            loop = scheduler.attach(() -> {}); // nobody else arms
        }

        @Override
        public void stop(int slot) {
            timers[slot].stop();
        }

        @Override
        public void reset(int slot, long delayNanos) {
            timers[slot].reset(delayNanos, NANOSECONDS);
        }

        @Override
        public void poll() {
            loop.nanosUntilNext();
            loop.runDue();
        }
    }

    /** Its loop polls at its timers before each task. */
    private abstract static class Netty extends LoopRival {
        private final EventExecutor executor;

        Netty(EventExecutor executor, int slots) {
            this.executor = executor;
        }

        @Override
        public void run(Lane lane) {
            executor.execute(new Runnable() {
                @Override
                public void run() {
                    lane.run();
                    if (lane.isClosed()) {
                        end();
                    } else {
                        executor.execute(this);
                    }
                }
            });
        }
    }

    /** There is nothing that the loop would have to do. */
    private static final class Elsewhere extends LoopRival {
        private final Rival rival;
        private final Object[] handles;

        Elsewhere(Rival rival, int slots) {
            this.rival = rival;
            this.handles = new Object[slots];
        }

        @Override
        public void arm(int slot, long delayNanos) {
            handles[slot] = rival.schedule(delayNanos, Rival.Task.NOTHING);
        }

        @Override
        public void stop(int slot) {
            rival.cancel(handles[slot]);
        }

        @Override
        public void end() {
            rival.close();
        }
    }
}
