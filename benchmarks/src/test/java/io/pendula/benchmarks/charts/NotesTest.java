package io.pendula.benchmarks.charts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.benchmarks.charts.Notes.Side;
import io.pendula.benchmarks.charts.Notes.Spot;
import java.util.List;
import org.junit.jupiter.api.Test;

class NotesTest {
    private static List<List<Side>> place(List<List<Spot>> lines) {
        return Notes.place(200, 100, lines);
    }

    @Test
    void place_roomOnAllSides_isAbove() {
        assertEquals(List.of(List.of(Side.ABOVE, Side.NOWHERE)),
                place(List.of(List.of(new Spot(50, 50, "1/s"), new Spot(150, 50, null)))));
    }

    @Test
    void place_edgeOfThePicture_isOnTheOtherSide() {
        assertEquals(List.of(List.of(Side.BELOW)), place(List.of(List.of(new Spot(50, 5, "1/s")))));
        assertEquals(List.of(List.of(Side.RIGHT)), place(List.of(List.of(new Spot(0, 50, "1/s")))));
        assertEquals(List.of(List.of(Side.LEFT)), place(List.of(List.of(new Spot(200, 50, "1/s")))));
    }

    @Test
    void place_pointsAtOnePlace_theFirstLinesHasTheRoom() {
        List<Spot> line = List.of(new Spot(50, 50, "a long note"));
        assertEquals(List.of(List.of(Side.ABOVE), List.of(Side.BELOW), List.of(Side.RIGHT), List.of(Side.NOWHERE)),
                place(List.of(line, line, line, line)));
    }

    @Test
    void place_curveAbove_isBelow() {
        assertEquals(List.of(List.of(Side.BELOW), List.of(Side.NOWHERE, Side.NOWHERE)),
                place(List.of(List.of(new Spot(100, 50, "1/s")), List.of(new Spot(0, 40, null), new Spot(200, 40, null)))));
    }

    @Test
    void place_curvesCrossAtThePoint_isInTheirCorner() {
        assertEquals(List.of(List.of(Side.ABOVE_RIGHT, Side.NOWHERE)), place(List.of(
                List.of(new Spot(100, 50, "1/s"), new Spot(40, 20, null)),
                List.of(new Spot(0, 53, null), new Spot(200, 53, null)),
                List.of(new Spot(100, 0, null), new Spot(100, 100, null)))).subList(0, 1));
    }

    @Test
    void place_roomBesideTheNextPointOnly_isNowhere() {
        assertEquals(List.of(Side.NOWHERE, Side.ABOVE),
                place(List.of(List.of(new Spot(3, 50, "5/s"), new Spot(13, 50, "1/s")))).get(0));
    }

    @Test
    void place_endsOfALaterLine_haveTheirChoiceBeforeInnerPoints() {
        List<List<Side>> sides = place(List.of(
                List.of(new Spot(20, 50, null), new Spot(100, 50, "2/s"), new Spot(180, 50, null)),
                List.of(new Spot(100, 24, "1/s"), new Spot(100, 5, null))));
        assertEquals(Side.BELOW, sides.get(1).get(0));
        assertEquals(Side.BELOW, sides.get(0).get(1));
    }
}
