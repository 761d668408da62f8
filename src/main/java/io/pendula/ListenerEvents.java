package io.pendula;

import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Tells a listener of the user's, which knows nodes as handles and loops as {@link TimerLoop}s. */
final class ListenerEvents extends Events {
    private final TimerListener listener;

    private ListenerEvents(TimerListener listener) {
        this.listener = listener;
    }

    static Events to(TimerListener listener) {
        return new ListenerEvents(Check.notNull(listener, "listener"));
    }

    private static TimerHandle handle(TimerNode timer) {
        return (TimerHandle) timer;
    }

    private static TimerLoop handle(QueueOwner loop) {
        return TimerLoop.of((LoopWorker) loop);
    }

    @Override
    void threw(TimerNode timer, long lateness, Throwable thrown) {
        listener.threw(handle(timer), lateness, thrown);
    }

    @Override
    void slow(TimerNode timer, long lateness, long ran) {
        listener.slow(handle(timer), lateness, ran);
    }

    @Override
    void stalled(TimerNode timer, long lateness, long blocked) {
        listener.stalled(handle(timer), lateness, blocked);
    }

    @Override
    void loopStalled(QueueOwner loop, Thread thread, TimerNode timer, long lateness) {
        listener.loopStalled(handle(loop), handle(timer), lateness);
    }

    @Override
    void loopClosed(QueueOwner loop, List<TimerNode> unfired) {
        List<TimerHandle> handles = new ArrayList<>(unfired.size());
        for (TimerNode t : unfired) {
            handles.add(handle(t));
        }
        listener.loopClosed(handle(loop), Collections.unmodifiableList(handles));
    }

    @Override
    void paused(long nanos) {
        listener.paused(nanos);
    }

    @Override
    void wakeupThrew(QueueOwner loop, Throwable thrown) {
        listener.wakeupThrew(handle(loop), thrown);
    }
}
