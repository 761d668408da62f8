package io.pendula;

import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import java.util.List;

/** Tells a listener of the user's, which knows nodes as handles and loops as {@link TimerLoop}s. */
final class ListenerReporter extends Reporter {
    private final TimerListener listener;

    ListenerReporter(TimerListener listener) {
        this.listener = Check.notNull(listener, "listener");
    }

    @Override
    Reporter anew() {
        return new ListenerReporter(listener);
    }

    private static TimerHandle handle(TimerNode timer) {
        return (TimerHandle) timer;
    }

    private static TimerLoop handle(QueueOwner loop) {
        return TimerLoop.of((LoopWorker) loop);
    }

    @Override
    void tellThrew(TimerNode t, long lateness, Throwable thrown) {
        listener.threw(handle(t), lateness, thrown);
    }

    @Override
    void tellSlow(TimerNode t, long lateness, long ran) {
        listener.slow(handle(t), lateness, ran);
    }

    @Override
    void tellStalled(TimerNode t, long lateness, long blocked) {
        listener.stalled(handle(t), lateness, blocked);
    }

    @Override
    void tellLoopStalled(QueueOwner loop, Thread thread, TimerNode first, long late) {
        listener.loopStalled(handle(loop), handle(first), late);
    }

    @Override
    void tellLoopClosed(QueueOwner loop, List<TimerNode> unfired) {
        listener.loopClosed(handle(loop), unfired.stream().map(ListenerReporter::handle).toList());
    }

    @Override
    void tellPaused(long nanos) {
        listener.paused(nanos);
    }

    @Override
    void tellWakeupThrew(QueueOwner loop, Throwable thrown) {
        listener.wakeupThrew(handle(loop), thrown);
    }
}
