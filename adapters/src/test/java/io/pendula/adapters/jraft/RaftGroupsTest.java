package io.pendula.adapters.jraft;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.alipay.sofa.jraft.JRaftUtils;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import io.pendula.adapters.jraft.RaftGroups.Member;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three members elect a leader, replicate, and elect another when it is gone. */
@Timeout(120)
class RaftGroupsTest {
    @Test
    void threeMembers_electReplicateAndElectAgain(@TempDir Path directory) throws Exception {
        assertInstanceOf(PendulaRaftTimerFactory.class, JRaftUtils.raftTimerFactory());
        long before = TimerScheduler.shared().stats().fired();
        Map<String, Integer> proposed = new HashMap<>();
        try (RaftGroups raft = new RaftGroups(directory, 1, 3, 2_000)) {
            List<String> entries = new ArrayList<>(apply(raft, 0, 50, proposed));
            Patience.until("all have all", () -> raft.groups.get(0).stream().allMatch(m -> hasAll(m, entries)));

            Patience.until("a leader", () -> raft.leader(0) != null);
            Member first = raft.leader(0);
            RaftGroups.stop(first);
            entries.addAll(apply(raft, 50, 50, proposed));
            Patience.until("both that are left have all",
                    () -> raft.groups.get(0).stream().filter(m -> m != first).allMatch(m -> hasAll(m, entries)));
            assertTrue(hasAll(first, entries.subList(0, 50)));
            for (Member member : raft.groups.get(0)) {
                member.log.stream().distinct().forEach(entry -> assertTrue(
                        Collections.frequency(member.log, entry) <= proposed.get(entry), () -> entry + " of " + proposed));
            }
            assertTrue(TimerScheduler.shared().stats().fired() > before, "elections are timed by Pendula");
            assertTrue(Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                    .noneMatch(name -> name.startsWith("JRaft-") && name.contains("Timer")), "no thread for a timer");
        }
        Patience.until("nothing is left behind", () -> TimerScheduler.shared().pendingTimers(100).stream()
                .noneMatch(timer -> timer.task().toString().contains("RaftTimeout")));
    }

    /** On a busy machine a leader may be lost, and an entry proposed again though it was committed. */
    private static boolean hasAll(Member member, List<String> entries) {
        return member.log.stream().distinct().toList().equals(entries);
    }

    /** One after the other, each until it is committed. */
    private static List<String> apply(RaftGroups raft, int from, int count, Map<String, Integer> proposed)
            throws Exception {
        List<String> entries = new ArrayList<>();
        for (int i = from; i < from + count; i++) {
            String entry = "entry " + i;
            entries.add(entry);
            for (boolean committed = false; !committed; ) {
                Patience.until("a leader", () -> raft.leader(0) != null);
                Member leader = raft.leader(0);
                proposed.merge(entry, leader == null ? 0 : 1, Integer::sum);
                committed = leader != null
                        && RaftGroups.apply(leader, entry).get(Patience.SECONDS, TimeUnit.SECONDS).isOk();
            }
        }
        return entries;
    }
}
