package io.pendula.adapters.pekko;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.LightArrayRevolverScheduler;
import org.apache.pekko.actor.Props;
import org.apache.pekko.cluster.Cluster;
import org.apache.pekko.cluster.ClusterEvent;
import org.apache.pekko.cluster.Member;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.sharding.ClusterSharding;
import org.apache.pekko.cluster.sharding.ClusterShardingSettings;
import org.apache.pekko.cluster.sharding.ShardRegion;
import org.apache.pekko.pattern.Patterns;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two nodes on the loopback address, all of whose timers are Pendula's. */
@Timeout(120)
class ClusterTest {
    private static final Config CONFIG = ConfigFactory.parseString("""
            pekko {
              scheduler.implementation = %s
              loglevel = ERROR
              stdout-loglevel = ERROR
              actor.provider = cluster
              remote.artery { transport = tcp, canonical { hostname = "127.0.0.1", port = 0 } }
              coordinated-shutdown {
                exit-jvm = off, run-by-jvm-shutdown-hook = off, run-by-actor-system-terminate = off
              }
              cluster {
                run-coordinated-shutdown-when-down = off
                jmx.multi-mbeans-in-same-jvm = on
                downing-provider-class = "org.apache.pekko.cluster.sbr.SplitBrainResolverProvider"
                split-brain-resolver { active-strategy = keep-oldest, stable-after = 1s }
                failure-detector { heartbeat-interval = 50ms, acceptable-heartbeat-pause = 3s }
                sharding.passivation {
                  strategy = default-idle-strategy
                  default-idle-strategy.idle-entity.timeout = 500ms
                }
              }
            }
            """.formatted(PendulaScheduler.class.getName())).withFallback(ConfigFactory.load());

    /** Entities that live on some node, by their ids. */
    private static final Set<String> ALIVE = ConcurrentHashMap.newKeySet();

    static final class Entity extends AbstractActor {
        @Override
        public void preStart() {
            ALIVE.add(getSelf().path().name());
        }

        @Override
        public void postStop() {
            ALIVE.remove(getSelf().path().name());
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder().matchAny(message -> {
                Object node = Cluster.get(getContext().getSystem()).selfMember().address();
                getSender().tell(node.toString(), getSelf());
            }).build();
        }
    }

    private static final class ById extends ShardRegion.HashCodeMessageExtractor {
        ById() {
            super(10);
        }

        @Override
        public String entityId(Object message) {
            return message.toString();
        }
    }

    private ActorSystem one;
    private ActorSystem two;

    @BeforeEach
    void form() {
        one = ActorSystem.create("pair", CONFIG);
        Cluster.get(one).join(Cluster.get(one).selfMember().address());
        two = ActorSystem.create("pair", CONFIG);
        Cluster.get(two).join(Cluster.get(one).selfMember().address());
        Patience.until("both are up, as both see it", () -> up(one) == 2 && up(two) == 2);
    }

    @AfterEach
    void end() throws Exception {
        for (ActorSystem system : new ActorSystem[] {two, one}) {
            system.terminate();
            system.getWhenTerminated().toCompletableFuture().get(Patience.SECONDS, TimeUnit.SECONDS);
            assertTrue(timers(system).isClosed());
        }
    }

    private static long up(ActorSystem system) {
        return StreamSupport.stream(Cluster.get(system).state().getMembers().spliterator(), false)
                .map(Member::status).filter(MemberStatus.up()::equals).count();
    }

    private static TimerScheduler timers(ActorSystem system) {
        return assertInstanceOf(PendulaScheduler.class, system.scheduler()).timers();
    }

    /** A cluster starts a second scheduler, of the configured class, if the system's has coarse ticks. */
    @Test
    void cluster_usesTheSystemsScheduler() throws Exception {
        assertFalse(Cluster.get(one).scheduler() instanceof PendulaScheduler, "a second one");

        ActorSystem coarse = ActorSystem.create("coarse", ConfigFactory.parseString("pekko.scheduler { implementation = "
                + LightArrayRevolverScheduler.class.getName() + ", tick-duration = 100ms }").withFallback(CONFIG));
        try {
            assertInstanceOf(LightArrayRevolverScheduler.class, Cluster.get(coarse).scheduler());
        } finally {
            coarse.terminate();
            coarse.getWhenTerminated().toCompletableFuture().get(Patience.SECONDS, TimeUnit.SECONDS);
        }
    }

    /** At twenty heartbeats a second, while all else of an idle cluster fires some times a second. */
    @Test
    void heartbeats_comeFromOurTimers_andKeepTheNodesTogether() {
        Patience.until("two seconds with more than 24 firings", () -> {
            long before = timers(one).stats().fired();
            long start = System.nanoTime();
            Patience.until("two seconds have passed", () -> System.nanoTime() - start > TimeUnit.SECONDS.toNanos(2));
            return timers(one).stats().fired() - before > 24;
        });
        assertEquals(2, up(one));
        assertEquals(Set.of(), Cluster.get(one).state().getUnreachable());
    }

    @Test
    void shardedEntities_answerFromBothNodes_andIdleOnesArePassivated() throws Exception {
        ActorRef region = start(one);
        start(two);
        Set<Object> nodes = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 40; i++) {
            nodes.add(Patterns.ask(region, "entity-" + i, Duration.ofSeconds(Patience.SECONDS)).toCompletableFuture()
                    .get(Patience.SECONDS, TimeUnit.SECONDS));
        }
        assertEquals(2, nodes.size());
        Patience.until("idle entities are stopped", ALIVE::isEmpty);
        nodes.add(Patterns.ask(region, "entity-0", Duration.ofSeconds(Patience.SECONDS)).toCompletableFuture()
                .get(Patience.SECONDS, TimeUnit.SECONDS));
        assertEquals(2, nodes.size());
    }

    private static ActorRef start(ActorSystem system) {
        return ClusterSharding.get(system).start("entity", Props.create(Entity.class, Entity::new),
                ClusterShardingSettings.create(system), new ById());
    }

    /** Keeps what a node has been told of others. */
    static final class Watcher extends AbstractActor {
        private final Set<String> unreachable;

        Watcher(Set<String> unreachable) {
            this.unreachable = unreachable;
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder()
                    .match(ClusterEvent.UnreachableMember.class, event -> unreachable.add(event.member().address().toString()))
                    .matchAny(event -> {})
                    .build();
        }
    }

    @Test
    void nodeThatIsGone_isMissedByTheFailureDetector_andRemoved() throws Exception {
        Set<String> unreachable = ConcurrentHashMap.newKeySet();
        Cluster.get(one).subscribe(one.actorOf(Props.create(Watcher.class, () -> new Watcher(unreachable))),
                ClusterEvent.UnreachableMember.class);
        String lost = Cluster.get(two).selfMember().address().toString();
        two.terminate(); // without leaving: see the configuration
        two.getWhenTerminated().toCompletableFuture().get(Patience.SECONDS, TimeUnit.SECONDS);
        Patience.until("one node is left", () -> up(one) == 1
                && StreamSupport.stream(Cluster.get(one).state().getMembers().spliterator(), false).count() == 1);
        assertEquals(Set.of(lost), unreachable);
        assertEquals(Set.of(), Cluster.get(one).state().getUnreachable());
    }
}
