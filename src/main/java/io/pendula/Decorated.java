package io.pendula;

import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;

/** A task of the program's and what the builder's {@code decorate} has made of it, which is run in its place. */
final class Decorated extends Call {
    private final Runnable work;
    /** Of a callable: what it has returned. It runs once. */
    private Object value;

    private Decorated(Runnable task, UnaryOperator<Runnable> decorator) {
        super(Handles.task(task));
        this.work = checked(decorator.apply(task), task);
    }

    private Decorated(Callable<?> task, UnaryOperator<Runnable> decorator) {
        super(task);
        this.work = checked(decorator.apply(this::callForValue), task);
    }

    private static Runnable checked(Runnable work, Object task) {
        return Check.notNull(work, "what decorate returns for " + task.getClass().getName());
    }

    static Runnable by(UnaryOperator<Runnable> decorator, Runnable task) {
        return task == null || task instanceof Receiver ? task : new Decorated(task, decorator);
    }

    static Call by(UnaryOperator<Runnable> decorator, Callable<?> task) {
        return new Decorated(task, decorator);
    }

    private void callForValue() {
        try {
            value = super.call();
        } catch (Exception e) {
            throw Decorated.<RuntimeException>sneaky(e); // as it is: the future reports it
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E sneaky(Throwable e) throws E {
        throw (E) e;
    }

    @Override
    Object call() {
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
