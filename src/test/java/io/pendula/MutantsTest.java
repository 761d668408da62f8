package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the contract against each {@link Mutant}: a suite that lets a broken executor pass proves nothing. */
@Tag("oracle")
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class MutantsTest {
    private static final String QUIET = "a quiet JVM";

    /** Counts the tests and remembers which of them failed, and what failed besides tests. */
    private static final class Outcome implements TestExecutionListener {
        int tests;
        final Set<String> failed = new TreeSet<>();
        final Set<String> broken = new TreeSet<>();
        final List<Throwable> causes = new ArrayList<>();

        @Override
        public void executionFinished(TestIdentifier id, TestExecutionResult result) {
            tests += id.isTest() ? 1 : 0;
            if (result.getStatus() == Status.FAILED) {
                (id.isTest() ? failed : broken).add(id.getSource().filter(MethodSource.class::isInstance).map(MethodSource.class::cast)
                        .map(MethodSource::getMethodName).orElse(id.getDisplayName()));
                result.getThrowable().ifPresent(causes::add);
            }
        }
    }

    private static List<? extends DiscoverySelector> selectors(Mutant mutant) {
        if (mutant.theme() == null) {
            return List.of(selectPackage(MutantsTest.class.getPackageName()));
        }
        if (mutant.test() == null) {
            return List.of(selectClass(mutant.theme()));
        }
        return Arrays.stream(mutant.theme().getDeclaredMethods())
                .filter(method -> method.getName().equals(mutant.test()))
                .map(method -> selectMethod(mutant.theme(), method))
                .toList();
    }

    /** A class without a row for the mutant would fail for that alone. */
    private static ClassNameFilter hasRows(Mutant mutant) {
        return mutant.subject().workers() > 1 ? ClassNameFilter.includeClassNamePatterns(".*")
                : ClassNameFilter.excludeClassNamePatterns(".*\\.ContractBlockedWorkersTest");
    }

    private static Outcome contract(Mutant mutant) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectors(mutant))
                .filters(ClassNameFilter.includeClassNamePatterns(".*\\.Contract\\w+Test"), hasRows(mutant))
                .configurationParameter(ContractSubjects.MUTANT, mutant.name())
                .build();
        Outcome outcome = new Outcome();
        LauncherFactory.create(LauncherConfig.DEFAULT).execute(request, outcome);
        return outcome;
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_NONE, names = "NONE.*")
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void contract_mutant_fails(Mutant mutant) {
        long start = System.nanoTime();
        Outcome outcome = contract(mutant);
        assertTrue(outcome.tests > 0, "no test ran");
        assertEquals(Set.of(), outcome.broken, () -> outcome.causes.toString());
        LifeFixtures.figure("%s is found within %.1f s by %s", mutant, (System.nanoTime() - start) / 1e9,
                outcome.failed);
        assertTrue(!outcome.failed.isEmpty(), () -> mutant + " gets through");
    }

    /** Without a mutant beside it, as a test that finds none has to be in time. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_ALL, names = "NONE.*")
    @Execution(ExecutionMode.SAME_THREAD)
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ_WRITE)
    void contract_layerAlone_passes(Mutant none) {
        Outcome outcome = contract(none);
        assertTrue(outcome.tests > 0, "no test ran");
        assertEquals(Set.of(), outcome.broken, () -> outcome.causes.toString());
        assertEquals(Set.of(), outcome.failed, () -> outcome.causes.toString());
    }
}
