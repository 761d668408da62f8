package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * The guards that docs/internals/memory-modes.md names are held: tests run on copies of the library's classes that look
 * for the lock, or for the monitor, at each access of a field that has one.
 */
@Tag("stress")
@Timeout(120)
class GuardsTest {
    /** These reach nearly all of what is guarded, and none looks into a queue without its lock. */
    private static final List<String> TESTS = List.of("StressTest", "LoopStormTest", "ExecutorStormTest");
    private static final long FEWEST_ACCESSES = 1_000_000;

    /** In backquotes in the cell of a guard: the way from the object to its monitor. */
    private static String monitorOf(String guard) {
        return String.join("", MemoryModesTest.codeOf(guard).subList(0, 1));
    }

    private static GuardsLoader loader(SharedState code) {
        Map<String, String> guards = new HashMap<>();
        Map<String, Set<String>> exempt = new HashMap<>();
        MemoryModesTest.plainRows().forEach((field, row) -> {
            String guard = row[1].replaceFirst("^race: ", "");
            switch (MemoryModesTest.guardOf(guard)) {
                case "lock" -> guards.put(field, "lock");
                case "monitor" -> {
                    boolean isItsOwn = field.endsWith("." + String.join("", MemoryModesTest.codeOf(guard)));
                    if (!isItsOwn && !guard.contains("class") && !guard.contains(";")) {
                        guards.put(field, monitorOf(guard));
                    }
                }
                default -> { }
            }
            exempt.put(field, new HashSet<>(MemoryModesTest.codeOf(row[2])));
        });
        assertTrue(guards.size() > 40, guards::toString);
        return new GuardsLoader(guards, exempt, code);
    }

    private static TestExecutionSummary run(ClassLoader loader, List<String> tests) throws ClassNotFoundException {
        List<Class<?>> classes = new ArrayList<>();
        for (String test : tests) {
            classes.add(Class.forName("io.pendula." + test, true, loader));
        }
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        Thread me = Thread.currentThread();
        ClassLoader before = me.getContextClassLoader();
        me.setContextClassLoader(loader);
        try {
            LauncherFactory.create(LauncherConfig.builder().enableLauncherSessionListenerAutoRegistration(false)
                    .enableTestExecutionListenerAutoRegistration(false).build())
                    .execute(LauncherDiscoveryRequestBuilder.request()
                            .selectors(classes.stream().map(c -> selectClass(c)).toList()).build(), listener);
        } finally {
            me.setContextClassLoader(before);
        }
        return listener.getSummary();
    }

    @Test
    void guards_inStorms_areHeldAtEachAccess() throws Exception {
        SharedState code = SharedState.ofTheLibrary();
        Guards.BROKEN.clear();
        TestExecutionSummary summary = run(loader(code), TESTS);
        assertEquals(Set.of(), Set.copyOf(Guards.BROKEN));
        assertTrue(Guards.ASKED.sum() > FEWEST_ACCESSES, () -> Guards.ASKED + " accesses");
        assertTrue(summary.getTestsSucceededCount() >= TESTS.size(), () -> summary.getTestsSucceededCount() + " tests");
        assertEquals(0, summary.getTestsFailedCount(), () -> summary.getFailures().get(0).getException().toString());
    }
}
