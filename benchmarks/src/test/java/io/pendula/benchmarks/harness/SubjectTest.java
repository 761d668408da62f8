package io.pendula.benchmarks.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.peers.SchedulerType;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SubjectTest {
    @Test
    void parse_typeSettingsAndJar_areTold() {
        Subject s = Subject.parse("PENDULA:threads=2:daemon=false@old", Map.of("old", Path.of("old.jar")));
        assertEquals("PENDULA:threads=2:daemon=false@old", s.label());
        assertEquals("PENDULA:threads=2:daemon=false", s.spec());
        assertEquals(Path.of("old.jar"), s.jar());
        assertEquals(Map.of("threads", "2", "daemon", "false"), s.settings());
    }

    @Test
    void parse_unknownJar_isRejected() {
        String message = assertThrows(IllegalArgumentException.class, () -> Subject.parse("PENDULA@old", Map.of()))
                .getMessage();
        assertTrue(message.contains("'old'"), message);
    }

    @Test
    void parse_settingWithoutValue_isRejected() {
        String message = assertThrows(IllegalArgumentException.class, () -> Subject.of("PENDULA:daemon")).getMessage();
        assertTrue(message.contains("'daemon'"), message);
    }

    @Test
    void open_unknownType_isRejected() {
        String message = assertThrows(IllegalArgumentException.class, () -> Subject.of("SUNDIAL").open(1)).getMessage();
        assertTrue(message.contains("'SUNDIAL'"), message);
    }

    @Test
    void open_settingOfThisBuilder_isUsed() {
        Subject.of("PENDULA:threads=2:daemon=true").open(SchedulerType.AS_BUILT).close();
    }

    @Test
    void open_settingOfNoBuilder_isUnsupported() {
        assertThrows(UnsupportedOperationException.class, () -> Subject.of("PENDULA:sandglass=3").open(1));
    }

    @Test
    void open_settingOfAnotherScheduler_isRejected() {
        assertThrows(IllegalArgumentException.class, () -> Subject.of("STPE:daemon=true").open(1));
    }
}
