package io.pendula.benchmarks.designs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Selector;

/** Sleeps in a selector, as an event loop does. */
final class SelectorSleeper implements Sleeper {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Selector selector;

    SelectorSleeper() {
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void sleep(long nanos) {
        try {
            // Rounded up, as the loop would otherwise poll without a pause in the last millisecond.
            selector.select(nanos / NANOS_PER_MILLI + 1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void wake(Thread sleeping) {
        selector.wakeup();
    }

    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
