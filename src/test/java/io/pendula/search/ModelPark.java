package io.pendula.search;

/** Takes the place of LockSupport. */
public final class ModelPark {
    private ModelPark() {}

    public static void park(Object blocker) {
        Hooks.parkUntil(Long.MAX_VALUE);
    }

    public static void park() {
        Hooks.parkUntil(Long.MAX_VALUE);
    }

    public static void parkNanos(Object blocker, long nanos) {
        parkNanos(nanos);
    }

    public static void parkNanos(long nanos) {
        if (nanos > 0) {
            Hooks.parkNanos(nanos);
        }
    }

    public static void unpark(Thread face) {
        Hooks.unpark(face);
    }
}
