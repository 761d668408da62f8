package io.pendula.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No change of the public API goes unnoticed: it stands in a file, and a change of it is a change of that file. */
@Timeout(60)
class ApiSignatureTest {
    private static final Path FILE = Path.of("src/test/resources/public-api.txt");
    private static final String COMMAND = "mvn -q test -Dtest=ApiSignatureTest -Dapi.write=true";

    @Test
    void publicApi_isThatOfTheFile() throws Exception {
        List<String> now = ApiSignature.lines();
        if (Boolean.getBoolean("api.write")) {
            Files.write(FILE, now);
        }
        List<String> before = Files.readAllLines(FILE);
        List<String> differences = new ArrayList<>();
        before.stream().filter(l -> !now.contains(l)).forEach(l -> differences.add("gone: " + l));
        now.stream().filter(l -> !before.contains(l)).forEach(l -> differences.add("new:  " + l));
        String hint = "The public API has changed. If that is meant, write it down by: " + COMMAND;
        assertEquals("", String.join("\n", differences), hint);
        assertEquals(before, now, hint);
    }

    @Test
    void signature_hasTypesMembersAndExceptions() throws Exception {
        List<String> lines = ApiSignature.lines();
        for (String part : List.of("public sealed interface io.pendula.Timer", "public sealed interface io.pendula.Alarm", "    public abstract boolean stop()",
                "    public default void await() throws java.lang.InterruptedException",
                "    public static final io.pendula.MissedTicks SKIP", "class io.pendula.TimerScheduler$Builder")) {
            assertTrue(lines.stream().anyMatch(l -> l.contains(part)), () -> part + " is missing in " + lines);
        }
        assertTrue(lines.stream().noneMatch(l -> l.contains("TimerNode") || l.contains("TimerQueue")), lines::toString);
    }
}
