package io.pendula;

import java.util.List;

/** Two listeners, told one after the other; the second also if the first throws. */
final class ListenerPair implements TimerListener {
    private final TimerListener first;
    private final TimerListener second;

    ListenerPair(TimerListener first, TimerListener second) {
        this.first = first;
        this.second = second;
    }

    @Override
    public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
        try {
            first.threw(timer, latenessNanos, thrown);
        } finally {
            second.threw(timer, latenessNanos, thrown);
        }
    }

    @Override
    public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
        try {
            first.slow(timer, latenessNanos, ranNanos);
        } finally {
            second.slow(timer, latenessNanos, ranNanos);
        }
    }

    @Override
    public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
        try {
            first.stalled(timer, latenessNanos, blockedNanos);
        } finally {
            second.stalled(timer, latenessNanos, blockedNanos);
        }
    }

    @Override
    public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
        try {
            first.loopStalled(loop, timer, latenessNanos);
        } finally {
            second.loopStalled(loop, timer, latenessNanos);
        }
    }

    @Override
    public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
        try {
            first.loopClosed(loop, unfired);
        } finally {
            second.loopClosed(loop, unfired);
        }
    }

    @Override
    public void paused(long pausedNanos) {
        try {
            first.paused(pausedNanos);
        } finally {
            second.paused(pausedNanos);
        }
    }

    @Override
    public void wakeupThrew(TimerLoop loop, Throwable thrown) {
        try {
            first.wakeupThrew(loop, thrown);
        } finally {
            second.wakeupThrew(loop, thrown);
        }
    }

    @Override
    public String toString() {
        return first + " and then " + second;
    }
}
