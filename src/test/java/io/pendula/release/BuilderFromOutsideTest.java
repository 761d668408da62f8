package io.pendula.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerExecutors;
import io.pendula.TimerScheduler;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What both builders have comes from a class that a program cannot name: each way to call it works all the same. */
@Timeout(60)
class BuilderFromOutsideTest {
    @Test
    void calls_inARow_areOfTheBuilderItself() {
        try (TimerScheduler s = TimerScheduler.builder().name("a").daemon(true).maxPending(9).workers(1).build();
                SchedulerExecutor pool = TimerExecutors.builder().daemon(true).name("b").threads(1).build()) {
            assertEquals("a", s.stats().name());
            assertEquals("b", pool.stats().name());
        }
    }

    @Test
    void methodReferences_boundAndUnbound_work() {
        TimerScheduler.Builder builder = TimerScheduler.builder();
        Function<String, TimerScheduler.Builder> bound = builder::name;
        BiFunction<TimerScheduler.Builder, Boolean, TimerScheduler.Builder> unbound = TimerScheduler.Builder::daemon;
        assertSame(builder, bound.apply("a"));
        assertSame(builder, unbound.apply(builder, true));
    }

    @Test
    void reflectionAndHandles_work() throws Throwable {
        TimerExecutors.Builder builder = TimerExecutors.builder();
        Method method = TimerExecutors.Builder.class.getMethod("name", String.class);
        assertSame(builder, method.invoke(builder, "a"));
        MethodHandle handle = MethodHandles.publicLookup().unreflect(method);
        assertSame(builder, (Object) handle.invoke(builder, "b"));
    }
}
