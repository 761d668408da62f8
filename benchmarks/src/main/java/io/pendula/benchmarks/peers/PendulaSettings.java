package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.MICROSECONDS;

import io.pendula.TimerScheduler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

/** Sets a builder by names of its methods, as another jar's builder may have other methods than this build's. */
public final class PendulaSettings {
    private PendulaSettings() {}

    /** @param settings methods with one parameter and their arguments: boolean, int, or a Duration in microseconds */
    public static TimerScheduler.Builder builder(int workers, Map<String, String> settings) {
        TimerScheduler.Builder builder = TimerScheduler.builder();
        if (workers != SchedulerType.AS_BUILT) {
            builder.workers(workers);
        }
        settings.forEach((name, value) -> set(builder, name, value));
        return builder;
    }

    private static void set(TimerScheduler.Builder builder, String name, String value) {
        Method method = Arrays.stream(TimerScheduler.Builder.class.getMethods())
                .filter(m -> m.getName().equals(name) && m.getParameterCount() == 1).findFirst().orElseThrow(
                        () -> new UnsupportedOperationException("this Pendula's builder has no " + name));
        try {
            method.invoke(builder, argument(method, value));
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalArgumentException(name + "=" + value, e);
        }
    }

    private static Object argument(Method method, String value) {
        Class<?> type = method.getParameterTypes()[0];
        if (type == boolean.class) {
            return Boolean.parseBoolean(value);
        }
        if (type == int.class) {
            return Integer.parseInt(value);
        }
        if (type == Duration.class) {
            return Duration.ofNanos(MICROSECONDS.toNanos(Long.parseLong(value)));
        }
        throw new UnsupportedOperationException("cannot be set from here: " + method);
    }
}
