package io.pendula.internal.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures;
import io.pendula.internal.engine.Dispatcher.Dispatched;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The set of what the executor has removes a firing, then lacks the memory to count that. */
@Timeout(60)
class DispatcherTest {
    private final List<Runnable> executor = new ArrayList<>();
    private int runs;

    /** The test is its worker. */
    private static final class Alone extends Engine {
        Alone(Executor executor) {
            super(withExecutor(executor));
        }

        private static Options withExecutor(Executor executor) {
            Options options = new Options();
            options.executor = executor;
            return options.complete();
        }

        @Override
        public void callWatch() {}

        @Override
        public void forEachRunning(Consumer<TimerNode> look) {}

        @Override
        public boolean isInCallback() {
            return false;
        }

        @Override
        public Firing runOf(TimerNode timer) {
            return null;
        }
    }

    private static class Handed extends AbstractSet<Dispatched> {
        private final Set<Dispatched> all = ConcurrentHashMap.newKeySet();

        @Override
        public boolean add(Dispatched h) {
            return all.add(h);
        }

        @Override
        public boolean remove(Object h) {
            return all.remove(h);
        }

        @Override
        public Iterator<Dispatched> iterator() {
            return all.iterator();
        }

        @Override
        public int size() {
            return all.size();
        }
    }

    private static final class Countless extends Handed {
        @Override
        public boolean remove(Object h) {
            super.remove(h);
            throw new InternalError("meant"); // JUnit itself ends if an OutOfMemoryError gets to it
        }
    }

    private Firing claim(Engine engine) {
        TimerQueue queue = engine.newQueue(0, new WakeGate());
        QueuedNode timer = new QueuedNode(queue, () -> runs++) {};
        queue.arm(timer, 0);
        Firing claimed = new Firing() {};
        assertEquals(DueTimers.CLAIMED, queue.due.claimNext(claimed, 0));
        return claimed;
    }

    @Test
    void handOff_rejectedAndNoMemoryToCountWhatIsTakenBack_isTheCallersToRun() {
        Engine engine = new Alone(r -> {
            throw new RejectedExecutionException("meant");
        });
        Dispatcher dispatcher = new Dispatcher(engine, new Countless());
        Firing claimed = claim(engine);
        TimerNode timer = claimed.node();
        assertFalse(dispatcher.handOff(claimed));
        assertTrue(dispatcher.handedOff.isEmpty());
        assertSame(timer, claimed.node());
        assertTrue(engine.runHere(claimed));
        assertEquals(1, runs);
        assertEquals(1, engine.reporter.count(Event.THREW));
    }

    /** The list of the first close is out when the second one finds the firing. */
    @Test
    void handOff_addedBetweenTwoCloses_isTheCallersToRun() {
        Engine engine = new Alone(executor::add);
        List<TimerNode> unfired = new ArrayList<>();
        Dispatcher[] dispatcher = new Dispatcher[1];
        dispatcher[0] = new Dispatcher(engine, new Handed() {
            @Override
            public boolean add(Dispatched h) {
                engine.closed = true;
                dispatcher[0].takeBack(unfired);
                super.add(h);
                dispatcher[0].takeBack(unfired);
                return true;
            }
        });
        Firing claimed = claim(engine);
        assertFalse(dispatcher[0].handOff(claimed));
        assertEquals(List.of(), unfired);
        assertTrue(engine.runHere(claimed));
        assertEquals(1, runs);
    }

    @Test
    void run_noMemoryToCountItsEnd_wakesAThreadThatCloses() throws InterruptedException {
        Engine engine = new Alone(executor::add);
        Dispatcher dispatcher = new Dispatcher(engine, new Countless());
        assertTrue(dispatcher.handOff(claim(engine)));
        engine.closed = true;
        Thread closer = new Thread(() -> {
            try {
                engine.awaitChange(dispatcher.handedOff::isEmpty, Long.MAX_VALUE);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        closer.start();
        Fixtures.awaitWaiting(closer);
        executor.get(0).run();
        closer.join(TimeUnit.SECONDS.toMillis(30));
        assertFalse(closer.isAlive(), "it hangs");
        assertEquals(1, runs);
    }
}
