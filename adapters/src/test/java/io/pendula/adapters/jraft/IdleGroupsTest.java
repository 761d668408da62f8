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
@Timeout(600) // the figures of many groups take so long; those of a build, half a minute
class IdleGroupsTest {
    private static final int GROUPS = Integer.getInteger("idle.groups", 3);
    private static final int MEMBERS = Integer.getInteger("idle.members", 1);
    private static final int SECONDS = Integer.getInteger("idle.seconds", 1);

    private static final int ELECTION_MILLIS = Integer.getInteger("idle.election.millis", 2_000);

    private record Figures(String factory, double secondsUntilLeaders, double cpuMillis, int threads, int timerThreads,
            int leaders) {
        static Figures of(List<String> words) {
            return new Figures(words.get(1), Double.parseDouble(words.get(2)), Double.parseDouble(words.get(3)),
                    Integer.parseInt(words.get(4)), Integer.parseInt(words.get(5)), Integer.parseInt(words.get(6)));
        }
    }

    @Test
    void idleGroups_keepTheirLeaders_withoutAThreadForEachTimer(@TempDir Path directory) throws Exception {
        Figures after = run("Pendula's", directory.resolve("after"), "no such folder", false);
        assertEquals("PendulaRaftTimerFactory", after.factory);
        assertEquals(GROUPS, after.leaders);
        assertTrue(after.timerThreads <= 20, after::toString);

        Figures shared = run("JRaft's, shared", directory.resolve("shared"), "src/test/spi", true);
        assertEquals("DefaultRaftTimerFactory", shared.factory);
        assertEquals(GROUPS, shared.leaders);

        Figures before = run("JRaft's", directory.resolve("before"), "src/test/spi", false);
        assertEquals("DefaultRaftTimerFactory", before.factory);
        assertEquals(GROUPS, before.leaders);
        assertTrue(before.timerThreads >= 2 * GROUPS * MEMBERS, before::toString);
    }

    private static Figures run(String name, Path directory, String without, boolean shared) throws Exception {
        try (Child child = Child.start(IdleGroups.class, without, directory.toString(), GROUPS + "", MEMBERS + "",
                SECONDS + "", shared + "", ELECTION_MILLIS + "")) {
            Figures figures = Figures.of(List.of(child.line("FIGURES").split(" ")));
            if (Boolean.getBoolean("figures")) {
                System.out.println(GROUPS + " groups of " + MEMBERS + ", " + name + " timers: " + figures);
            }
            return figures;
        }
    }
}
