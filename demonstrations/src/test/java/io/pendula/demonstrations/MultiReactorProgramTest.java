package io.pendula.demonstrations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MultiReactorProgramTest {
    @Test
    void main_oneReactorRetires_allItsConnectionsMove() throws IOException, InterruptedException {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PrintStream capture = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
            System.setOut(capture);
            MultiReactor.main(new String[0]);
        } finally {
            System.setOut(before);
        }
        List<String> lines = bytes.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(3, lines.size(), lines::toString);
        assertTrue(lines.get(0).matches("served by \\{reactor-0=\\d+, reactor-1=.*}"), lines.get(0));
        assertTrue(lines.get(1).startsWith("reactor-0 has retired, now by {reactor-1="), lines.get(1));
        assertTrue(lines.get(2).matches("all were idle, and closed \\d+ ms later"), lines.get(2));
    }
}
