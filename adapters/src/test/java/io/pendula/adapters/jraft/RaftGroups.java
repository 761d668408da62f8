package io.pendula.adapters.jraft;

import com.alipay.sofa.jraft.Closure;
import com.alipay.sofa.jraft.Iterator;
import com.alipay.sofa.jraft.Node;
import com.alipay.sofa.jraft.RaftGroupService;
import com.alipay.sofa.jraft.Status;
import com.alipay.sofa.jraft.conf.Configuration;
import com.alipay.sofa.jraft.core.StateMachineAdapter;
import com.alipay.sofa.jraft.entity.PeerId;
import com.alipay.sofa.jraft.entity.Task;
import com.alipay.sofa.jraft.option.NodeOptions;
import com.alipay.sofa.jraft.option.RaftOptions;
import com.alipay.sofa.jraft.rpc.RaftRpcServerFactory;
import com.alipay.sofa.jraft.rpc.RpcServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** Raft groups, all of whose members are in this process, on as many servers on the loopback address. */
final class RaftGroups implements AutoCloseable {
    /** A member that keeps what was committed. */
    static final class Member extends StateMachineAdapter {
        final List<String> log = new CopyOnWriteArrayList<>();
        RaftGroupService service;
        Node node;

        @Override
        public void onApply(Iterator entries) {
            while (entries.hasNext()) {
                // A copy's position: the leader's replicators read the same buffer, perhaps later than this.
                log.add(StandardCharsets.UTF_8.decode(entries.getData().duplicate()).toString());
                if (entries.done() != null) {
                    entries.done().run(Status.OK());
                }
                entries.next();
            }
        }
    }

    /** By group, then by server. */
    final List<List<Member>> groups = new ArrayList<>();
    private final boolean sharedTimers;
    private final List<PeerId> peers = new ArrayList<>();
    private final List<RpcServer> servers = new ArrayList<>();

    RaftGroups(Path directory, int count, int members, int electionTimeoutMillis) throws IOException {
        this(directory, count, members, electionTimeoutMillis, false);
    }

    /** With shared timers, as JRaft calls them, where all groups have the same few pools. */
    RaftGroups(Path directory, int count, int members, int electionTimeoutMillis, boolean sharedTimers)
            throws IOException {
        this.sharedTimers = sharedTimers;
        for (int i = 0; i < members; i++) {
            PeerId peer = new PeerId("127.0.0.1", freePort());
            RpcServer server = RaftRpcServerFactory.createRaftRpcServer(peer.getEndpoint());
            if (!server.init(null)) {
                throw new IOException("no server at " + peer);
            }
            peers.add(peer);
            servers.add(server);
        }
        for (int g = 0; g < count; g++) {
            List<Member> group = new ArrayList<>();
            for (int i = 0; i < members; i++) {
                group.add(start("group-" + g, i, directory.resolve(g + "-" + i), electionTimeoutMillis));
            }
            groups.add(group);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private Member start(String group, int server, Path directory, int electionTimeoutMillis) throws IOException {
        Files.createDirectories(directory);
        Member member = new Member();
        NodeOptions options = new NodeOptions();
        options.setInitialConf(new Configuration(peers));
        options.setElectionTimeoutMs(electionTimeoutMillis);
        options.setSnapshotIntervalSecs(3600);
        options.setFsm(member);
        options.setLogUri(directory.resolve("log").toString());
        options.setRaftMetaUri(directory.resolve("meta").toString());
        options.setSnapshotUri(directory.resolve("snapshot").toString());
        options.setSharedElectionTimer(sharedTimers);
        options.setSharedVoteTimer(sharedTimers);
        options.setSharedStepDownTimer(sharedTimers);
        options.setSharedSnapshotTimer(sharedTimers);
        options.setSharedTimerPool(sharedTimers);
        RaftOptions raft = new RaftOptions();
        raft.setDisruptorBufferSize(256);
        raft.setSync(false);
        options.setRaftOptions(raft);
        member.service = new RaftGroupService(group, peers.get(server), options, servers.get(server), true);
        member.node = member.service.start(false);
        return member;
    }

    /** The leader of a group, if its members agree; else null. */
    Member leader(int group) {
        List<Member> alive = groups.get(group).stream().filter(member -> member.node != null).toList();
        List<Member> leaders = alive.stream().filter(member -> member.node.isLeader(false)).toList();
        if (leaders.size() != 1) {
            return null;
        }
        PeerId leader = leaders.get(0).node.getNodeId().getPeerId();
        return alive.stream().allMatch(member -> leader.equals(member.node.getLeaderId())) ? leaders.get(0) : null;
    }

    /** Proposes an entry; the future tells whether it is known to be committed. */
    static CompletableFuture<Status> apply(Member leader, String entry) {
        CompletableFuture<Status> committed = new CompletableFuture<>();
        Closure done = committed::complete;
        leader.node.apply(new Task(ByteBuffer.wrap(entry.getBytes(StandardCharsets.UTF_8)), done));
        return committed;
    }

    static void stop(Member member) {
        if (member.node != null) {
            member.node = null;
            member.service.shutdown();
            try {
                member.service.join();
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
        }
    }

    @Override
    public void close() {
        for (List<Member> members : groups) {
            for (Member member : members) {
                stop(member);
            }
        }
        servers.forEach(RpcServer::shutdown);
    }
}
