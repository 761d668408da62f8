package io.pendula;

import java.util.List;
import java.util.function.Consumer;

/** Two listeners, told one after the other; the second also if the first throws. */
final class ListenerPair implements TimerListener {
    private final TimerListener first;
    private final TimerListener second;

    ListenerPair(TimerListener first, TimerListener second) {
        this.first = first;
        this.second = second;
    }

    private void tell(Consumer<TimerListener> event) {
        try {
            event.accept(first);
        } finally {
            event.accept(second);
        }
    }

    @Override
    public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
        tell(l -> l.threw(timer, latenessNanos, thrown));
    }

    @Override
    public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
        tell(l -> l.slow(timer, latenessNanos, ranNanos));
    }

    @Override
    public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
        tell(l -> l.stalled(timer, latenessNanos, blockedNanos));
    }

    @Override
    public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
        tell(l -> l.loopStalled(loop, timer, latenessNanos));
    }

    @Override
    public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
        tell(l -> l.loopClosed(loop, unfired));
    }

    @Override
    public void paused(long pausedNanos) {
        tell(l -> l.paused(pausedNanos));
    }

    @Override
    public void wakeupThrew(TimerLoop loop, Throwable thrown) {
        tell(l -> l.wakeupThrew(loop, thrown));
    }

    @Override
    public String toString() {
        return first + " and then " + second;
    }
}
