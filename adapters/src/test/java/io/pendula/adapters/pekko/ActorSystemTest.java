package io.pendula.adapters.pekko;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.pendula.adapters.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.AbstractActorWithTimers;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.PoisonPill;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.ReceiveTimeout;
import org.apache.pekko.event.NoLogging;
import org.apache.pekko.pattern.AskTimeoutException;
import org.apache.pekko.pattern.Patterns;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An actor system whose configuration names the adapter. */
@Timeout(60)
class ActorSystemTest {
    private static final Config CONFIG = ConfigFactory.parseString("pekko.scheduler.implementation = "
            + PendulaScheduler.class.getName() + "\npekko.loglevel = WARNING").withFallback(ConfigFactory.load());

    private ActorSystem system;
    private PendulaScheduler scheduler;

    /** Collects what it receives, with the instant. */
    static final class Collector extends AbstractActor {
        private final ConcurrentLinkedQueue<Long> instants;

        Collector(ConcurrentLinkedQueue<Long> instants) {
            this.instants = instants;
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder()
                    .matchEquals("silent", message -> {})
                    .matchEquals("echo", message -> getSender().tell("echoed", getSelf()))
                    .matchAny(message -> instants.add(System.nanoTime()))
                    .build();
        }
    }

    /** Uses the timers that actors have, and a receive timeout. */
    static final class Timed extends AbstractActorWithTimers {
        private final ConcurrentLinkedQueue<String> events;

        Timed(ConcurrentLinkedQueue<String> events) {
            this.events = events;
            getTimers().startSingleTimer("once", "once", Duration.ofMillis(20));
            getTimers().startTimerAtFixedRate("rate", "tick", Duration.ofMillis(10));
            getTimers().startSingleTimer("never", "never", Duration.ofMillis(50));
            getTimers().startSingleTimer("never", "instead", Duration.ofMillis(60)); // replaces it
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder().match(String.class, message -> {
                events.add(message);
                if (message.equals("instead")) {
                    getTimers().cancel("rate");
                    getContext().setReceiveTimeout(Duration.ofMillis(30));
                }
            }).match(ReceiveTimeout.class, timeout -> {
                getContext().cancelReceiveTimeout();
                events.add("silence");
            }).build();
        }
    }

    @BeforeEach
    void open() {
        system = ActorSystem.create("timed", CONFIG);
        scheduler = assertInstanceOf(PendulaScheduler.class, system.scheduler());
    }

    @AfterEach
    void close() throws Exception {
        system.terminate();
        system.getWhenTerminated().toCompletableFuture().get(Patience.SECONDS, TimeUnit.SECONDS);
        assertTrue(scheduler.timers().isClosed());
        Patience.until("its threads have ended", () -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("timed-scheduler")));
    }

    private ActorRef collector(ConcurrentLinkedQueue<Long> instants) {
        return system.actorOf(Props.create(Collector.class, () -> new Collector(instants)));
    }

    @Test
    void ask_unanswered_timesOut_notEarly_andAnAnswerLeavesNothingBehind() throws Exception {
        ActorRef actor = collector(new ConcurrentLinkedQueue<>());
        long start = System.nanoTime();
        CompletionStage<Object> silent = Patterns.ask(actor, "silent", Duration.ofMillis(200));
        ExecutionException failure = assertThrows(ExecutionException.class,
                () -> silent.toCompletableFuture().get(Patience.SECONDS, TimeUnit.SECONDS));
        Patience.assertElapsed(200, start, System.nanoTime());
        assertInstanceOf(AskTimeoutException.class, failure.getCause());
        long pending = scheduler.timers().pending();
        for (int i = 0; i < 100; i++) {
            assertEquals("echoed", Patterns.ask(actor, "echo", Duration.ofHours(1)).toCompletableFuture()
                    .get(Patience.SECONDS, TimeUnit.SECONDS));
        }
        Patience.until("the timeouts are cancelled", () -> scheduler.timers().pending() <= pending);
    }

    @Test
    void messages_onceAndRepeated_endWithTheirReceiver() {
        ConcurrentLinkedQueue<Long> once = new ConcurrentLinkedQueue<>();
        ConcurrentLinkedQueue<Long> rate = new ConcurrentLinkedQueue<>();
        ConcurrentLinkedQueue<Long> delay = new ConcurrentLinkedQueue<>();
        ActorRef onceActor = collector(once);
        ActorRef rateActor = collector(rate);
        ActorRef delayActor = collector(delay);
        Duration period = Duration.ofMillis(10);
        long start = System.nanoTime();
        scheduler.scheduleOnce(Duration.ofMillis(100), onceActor, "x", system.dispatcher(), ActorRef.noSender());
        scheduler.scheduleAtFixedRate(period, period, rateActor, "x", system.dispatcher(), ActorRef.noSender());
        scheduler.scheduleWithFixedDelay(period, period, delayActor, "x", system.dispatcher(), ActorRef.noSender());
        Patience.until("all came", () -> once.size() == 1 && rate.size() >= 20 && delay.size() >= 10);
        Patience.assertElapsed(100, start, once.peek());
        List<ConcurrentLinkedQueue<Long>> repeated = List.of(rate, delay);
        for (ConcurrentLinkedQueue<Long> instants : repeated) {
            int tick = 0;
            for (long instant : instants) {
                tick++;
                assertTrue(instant - start >= tick * period.toNanos());
            }
        }
        rateActor.tell(PoisonPill.getInstance(), ActorRef.noSender());
        delayActor.tell(PoisonPill.getInstance(), ActorRef.noSender());
        Patience.until("no message is to come", () -> armedWithin(10 * period.toMillis()) <= 3);
    }

    /** How many timers are armed in a time in which a repeated task arms ten. */
    private long armedWithin(long millis) {
        long before = scheduler.timers().stats().armed();
        CountDownLatch over = new CountDownLatch(1);
        scheduler.scheduleOnce(Duration.ofMillis(millis), over::countDown, system.dispatcher());
        Patience.await(over);
        return scheduler.timers().stats().armed() - before;
    }

    @Test
    void timersOfAnActor_runReplaceAndCancel() {
        ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();
        system.actorOf(Props.create(Timed.class, () -> new Timed(events)));
        Patience.until("silence", () -> events.contains("silence"));
        assertTrue(events.contains("once"), events::toString);
        assertTrue(events.contains("instead"), events::toString);
        assertTrue(!events.contains("never"), events::toString);
        List<String> inOrder = List.copyOf(events);
        assertTrue(inOrder.indexOf("tick") < inOrder.indexOf("instead"), inOrder::toString);
    }

    /** Pekko's own scheduler would tick fifty times meanwhile. */
    @Test
    void idleSystem_isNotWokenByTicks() {
        Patience.until("its start is over", () -> {
            long before = scheduler.timers().stats().fired();
            armedWithin(500);
            return scheduler.timers().stats().fired() - before <= 3;
        });
    }

    @Test
    void workers_fromTheConfiguration() {
        Config two = CONFIG.withFallback(ConfigFactory.parseString("pendula.pekko.workers = 2"));
        PendulaScheduler other = new PendulaScheduler(two, NoLogging.getInstance(), Thread::new);
        assertTrue(other.timers().toString().contains("2 workers"), other.timers()::toString);
        other.close();
        assertTrue(scheduler.timers().toString().contains("1 worker"), scheduler.timers()::toString);
        Config none = CONFIG.withFallback(ConfigFactory.parseString("pendula.pekko.workers = 0"));
        IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class,
                () -> new PendulaScheduler(none, NoLogging.getInstance(), Thread::new));
        assertTrue(thrown.getMessage().contains("pendula.pekko.workers"), thrown.getMessage());
    }
}
