package io.pendula;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs tests in a JVM of their own, in which a fault may be planted, and says which of them failed. */
final class PlantedRun {
    /** What is said of one test: this, then {@code Class#method}. */
    static final String FAILED = "failed: ";
    static final String PASSED = "passed: ";

    private PlantedRun() {}

    /** Remembers what failed, a test or a class, by the name of its source. */
    private static final class Outcome implements TestExecutionListener {
        private final List<String> wanted;
        final Set<String> passed = new TreeSet<>();
        final Set<String> failed = new TreeSet<>();

        Outcome(List<String> wanted) {
            this.wanted = wanted;
        }

        @Override
        public void executionFinished(TestIdentifier id, TestExecutionResult result) {
            String name = id.getSource().map(source -> source instanceof MethodSource m
                    ? simple(m.getClassName()) + "#" + m.getMethodName()
                    : source instanceof ClassSource c ? simple(c.getClassName()) : id.getDisplayName()).orElse("");
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                failed.add(name);
                System.out.println(name + ": " + result.getThrowable().orElse(null));
                if (wanted.stream().allMatch(this::hasFailed)) {
                    end(); // what is left may wait for long, and tells no more
                }
            } else if (id.isTest()) {
                passed.add(name);
            }
        }

        private boolean hasFailed(String test) {
            return failed.stream().anyMatch(name -> name.equals(test) || name.startsWith(test + "#")
                    || name.equals(test.replaceFirst("#.*", "")));
        }

        /** Says what came, and ends the JVM: a fault may have left threads behind. */
        void end() {
            passed.removeAll(failed); // one of several invocations has failed
            passed.forEach(name -> System.out.println(PASSED + name));
            failed.forEach(name -> System.out.println(FAILED + name));
            System.out.flush();
            System.exit(0);
        }

        /** As the lists name it: without the package that is common to all tests. */
        private static String simple(String className) {
            return className.substring(PlantedRun.class.getPackageName().length() + 1);
        }
    }

    private static List<DiscoverySelector> selectors(String test) throws ClassNotFoundException {
        String[] parts = test.split("#", 2);
        Class<?> type = Class.forName(PlantedRun.class.getPackageName() + "." + parts[0]);
        if (parts.length == 1) {
            return List.of(selectClass(type));
        }
        List<DiscoverySelector> methods = new ArrayList<>();
        Arrays.stream(type.getDeclaredMethods()).filter(m -> m.getName().equals(parts[1]) && !m.isSynthetic())
                .forEach(m -> methods.add(selectMethod(type, m)));
        if (methods.isEmpty()) {
            throw new IllegalArgumentException("no test " + test);
        }
        return methods;
    }

    /** Each argument is a test: {@code Class} or {@code Class#method}. */
    public static void main(String[] tests) throws ClassNotFoundException {
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String test : tests) {
            selectors.addAll(selectors(test));
        }
        Outcome outcome = new Outcome(List.of(tests));
        LauncherFactory.create(LauncherConfig.DEFAULT).execute(LauncherDiscoveryRequestBuilder.request()
                .selectors(selectors)
                .configurationParameter("pendula.contract.subjects", "pendula")
                .configurationParameter("junit.jupiter.execution.timeout.default", "30 s")
                .build(), outcome);
        outcome.end();
    }
}
