package io.pendula.benchmarks.cases;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.peers.PoolType;
import java.util.List;

/** A case that compares pools of threads. */
interface PoolCase extends Case {
    @Override
    default List<Subject> subjects() {
        return Subject.all(PoolType.values());
    }

    @Override
    default void check(Subject subject) {
        subject.type(PoolType.class);
    }
}
