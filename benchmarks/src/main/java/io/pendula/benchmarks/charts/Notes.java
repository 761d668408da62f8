package io.pendula.benchmarks.charts;

import java.awt.geom.Line2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;

/** Finds room for short texts at the points of curves, so that no text covers a point, a curve or another text. */
final class Notes {
    private static final double LETTER = 6.2;
    private static final double HEIGHT = 9;
    private static final double MARK = 5;
    private static final double GAP = 6;

    /** Where a text stands, seen from its point. */
    enum Side { ABOVE, BELOW, RIGHT, LEFT, NOWHERE }

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

    /** A side for each point of each line. Earlier lines have their choice first. */
    static List<List<Side>> place(double width, double height, List<List<Spot>> lines) {
        Notes notes = new Notes(width, height, lines);
        return lines.stream().map(line -> line.stream().map(notes::place).toList()).toList();
    }

    private Side place(Spot spot) {
        if (spot.note != null) {
            for (Side side : Side.values()) {
                Rectangle2D box = box(spot, side);
                if (box != null && isFree(box)) {
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
            case NOWHERE -> null;
        };
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
