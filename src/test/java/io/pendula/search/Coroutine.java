package io.pendula.search;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * What runs a model thread where the JVM has continuations: JDK 21 and later, with {@code --add-exports
 * java.base/jdk.internal.vm=ALL-UNNAMED}. A change of threads is the return of a method then, and takes a tenth of the
 * time. Elsewhere {@link Carrier} threads do the same.
 */
final class Coroutine {
    /** The model thread that has its turn; null while none has. Of the search's thread alone. */
    static ModelThread active;

    private static final MethodHandle NEW;
    private static final MethodHandle RUN;
    private static final MethodHandle YIELD;

    static {
        MethodHandle make = null;
        MethodHandle run = null;
        MethodHandle yield = null;
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            Class<?> scope = Class.forName("jdk.internal.vm.ContinuationScope");
            Class<?> type = Class.forName("jdk.internal.vm.Continuation");
            Object search = scope.getConstructor(String.class).newInstance("search");
            make = lookup.findConstructor(type, MethodType.methodType(void.class, scope, Runnable.class))
                    .bindTo(search).asType(MethodType.methodType(Object.class, Runnable.class));
            run = lookup.findVirtual(type, "run", MethodType.methodType(void.class))
                    .asType(MethodType.methodType(void.class, Object.class));
            yield = lookup.findStatic(type, "yield", MethodType.methodType(boolean.class, scope)).bindTo(search);
        } catch (ReflectiveOperationException e) {
            make = null; // an older JVM, or one that does not export them
        }
        NEW = make;
        RUN = run;
        YIELD = yield;
    }

    static final boolean AVAILABLE = NEW != null && !Boolean.getBoolean("search.threads");

    private final Object continuation;

    Coroutine(Runnable body) {
        try {
            continuation = (Object) NEW.invokeExact(body);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Until it yields or ends. */
    void run() {
        try {
            RUN.invokeExact(continuation);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    static void yield() {
        try {
            boolean ignored = (boolean) YIELD.invokeExact();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
