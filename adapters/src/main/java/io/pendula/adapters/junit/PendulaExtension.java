package io.pendula.adapters.junit;

import io.pendula.ManualClock;
import io.pendula.PendingTimer;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** What {@link PendulaTest} does. */
final class PendulaExtension implements ParameterResolver, AfterEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(PendulaExtension.class);
    private static final int MOST_NAMED = 10;

    /** Of one test, made when it first asks for a parameter. */
    private static final class Fixture implements TimerListener {
        final ManualClock clock = new ManualClock();
        final List<AssertionError> failures = new CopyOnWriteArrayList<>();
        final TimerScheduler timers = TimerScheduler.builder().clock(clock).listener(this).build();

        @Override
        public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
            failures.add(new AssertionError("a callback threw: " + timer, thrown));
        }

        void checkPending() {
            long pending = timers.pending();
            if (pending > 0) {
                List<PendingTimer> named = timers.pendingTimers(MOST_NAMED);
                failures.add(new AssertionError("the test left " + pending + " pending: " + named
                        + (pending > named.size() ? " and others" : "")));
            }
        }
    }

    /** So a constructor's parameters are those of the test for which it makes an instance. */
    @Override
    public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
        return ExtensionContextScope.TEST_METHOD;
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == ManualClock.class || type == TimerScheduler.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        if (context.getTestMethod().isEmpty()) {
            throw new ParameterResolutionException("each test has a clock and a scheduler of its own, and there is none for"
                    + " all tests of a class: take " + parameter.getParameter() + " in a method of each test");
        }
        Fixture fixture = context.getStore(NAMESPACE)
                .getOrComputeIfAbsent(Fixture.class, type -> new Fixture(), Fixture.class);
        return parameter.getParameter().getType() == ManualClock.class ? fixture.clock : fixture.timers;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Fixture fixture = context.getStore(NAMESPACE).get(Fixture.class, Fixture.class);
        if (fixture == null) {
            return;
        }
        PendulaTest allowed = allowed(context);
        if (allowed.allowThrowing()) {
            fixture.failures.clear();
        }
        if (!allowed.allowPending() && context.getExecutionException().isEmpty()) {
            fixture.checkPending();
        }
        fixture.timers.shutdownNow(); // not close, which would wait for a callback that another thread runs
        if (!fixture.failures.isEmpty()) {
            AssertionError first = fixture.failures.remove(0);
            fixture.failures.forEach(first::addSuppressed);
            throw first;
        }
    }

    /** The nearest annotation: the method's, its class's, or that of a class around it. */
    private static PendulaTest allowed(ExtensionContext context) {
        Optional<PendulaTest> found = AnnotationSupport.findAnnotation(context.getElement(), PendulaTest.class);
        return found.orElseGet(() -> allowed(context.getParent().orElseThrow()));
    }
}
