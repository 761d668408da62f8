package io.pendula;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Fails the test during which an exception reaches the default uncaught-exception handler, or the test class if that is
 * between two of its tests. Without this an assertion that fails in a callback, or on a thread that a test has started,
 * does not fail the test. JUnit registers the extension for all test classes, see {@code junit-platform.properties}.
 *
 * <p>While several tests of a class run at once, an exception fails the test that has started the thread.
 *
 * <p>A test that expects such an exception throws one with the message "meant", or calls {@link #take} and asserts what
 * came.
 */
public final class UncaughtExceptions
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private record Uncaught(String thread, String startedBy, Throwable thrown) {
        AssertionError during(String scope) {
            return new AssertionError("uncaught in thread " + thread + (startedBy == null ? " of no test"
                    : startedBy.equals(scope) ? "" : " of " + startedBy) + ": " + thrown, thrown);
        }
    }

    /** A test, or the time between the tests of a class. They nest, as a test may launch others. */
    private record Scope(boolean isTest, String name, Scope outer, List<Uncaught> uncaught) {
        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    private static final Namespace NAMESPACE = Namespace.create(UncaughtExceptions.class);

    /** The latest first. */
    private static final Deque<Scope> SCOPES = new ArrayDeque<>();
    /** What was running when a thread was made: the test may be over when the thread throws. */
    private static final InheritableThreadLocal<Scope> STARTED_BY = new InheritableThreadLocal<>();

    /** What has come during the running test, or since the last call; it does not fail the test. */
    static synchronized List<Throwable> take() {
        List<Uncaught> uncaught = current().uncaught();
        List<Throwable> thrown = uncaught.stream().map(Uncaught::thrown).toList();
        uncaught.clear();
        return thrown;
    }

    /** The test that has started the calling thread, if it still runs; else what has begun last. */
    private static Scope current() {
        Scope mine = STARTED_BY.get();
        return mine != null && mine.isTest() && SCOPES.contains(mine) ? mine : SCOPES.element();
    }

    private static synchronized void add(Thread thread, Throwable thrown) {
        if ("meant".equals(thrown.getMessage())) {
            return;
        }
        Scope mine = STARTED_BY.get();
        Uncaught uncaught = new Uncaught(thread.getName(), mine == null ? null : mine.name(), thrown);
        if (SCOPES.isEmpty()) {
            uncaught.during("").printStackTrace(); // too late for any test to fail
        } else {
            current().uncaught().add(uncaught);
        }
    }

    private static synchronized void enter(ExtensionContext context) {
        String name = context.getRequiredTestClass().getSimpleName()
                + context.getTestMethod().map(m -> "." + m.getName() + " " + context.getDisplayName()).orElse("");
        Scope scope = new Scope(context.getTestMethod().isPresent(), name, STARTED_BY.get(), new ArrayList<>());
        context.getStore(NAMESPACE).put(Scope.class, scope); // two launches at once may run the same test
        SCOPES.push(scope);
        STARTED_BY.set(scope);
        Thread.setDefaultUncaughtExceptionHandler(UncaughtExceptions::add); // a test may have set another
    }

    private static synchronized void leave(ExtensionContext context) {
        Scope scope = context.getStore(NAMESPACE).get(Scope.class, Scope.class);
        SCOPES.remove(scope);
        if (scope.outer() == null) {
            STARTED_BY.remove();
        } else {
            STARTED_BY.set(scope.outer());
        }
        AssertionError failure = null;
        for (Uncaught u : scope.uncaught()) {
            if (failure == null) {
                failure = u.during(scope.name());
            } else {
                failure.addSuppressed(u.during(scope.name()));
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        enter(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        enter(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        leave(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        leave(context);
    }
}
