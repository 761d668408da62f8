package io.pendula.benchmarks.designs;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.pendula.benchmarks.rivals.Rival;

/**
 * Timers as they were built elsewhere, written anew from descriptions of their designs, so that the designs can be
 * compared on one machine, in one language, and behind one interface.
 */
public final class Designs {
    public static Rival go19() {
        return new Go19();
    }

    public static Rival go110() {
        return go110(Go110.QUEUES);
    }

    /** Go 1.10's with another number of queues, each with its lock, its heap and its thread. */
    public static Rival go110(int queues) {
        return new Go110(queues);
    }

    /** The timers' thread hands each callback to one of so many other threads. */
    public static Rival handedOver(Rival timers, int threads) {
        return new HandedOver(timers, threads);
    }

    public static Rival go114(int workers) {
        return new Go114(workers);
    }

    public static Rival goim() {
        return new Goim();
    }

    public static Rival redBlackTree() {
        return new RedBlackTree();
    }

    public static Rival skipList() {
        return new SkipList();
    }

    public static Rival simpleWheel(int tickMillis) {
        return new SimpleWheel(MILLISECONDS.toNanos(tickMillis));
    }

    public static Rival hierarchicalWheel(int tickMillis) {
        return new HierarchicalWheel(MILLISECONDS.toNanos(tickMillis));
    }

    public static Rival eventLoop() {
        return new EventLoop();
    }

    public static Rival eventLoops(int loops) {
        return new EventLoops(loops);
    }

    private Designs() {}
}
