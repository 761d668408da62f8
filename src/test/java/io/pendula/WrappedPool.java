package io.pendula;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The JDK's pool with a thin layer around its tasks, their delays and their futures, through which all goes unchanged
 * unless a {@link Mutant} overrides something.
 */
class WrappedPool extends ScheduledThreadPoolExecutor {
    WrappedPool(int workers) {
        super(workers);
        setRemoveOnCancelPolicy(true);
    }

    Runnable task(Runnable task) {
        return task;
    }

    <V> Callable<V> task(Callable<V> task) {
        return task;
    }

    Runnable periodic(Runnable task) {
        return task;
    }

    long delay(long nanos) {
        return nanos;
    }

    boolean cancel(Wrapper<?> future, boolean interrupt) {
        return future.cancelInner(interrupt);
    }

    long delayLeft(Wrapper<?> future, long nanos) {
        return nanos;
    }

    void beforeGet() throws InterruptedException {}

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return super.schedule(task == null ? null : task(task), delay(unit.toNanos(delay)), TimeUnit.NANOSECONDS);
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        return super.schedule(task == null ? null : task(task), delay(unit.toNanos(delay)), TimeUnit.NANOSECONDS);
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
        return super.scheduleAtFixedRate(task == null ? null : periodic(task), first, period, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
        return super.scheduleWithFixedDelay(task == null ? null : periodic(task), first, delay, unit);
    }

    @Override
    protected <V> RunnableScheduledFuture<V> decorateTask(Runnable task, RunnableScheduledFuture<V> inner) {
        return new Wrapper<>(inner);
    }

    @Override
    protected <V> RunnableScheduledFuture<V> decorateTask(Callable<V> task, RunnableScheduledFuture<V> inner) {
        return new Wrapper<>(inner);
    }

    /** A future around the pool's own one. */
    final class Wrapper<V> implements RunnableScheduledFuture<V> {
        private final RunnableScheduledFuture<V> inner;
        private volatile boolean pretended;

        Wrapper(RunnableScheduledFuture<V> inner) {
            this.inner = inner;
        }

        boolean cancelInner(boolean interrupt) {
            boolean cancelled = inner.cancel(interrupt);
            // The inner one does not know under which name it is queued.
            WrappedPool.this.remove(this);
            return cancelled;
        }

        /** Does as if, while the task will run nevertheless. */
        boolean pretendToCancel() {
            pretended = !inner.isDone();
            return pretended;
        }

        @Override
        public boolean cancel(boolean interrupt) {
            return WrappedPool.this.cancel(this, interrupt);
        }

        @Override
        public void run() {
            inner.run();
        }

        @Override
        public boolean isPeriodic() {
            return inner.isPeriodic();
        }

        @Override
        public boolean isCancelled() {
            return pretended || inner.isCancelled();
        }

        @Override
        public boolean isDone() {
            return pretended || inner.isDone();
        }

        @Override
        public V get() throws InterruptedException, ExecutionException {
            beforeGet();
            if (pretended) {
                throw new CancellationException();
            }
            return inner.get();
        }

        @Override
        public V get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
            beforeGet();
            if (pretended) {
                throw new CancellationException();
            }
            return inner.get(timeout, unit);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(delayLeft(this, inner.getDelay(TimeUnit.NANOSECONDS)), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return inner.compareTo(other instanceof Wrapper<?> wrapper ? wrapper.inner : other);
        }
    }
}
