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

/**
 * Fails the test during which an exception reaches the default uncaught-exception handler, or the test class if that is
 * between two of its tests. Without this an assertion that fails in a callback, or on a thread that a test has started,
 * does not fail the test. JUnit registers the extension for all test classes, see {@code junit-platform.properties}.
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
    private record Scope(String name, List<Uncaught> uncaught) {}

    private static final Deque<Scope> SCOPES = new ArrayDeque<>();
    /** What was running when a thread was made: the test may be over when the thread throws. */
    private static final InheritableThreadLocal<String> STARTED_BY = new InheritableThreadLocal<>();

    /** What has come during the running test, or since the last call; it does not fail the test. */
    static synchronized List<Throwable> take() {
        List<Uncaught> uncaught = SCOPES.element().uncaught();
        List<Throwable> thrown = uncaught.stream().map(Uncaught::thrown).toList();
        uncaught.clear();
        return thrown;
    }

    private static synchronized void add(Thread thread, Throwable thrown) {
        if ("meant".equals(thrown.getMessage())) {
            return;
        }
        Uncaught uncaught = new Uncaught(thread.getName(), STARTED_BY.get(), thrown);
        if (SCOPES.isEmpty()) {
            uncaught.during("").printStackTrace(); // too late for any test to fail
        } else {
            SCOPES.element().uncaught().add(uncaught);
        }
    }

    private static synchronized void enter(ExtensionContext context) {
        String name = context.getRequiredTestClass().getSimpleName()
                + context.getTestMethod().map(m -> "." + m.getName() + " " + context.getDisplayName()).orElse("");
        SCOPES.push(new Scope(name, new ArrayList<>()));
        STARTED_BY.set(name);
        Thread.setDefaultUncaughtExceptionHandler(UncaughtExceptions::add); // a test may have set another
    }

    private static synchronized void leave() {
        Scope scope = SCOPES.pop();
        if (SCOPES.isEmpty()) {
            STARTED_BY.remove();
        } else {
            STARTED_BY.set(SCOPES.element().name());
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
        leave();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        leave();
    }
}
