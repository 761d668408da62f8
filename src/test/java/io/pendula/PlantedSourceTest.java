package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PlantedSourceTest {
    private static final String SOURCE = """
            class Outer {
                static final int MOST = 64;
                private int held;

                Outer(int held) {
                    this.held = held;
                }

                boolean take(int n) {
                    return n < MOST && held + n <= MOST; // before
                }

                boolean take() {
                    return held < MOST;
                }

                static class Inner {
                    boolean take(int n) {
                        return n == 0;
                    }
                }
            }
            """;

    private static String change(String source, String place, String old, String replacement) {
        return PlantedSource.change(source, new PlantedFault.Change(place, old, replacement));
    }

    private static void assertChanged(String expectedOld, String expectedNew, String place, String old, String by) {
        assertEquals(SOURCE.replace(expectedOld, expectedNew), change(SOURCE, place, old, by));
    }

    @Test
    void change_fragmentOfOneOfSeveralMethods_isReplacedThere() {
        assertChanged("held < MOST", "held <= MOST", "Outer.take", "held < MOST", "held <= MOST");
    }

    @Test
    void change_nestedClassConstructorAndField_areFoundByTheirNames() {
        assertChanged("n == 0", "n != 0", "Outer.Inner.take", "$n == 0", "$n != 0");
        assertChanged("this.held = held;", "", "Outer.Outer", "this.held = $held;", "");
        assertChanged("64", "65", "Outer.MOST", "64", "65");
        assertChanged("private int held", "int held", "Outer", "private int held;", "int held;");
    }

    @Test
    void change_sourceIsFormattedOtherwiseAndItsLocalHasAnotherName_fits() {
        String source = SOURCE.replace("n < MOST && held + n <= MOST; // before",
                "count < MOST // first\n        && held + count\n            <= MOST;").replace("take(int n)", "take(int count)");
        String changed = change(source, "Outer.take", "$n < MOST && held + $n <= MOST", "held + $n <= MOST");
        assertTrue(changed.contains("return held + count <= MOST;"), changed);
    }

    @Test
    void change_fragmentThatIsThereTwiceOrNot_isRefused() {
        assertThrows(IllegalArgumentException.class, () -> change(SOURCE, "Outer.take", "MOST", "1"));
        assertThrows(IllegalArgumentException.class, () -> change(SOURCE, "Outer.take", "MOST - held", "1"));
        assertThrows(IllegalArgumentException.class, () -> change(SOURCE, "Outer.give", "MOST", "1"));
    }

    @Test
    void change_nameThatStandsForTwo_isRefused() {
        assertThrows(IllegalArgumentException.class,
                () -> change(SOURCE, "Outer.take", "$n < MOST && $n + held <= MOST", "true"));
        assertThrows(IllegalArgumentException.class, () -> change(SOURCE, "Outer.take", "$n == MOST", "true"));
        assertThrows(IllegalArgumentException.class, () -> change(SOURCE, "Outer.take", "held < MOST", "$n"));
    }

    @Test
    void change_partOfAnOperatorOrOfAComment_isNotFound() {
        assertThrows(IllegalArgumentException.class, () -> change(SOURCE, "Outer.take", "= MOST", "1"));
        assertThrows(IllegalArgumentException.class, () -> change(SOURCE, "Outer.take", "before", "1"));
    }

    @Test
    void isConstant_staticFinalField_isTrue() {
        assertTrue(PlantedSource.isConstant(SOURCE, new PlantedFault.Change("Outer.MOST", "64", "65")));
        assertFalse(PlantedSource.isConstant(SOURCE, new PlantedFault.Change("Outer.held", "int", "long")));
    }
}
