package io.pendula.benchmarks.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessorsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"0-3 | 1 | 0", "0-3 | 2 | 0,1", "2,5-7 | 3 | 2,5,6", "4 | 1 | 4"})
    void first_ofAList_isSoMany(String list, int count, String first) {
        assertEquals(first, Processors.first(list, count));
    }

    @Test
    void only_moreThanThereAre_isSkipped() {
        int many = Runtime.getRuntime().availableProcessors() + 1;
        String message = assertThrows(Launch.Skipped.class, () -> Processors.only(many)).getMessage();
        assertTrue(message.contains("there are not " + many + " processors"), message);
    }
}
