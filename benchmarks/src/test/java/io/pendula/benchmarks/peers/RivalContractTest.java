package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The designs keep all promises of the contract, and the libraries most of them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RivalContractTest {
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("pairs")
    void check_subject_passes(SchedulerType type, RivalContract promise) throws Exception {
        promise.check(new RivalContract.Subject(i -> type.open(SchedulerType.AS_BUILT), tickNanos(type),
                SECONDS.toNanos(20)));
    }

    static Stream<Arguments> pairs() {
        return Arrays.stream(SchedulerType.values()).filter(type -> type != SchedulerType.FJP).flatMap(
                type -> EnumSet.complementOf(EnumSet.copyOf(notPromised(type))).stream()
                        .map(promise -> Arguments.of(type, promise)));
    }

    private static EnumSet<RivalContract> notPromised(SchedulerType type) {
        return switch (type) {
            // Several threads, which help each other or get timers in turn.
            case PENDULA, NETTY_NIO, NETTY_EPOLL, NETTY_EXECUTOR, GO_1_9_HANDED, GO_1_10_HANDED -> EnumSet.of(RivalContract.ORDER_OF_DEADLINES);
            // A future that runs can be cancelled, and the threads help each other.
            case PENDULA_POOL -> EnumSet.of(RivalContract.ORDER_OF_DEADLINES, RivalContract.STOP_DURING_RUN_IS_FALSE,
                    RivalContract.RUNS_ONCE_OR_IS_STOPPED_ONCE);
            // A future that runs can be cancelled.
            case STPE, STPE_KEEPS -> EnumSet.of(RivalContract.STOP_DURING_RUN_IS_FALSE,
                    RivalContract.RUNS_ONCE_OR_IS_STOPPED_ONCE);
            // It does not say whether a stop prevented the run.
            case KAFKA -> EnumSet.of(RivalContract.STOP_IS_TRUTHFUL, RivalContract.RUNS_ONCE_OR_IS_STOPPED_ONCE,
                    RivalContract.RESET_TO_EARLIER);
            // It follows the wall clock, which may be set.
            case JAVA_TIMER -> EnumSet.of(RivalContract.NEVER_EARLY, RivalContract.RESET_TO_EARLIER,
                    RivalContract.RESET_TO_LATER);
            // It counts a delay from a time that it read before it took the timer: see PekkoTimerTest.
            case PEKKO -> EnumSet.of(RivalContract.NEVER_EARLY, RivalContract.RESET_TO_EARLIER,
                    RivalContract.RESET_TO_LATER);
            default -> EnumSet.noneOf(RivalContract.class);
        };
    }

    private static long tickNanos(SchedulerType type) {
        return MILLISECONDS.toNanos(switch (type) {
            case HWT, KAFKA, JAVA_TIMER, VERTX, WHEEL_1MS, SKYNET_1MS -> 1;
            case PEKKO, WHEEL_10MS, SKYNET_10MS -> 10;
            case HWT_100MS -> 100;
            default -> 0;
        });
    }
}
