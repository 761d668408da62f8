package io.pendula.adapters.jraft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.adapters.Child;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Idle groups in a JVM of their own, with JRaft's timers and with the adapter's. */
@Timeout(180)
class IdleGroupsTest {
    private static final int GROUPS = Integer.getInteger("idle.groups", 3);
    private static final int MEMBERS = Integer.getInteger("idle.members", 1);
    private static final int SECONDS = Integer.getInteger("idle.seconds", 1);

    private record Figures(String factory, double cpuMillis, int threads, int timerThreads, int leaders) {
        static Figures of(List<String> words) {
            return new Figures(words.get(1), Double.parseDouble(words.get(3)), Integer.parseInt(words.get(4)),
                    Integer.parseInt(words.get(5)), Integer.parseInt(words.get(6)));
        }
    }

    @Test
    void idleGroups_keepTheirLeaders_withoutAThreadForEachTimer(@TempDir Path directory) throws Exception {
        Figures before = run(directory.resolve("before"), "src/test/spi");
        Figures after = run(directory.resolve("after"), "no such folder");
        assertEquals("DefaultRaftTimerFactory", before.factory);
        assertEquals("PendulaRaftTimerFactory", after.factory);
        assertEquals(GROUPS, before.leaders);
        assertEquals(GROUPS, after.leaders);
        assertTrue(before.timerThreads >= 2 * GROUPS * MEMBERS, before::toString);
        assertTrue(after.timerThreads <= 20, after::toString);
        if (Boolean.getBoolean("figures")) {
            System.out.println(GROUPS + " groups of " + MEMBERS + ", before: " + before);
            System.out.println(GROUPS + " groups of " + MEMBERS + ", after: " + after);
        }
    }

    private static Figures run(Path directory, String without) throws Exception {
        try (Child child = Child.start(IdleGroups.class, without, directory.toString(), GROUPS + "", MEMBERS + "", SECONDS + "")) {
            return Figures.of(List.of(child.line("FIGURES").split(" ")));
        }
    }
}
