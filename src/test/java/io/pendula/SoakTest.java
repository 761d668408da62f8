package io.pendula;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.soak.Soak;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Some seconds of {@code .ci/soak}, with few timers: each of its parts once. */
@Tag("stress")
@Timeout(120)
class SoakTest {
    private static final int SECONDS = Scale.of(6, 15);
    private static final int TIMERS = 100_000;

    @Test
    void soak_ofSomeSeconds_allIsAsItMustBe() throws Exception {
        String out = LifeFixtures.runInChild(Soak.class, List.of("-Xmx176m", "-XX:+UseSerialGC"),
                Integer.toString(SECONDS), Integer.toString(TIMERS));
        LifeFixtures.figure("%s", out);
        for (String done : List.of("1 mass stops", "1 suspensions", "1 shortages", "all was as it must be")) {
            assertTrue(out.contains(done), () -> "no \"" + done + "\": " + out);
        }
    }
}
