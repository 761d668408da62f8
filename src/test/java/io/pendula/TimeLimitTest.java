package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.File;
import java.lang.reflect.AnnotatedElement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A test that hangs fails, whatever class it belongs to: {@code junit-platform.properties} limits its time. */
@Tag("oracle")
@Timeout(60)
class TimeLimitTest {
    private static final String LIMIT = "junit.jupiter.execution.timeout.default";

    /** Has no limit of its own. Its name keeps it from being run by the build itself. */
    static class Hanger {
        static Optional<String> limit = Optional.empty();
        static boolean hangs;

        @RegisterExtension
        final BeforeEachCallback look = context -> limit = context.getConfigurationParameter(LIMIT);

        private static void hang() throws InterruptedException {
            if (hangs) {
                new CountDownLatch(1).await();
            }
        }

        @Test
        void inTheTest() throws InterruptedException {
            hang();
        }

        @AfterEach
        void afterwards() throws InterruptedException {
            hang();
        }
    }

    /** Runs it as the build does, but for some of its settings; what has failed. */
    private static List<Throwable> run(Map<String, String> settings) {
        List<Throwable> failures = new ArrayList<>();
        LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Hanger.class))
                .configurationParameters(settings).build(), new TestExecutionListener() {
                    @Override
                    public void executionFinished(TestIdentifier id, TestExecutionResult result) {
                        result.getThrowable().ifPresent(failures::add);
                    }
                });
        return failures;
    }

    @Test
    void testWithoutALimitOfItsOwn_hasOne() {
        Hanger.hangs = false;
        assertEquals(List.of(), run(Map.of()));
        assertEquals("120 s", Hanger.limit.orElse("none"));
    }

    /** As many seconds as the build can lose by one test that hangs. */
    private static final long MOST_SECONDS = 300;

    @Test
    void limitsOfTheirOwn_areNotLonger() throws Exception {
        Path root = Path.of(TimeLimitTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<String> longer = new ArrayList<>();
        int limits = 0;
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                String path = root.relativize(file).toString();
                String name = path.substring(0, path.length() - ".class".length()).replace(File.separatorChar, '.');
                Class<?> type = Class.forName(name, false, TimeLimitTest.class.getClassLoader());
                List<AnnotatedElement> places = new ArrayList<>(List.of(type.getDeclaredMethods()));
                places.add(type);
                for (AnnotatedElement place : places) {
                    Timeout limit = place.getAnnotation(Timeout.class);
                    if (limit != null) {
                        limits++;
                        if (limit.unit().toSeconds(limit.value()) > MOST_SECONDS) {
                            longer.add(place.toString());
                        }
                    }
                }
            }
        }
        assertTrue(limits > 80, "limits found: " + limits);
        // It searches for as long as -Dsearch.minutes says, and larger programs then.
        longer.removeIf(place -> place.contains("io.pendula.search.WakeSearchTest."));
        assertEquals(List.of(), longer);
    }

    @Test
    void testThatHangs_isInterruptedAndFails() {
        Hanger.hangs = true;
        List<Throwable> failures = run(Map.of(LIMIT, "20 ms"));
        assertEquals(1, failures.size());
        assertTrue(failures.get(0) instanceof TimeoutException, () -> "the test: " + failures);
        assertTrue(failures.get(0).getSuppressed()[0] instanceof InterruptedException
                || failures.get(0).getSuppressed().length > 1, () -> "afterwards: " + failures);
    }
}
