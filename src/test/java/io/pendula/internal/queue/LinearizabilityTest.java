package io.pendula.internal.queue;

import static io.pendula.Figures.figure;

import io.pendula.Scale;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuarantee;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What several threads see of a queue's parts they could have seen one after the other. Lincheck draws programs of three
 * threads with three calls each, runs each under many interleavings, and looks for an order of the calls in which a
 * sequential model, the class {@code Spec} of each subject, gives the same results. Model checking decides itself which
 * thread goes on; stress leaves that to the processors.
 */
@Tag("lincheck")
@Timeout(300)
class LinearizabilityTest {
    /** What only the thread that has the lock uses, which is one step to the others. The lock itself is tried like all else. */
    private static final ManagedStrategyGuarantee UNDER_THE_LOCK = ManagedStrategyGuaranteeKt.forClasses(
            TimerHeap.class.getName(), Block.class.getName(), LatenessHistogram.class.getName()).allMethods().treatAsAtomic();

    /** Two calls, most interleavings of which can be tried; then programs of three threads, with calls before and after. */
    private static void check(Class<?> subject, Class<?> model) {
        check(modelChecking().threads(2).actorsPerThread(1).actorsBefore(0), Scale.of(30, 60), Scale.of(60, 200), subject, model);
        check(modelChecking().threads(3).actorsPerThread(3).actorsBefore(2), Scale.of(5, 20), Scale.of(40, 100), subject, model);
        check(new StressOptions().threads(3).actorsPerThread(3).actorsBefore(2), Scale.of(5, 10), Scale.of(300, 1_000), subject, model);
    }

    private static ModelCheckingOptions modelChecking() {
        // The look at the stack calls itself, and waits for no other thread.
        return new ModelCheckingOptions().recursionBound(100).loopBound(500).addGuarantee(UNDER_THE_LOCK);
    }

    private static void check(Options<?, ?> options, int programs, int executions, Class<?> subject, Class<?> model) {
        long began = System.nanoTime();
        options.actorsAfter(2).iterations(programs).invocationsPerIteration(executions)
                .sequentialSpecification(model).check(subject);
        figure("%s, %s: %d programs, %d executions each, %.1f s", subject.getSimpleName(),
                options instanceof StressOptions ? "stress" : "model checking", programs, executions,
                (System.nanoTime() - began) / 1e9);
    }

    @Test
    void oneTimer_isLinearizable() {
        check(LinearTimers.OneTimer.class, LinearTimers.OneTimer.Spec.class);
    }

    @Test
    void manyTimers_areClaimedInOrder() {
        check(LinearTimers.ManyTimers.class, LinearTimers.ManyTimers.Spec.class);
    }

    @Test
    void entries_runAndHeap_areOneQueue() {
        check(LinearTimers.Entries.class, LinearTimers.Entries.Spec.class);
    }

    @Test
    void inbox_isALinearizableStack() {
        check(LinearParts.Mail.class, LinearParts.Mail.Spec.class);
    }

    @Test
    void arrivals_areALinearizableMinimum() {
        check(LinearParts.Arrivals.class, LinearParts.Arrivals.Spec.class);
    }

    @Test
    void gate_eachSleepIsEndedOnce() {
        check(LinearParts.Gate.class, LinearParts.Gate.Spec.class);
    }

    @Test
    void resets_areCounted() {
        check(LinearParts.Resets.class, LinearParts.Resets.Spec.class);
    }

    @Test
    void permits_areBounded() {
        check(LinearParts.Permits.class, LinearParts.Permits.Spec.class);
    }
}
