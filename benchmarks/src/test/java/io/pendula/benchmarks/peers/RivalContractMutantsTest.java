package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.pendula.benchmarks.designs.Designs;
import io.pendula.benchmarks.rivals.Rival;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each check of the contract finds a scheduler that breaks its promise. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RivalContractMutantsTest {
    /** A scheduler with one fault each. */
    enum Mutant {
        FIRES_EARLY(RivalContract.NEVER_EARLY) {
            @Override
            Object schedule(Rival rival, long delayNanos, Rival.Task task) {
                return rival.schedule(delayNanos - delayNanos / 4, task);
            }
        },
        FIRES_TWICE(RivalContract.RUNS_ONCE_OR_IS_STOPPED_ONCE) {
            @Override
            Object schedule(Rival rival, long delayNanos, Rival.Task task) {
                return rival.schedule(delayNanos, () -> {
                    task.run();
                    task.run();
                });
            }
        },
        STOPS_IN_VAIN(RivalContract.STOP_IS_TRUTHFUL) {
            @Override
            boolean cancel(Rival rival, Object handle) {
                return true;
            }
        },
        STOP_CLAIMS_RUNS(RivalContract.STOP_DURING_RUN_IS_FALSE) {
            @Override
            boolean cancel(Rival rival, Object handle) {
                rival.cancel(handle);
                return true;
            }
        },
        STOP_CLAIMS_STOPS(RivalContract.RUNS_ONCE_OR_IS_STOPPED_ONCE) {
            @Override
            boolean cancel(Rival rival, Object handle) {
                rival.cancel(handle);
                return true;
            }
        },
        RESETS_NOT_TO_EARLIER(RivalContract.RESET_TO_EARLIER) {
            @Override
            Object reset(Rival rival, Object handle, long delayNanos, Rival.Task task) {
                return handle;
            }
        },
        KEEPS_OLD_DEADLINE(RivalContract.RESET_TO_LATER) {
            @Override
            Object reset(Rival rival, Object handle, long delayNanos, Rival.Task task) {
                return rival.schedule(delayNanos, task);
            }
        },
        LOSES_RESETS(RivalContract.NO_RESET_IS_LOST) {
            private int resets;

            @Override
            Object reset(Rival rival, Object handle, long delayNanos, Rival.Task task) {
                return ++resets % 16 == 0 ? handle : rival.reset(handle, delayNanos, task);
            }
        },
        REVERSES_ORDER(RivalContract.ORDER_OF_DEADLINES) {
            @Override
            Object schedule(Rival rival, long delayNanos, Rival.Task task) {
                return rival.schedule(SECONDS.toNanos(1) - delayNanos, task);
            }
        },
        STAYS_OPEN(RivalContract.CLOSE_LEAVES_NO_THREAD) {
            @Override
            void close(Rival rival) {}
        };

        final RivalContract broken;

        Mutant(RivalContract broken) {
            this.broken = broken;
        }

        Object schedule(Rival rival, long delayNanos, Rival.Task task) {
            return rival.schedule(delayNanos, task);
        }

        boolean cancel(Rival rival, Object handle) {
            return rival.cancel(handle);
        }

        Object reset(Rival rival, Object handle, long delayNanos, Rival.Task task) {
            return rival.reset(handle, delayNanos, task);
        }

        void close(Rival rival) {
            rival.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void check_mutant_fails(Mutant mutant) {
        RivalContract.Subject subject = new RivalContract.Subject(i -> planted(mutant), 0, SECONDS.toNanos(2));
        assertThrows(AssertionError.class, () -> mutant.broken.check(subject));
    }

    private static Rival planted(Mutant mutant) {
        Rival rival = Designs.goim();
        return new Rival() {
            @Override
            public Object schedule(long delayNanos, Task task) {
                return mutant.schedule(rival, delayNanos, task);
            }

            @Override
            public boolean cancel(Object handle) {
                return mutant.cancel(rival, handle);
            }

            @Override
            public Object reset(Object handle, long delayNanos, Task task) {
                return mutant.reset(rival, handle, delayNanos, task);
            }

            @Override
            public void close() {
                mutant.close(rival);
            }
        };
    }
}
