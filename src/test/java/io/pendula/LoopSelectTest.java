package io.pendula;

import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.ns;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a loop asks of its selector: a timeout in whole milliseconds, not too short, and not a whole one too long. */
class LoopSelectTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).workers(0).build();
    private final LoopFixtures.Bell bell = new LoopFixtures.Bell();
    private final TimerLoop loop = timers.attach(bell);
    private final RecordingSelector selector = new RecordingSelector();

    /** Never waits, and tells how it was asked. */
    private static final class RecordingSelector extends AbstractSelector {
        final List<String> calls = new ArrayList<>();
        IOException failure;

        RecordingSelector() {
            super(null);
        }

        private int note(String call) throws IOException {
            calls.add(call);
            if (failure != null) {
                throw failure;
            }
            return 7;
        }

        @Override
        public int selectNow() throws IOException {
            return note("now");
        }

        @Override
        public int select(long timeout) throws IOException {
            return note(timeout + " ms");
        }

        @Override
        public int select() throws IOException {
            return note("for ever");
        }

        @Override
        protected void implCloseSelector() {
            throw new UnsupportedOperationException("a loop does not close its selector");
        }

        @Override
        protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
            throw new UnsupportedOperationException("a loop registers nothing");
        }

        @Override
        public Set<SelectionKey> keys() {
            return Set.of();
        }

        @Override
        public Set<SelectionKey> selectedKeys() {
            return Set.of();
        }

        @Override
        public Selector wakeup() {
            return this;
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1 ms", "999999, 1 ms", "1000000, 1 ms", "1000001, 2 ms", "1999999, 2 ms", "2000000, 2 ms",
        "3600000000000, 3600000 ms", "3600000000001, 3600001 ms", "0, now", "-1, now",
        "576460752303423000, 576460752304 ms", "9223372036854775807, for ever"})
    void select_nextTimerIn_waitsSoLong(long nanos, String expected) throws Exception {
        loop.after(ns(nanos), NOTHING);
        assertEquals(7, loop.select(selector));
        assertEquals(List.of(expected), selector.calls);
    }

    @Test
    void select_nothingArmed_waitsForEver() throws Exception {
        assertEquals(7, loop.select(selector));
        assertEquals(List.of("for ever"), selector.calls);
    }

    @Test
    void select_timeGoesBy_waitsForWhatIsLeft() throws Exception {
        loop.after(ns(2_500_000), NOTHING);
        loop.select(selector);
        clock.advance(ns(600_000));
        loop.select(selector);
        clock.advance(ns(1_899_999));
        loop.select(selector);
        clock.advance(ns(1));
        loop.select(selector);
        assertEquals(List.of("3 ms", "2 ms", "1 ms", "now"), selector.calls);
        assertEquals(1, loop.runDue());
    }

    @Test
    void select_selectorFails_loopIsUpAndGoesOn() throws Exception {
        selector.failure = new IOException("select");
        assertSame(selector.failure, assertThrows(IOException.class, () -> loop.select(selector)));
        LoopFixtures.runElsewhere(() -> loop.after(NOW, NOTHING));
        assertEquals(0, bell.rings());
        selector.failure = null;
        assertEquals(7, loop.select(selector));
        assertEquals(1, loop.runDue());
    }
}
