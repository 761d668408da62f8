package io.pendula.internal.engine;

import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;

/** Replaces a task that is not simply run, for instance an executor's task with a value. */
public class Call implements Runnable {
    /** The task as the user passed it. */
    private final Object task;

    public Call(Object task) {
        this.task = task;
    }

    /** The user's task behind the work of a timer, or null. */
    public static Object taskOf(Runnable work) {
        return work instanceof Receiver ? null : work instanceof Call c ? c.task : work;
    }

    /** Runs the task of {@code timer}; returns its value, or null if it has none. */
    public Object call(QueuedNode timer) throws Exception {
        return ((Callable<?>) task).call();
    }

    @Override
    public void run() {
        throw new AssertionError("called for its value only");
    }

    // ---- the builder's decorate ----

    static Runnable decorated(UnaryOperator<Runnable> decorator, Runnable task) {
        return task == null ? null : new Decorated(taskOf(task), task, decorator);
    }

    static Call decorated(UnaryOperator<Runnable> decorator, Callable<?> task) {
        return new Decorated(task, null, decorator);
    }

    /** A task and the Runnable that {@code decorate} returned for it, which runs in its place. */
    private static final class Decorated extends Call {
        private final Runnable work;
        /** The result of a callable, which runs once. */
        private Object value;

        /** {@code plain} is decorated; null if the task is a callable. */
        Decorated(Object task, Runnable plain, UnaryOperator<Runnable> decorator) {
            super(task);
            this.work = decorator.apply(plain == null ? this::callForValue : plain);
            if (work == null) {
                throw new NullPointerException("what decorate returns for " + task.getClass().getName() + " must not be null");
            }
        }

        private void callForValue() {
            try {
                value = super.call(null);
            } catch (Exception e) {
                throw Decorated.<RuntimeException>sneaky(e); // not wrapped: the future reports it
            }
        }

        @SuppressWarnings("unchecked")
        private static <E extends Throwable> E sneaky(Throwable e) throws E {
            throw (E) e;
        }

        @Override
        public Object call(QueuedNode timer) {
            work.run();
            Object v = value;
            value = null;
            return v;
        }

        @Override
        public void run() {
            work.run();
        }
    }
}
