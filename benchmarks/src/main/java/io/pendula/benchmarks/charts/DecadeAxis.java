package io.pendula.benchmarks.charts;

import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.text.NumberFormat;
import java.util.ArrayList;
import java.util.List;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberTick;
import org.jfree.chart.axis.TickType;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.TextAnchor;

/** A logarithmic axis with a label at each power of ten, or also at twice and five times that where there is room. */
final class DecadeAxis extends LogAxis {
    private static final long serialVersionUID = 1;
    /** With more decades there is room for powers only. */
    private static final double FEW_DECADES = 2.2;

    private final transient NumberFormat format;

    DecadeAxis(String label, NumberFormat format) {
        super(label);
        this.format = format;
        setMinorTickMarksVisible(false);
    }

    @Override
    protected List<NumberTick> refreshTicksHorizontal(Graphics2D g, Rectangle2D area, RectangleEdge edge) {
        return ticks(TextAnchor.TOP_CENTER);
    }

    @Override
    protected List<NumberTick> refreshTicksVertical(Graphics2D g, Rectangle2D area, RectangleEdge edge) {
        return ticks(TextAnchor.CENTER_RIGHT);
    }

    private List<NumberTick> ticks(TextAnchor anchor) {
        double low = getRange().getLowerBound();
        double high = getRange().getUpperBound();
        boolean few = Math.log10(high / low) < FEW_DECADES;
        List<NumberTick> ticks = new ArrayList<>();
        for (int decade = (int) Math.floor(Math.log10(low)); Math.pow(10, decade) <= high; decade++) {
            for (int digit : new int[] {1, 2, 5}) {
                double value = digit * Math.pow(10, decade);
                if (value >= low && value <= high && (few || digit == 1)) {
                    ticks.add(new NumberTick(TickType.MAJOR, value, format.format(value), anchor, TextAnchor.CENTER,
                            0));
                }
            }
        }
        return ticks;
    }
}
