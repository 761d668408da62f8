package io.pendula.benchmarks.charts;

import java.awt.geom.Line2D;
import java.awt.geom.Point2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Finds room for short texts at the points of curves, so that no text covers a point, a curve or another text, or could be
 * that of another point of its curve.
 */
final class Notes {
    private static final double LETTER = 6.4;
    private static final double HEIGHT = 10;
    private static final double MARK = 5;
    /** From a point to a text; in the corners it is less in each direction. */
    static final double GAP = 8;
    private static final double ASIDE = GAP * Math.cos(Math.PI / 3);
    private static final double BESIDE = GAP * Math.sin(Math.PI / 3);

    /** Where a text stands, seen from its point. */
    enum Side { ABOVE, BELOW, RIGHT, LEFT, ABOVE_RIGHT, ABOVE_LEFT, BELOW_RIGHT, BELOW_LEFT, NOWHERE }

    /** A point, in the picture's units from its upper left corner; the text may be null. */
    record Spot(double x, double y, String note) {}

    private final Rectangle2D picture;
    private final List<List<Spot>> lines;
    private final List<Rectangle2D> taken = new ArrayList<>();

    private Notes(double width, double height, List<List<Spot>> lines) {
        this.picture = new Rectangle2D.Double(0, 0, width, height);
        this.lines = lines;
        for (List<Spot> line : lines) {
            line.forEach(s -> taken.add(new Rectangle2D.Double(s.x - MARK, s.y - MARK, 2 * MARK, 2 * MARK)));
        }
    }

    /**
     * A side for each point of each line. The ends of lines have their choice first, as they say what a line leads from
     * and to; else earlier lines have it.
     */
    static List<List<Side>> place(double width, double height, List<List<Spot>> lines) {
        Notes notes = new Notes(width, height, lines);
        List<Map<Integer, Side>> ends = lines.stream().map(notes::placeEnds).toList();
        return IntStream.range(0, lines.size()).mapToObj(i -> IntStream.range(0, lines.get(i).size())
                .mapToObj(j -> ends.get(i).computeIfAbsent(j, at -> notes.place(lines.get(i), at))).toList())
                .toList();
    }

    private Map<Integer, Side> placeEnds(List<Spot> line) {
        Map<Integer, Side> sides = new HashMap<>();
        for (int end : new int[] {line.size() - 1, 0}) {
            sides.computeIfAbsent(end, at -> place(line, at));
        }
        return sides;
    }

    private Side place(List<Spot> line, int at) {
        Spot spot = line.get(at);
        if (spot.note != null) {
            for (Side side : Side.values()) {
                Rectangle2D box = box(spot, side);
                if (box != null && isFree(box) && line.stream().noneMatch(other -> isNearer(other, spot, box))) {
                    taken.add(box);
                    return side;
                }
            }
        }
        return Side.NOWHERE;
    }

    private static Rectangle2D box(Spot spot, Side side) {
        double width = spot.note.length() * LETTER;
        return switch (side) {
            case ABOVE -> new Rectangle2D.Double(spot.x - width / 2, spot.y - GAP - HEIGHT, width, HEIGHT);
            case BELOW -> new Rectangle2D.Double(spot.x - width / 2, spot.y + GAP, width, HEIGHT);
            case RIGHT -> new Rectangle2D.Double(spot.x + GAP, spot.y - HEIGHT / 2, width, HEIGHT);
            case LEFT -> new Rectangle2D.Double(spot.x - GAP - width, spot.y - HEIGHT / 2, width, HEIGHT);
            case ABOVE_RIGHT -> new Rectangle2D.Double(spot.x + ASIDE, spot.y - BESIDE - HEIGHT, width, HEIGHT);
            case ABOVE_LEFT -> new Rectangle2D.Double(spot.x - ASIDE - width, spot.y - BESIDE - HEIGHT, width, HEIGHT);
            case BELOW_RIGHT -> new Rectangle2D.Double(spot.x + ASIDE, spot.y + BESIDE, width, HEIGHT);
            case BELOW_LEFT -> new Rectangle2D.Double(spot.x - ASIDE - width, spot.y + BESIDE, width, HEIGHT);
            case NOWHERE -> null;
        };
    }

    private static boolean isNearer(Spot one, Spot other, Rectangle2D box) {
        return Point2D.distance(box.getCenterX(), box.getCenterY(), one.x, one.y)
                < Point2D.distance(box.getCenterX(), box.getCenterY(), other.x, other.y);
    }

    private boolean isFree(Rectangle2D box) {
        return picture.contains(box) && taken.stream().noneMatch(box::intersects)
                && lines.stream().noneMatch(line -> isCrossed(box, line));
    }

    private static boolean isCrossed(Rectangle2D box, List<Spot> line) {
        for (int i = 1; i < line.size(); i++) {
            Spot from = line.get(i - 1);
            Spot to = line.get(i);
            if (new Line2D.Double(from.x, from.y, to.x, to.y).intersects(box)) {
                return true;
            }
        }
        return false;
    }
}
