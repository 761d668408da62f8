package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Each fault can still be planted, and names tests that exist: both go unnoticed else until .ci/planted runs. */
class PlantedFaultTest {
    @Test
    void lists_everyFault_fitsTheSources() throws Exception {
        List<String> wrong = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (PlantedFault f : Planted.all()) {
            assertTrue(names.add(f.name()), () -> "two faults are called " + f.name());
            for (PlantedFault.Change c : f.changes()) {
                try {
                    PlantedSource.change(Files.readString(LibrarySources.file(c.file())), c);
                } catch (Exception e) {
                    wrong.add(f.name() + ": " + e.getMessage());
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void lists_everyTest_exists() throws Exception {
        List<String> wrong = new ArrayList<>();
        for (PlantedFault f : Planted.all()) {
            for (String test : f.tests()) {
                String[] parts = test.split("#", 2);
                Class<?> type = Class.forName(PlantedFault.class.getPackageName() + "." + parts[0]);
                if (parts.length > 1 && Arrays.stream(type.getDeclaredMethods())
                        .noneMatch(m -> m.getName().equals(parts[1]))) {
                    wrong.add(f.name() + ": " + test);
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void lists_everyRowAndPromiseThatAFaultGuards_exists() throws Exception {
        List<String> wrong = new ArrayList<>();
        List<PlantedFault> all = Planted.all();
        String page = Planted.page(all, wrong);
        assertEquals(List.of(), wrong);
        assertEquals(List.of(), all.stream().filter(f -> !page.contains("| " + f.says() + " | ")).toList());
    }
}
