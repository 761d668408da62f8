package io.pendula.benchmarks.charts;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Shape;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.FieldPosition;
import java.text.NumberFormat;
import java.text.ParsePosition;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGeneratorContext;
import org.apache.batik.svggen.SVGGraphics2D;
import org.apache.batik.svggen.SVGGraphics2DIOException;
import org.apache.batik.svggen.SVGIDGenerator;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.Axis;
import org.jfree.chart.axis.AxisLocation;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.block.BlockBorder;
import org.jfree.chart.labels.ItemLabelAnchor;
import org.jfree.chart.labels.ItemLabelPosition;
import org.jfree.chart.labels.StandardCategoryItemLabelGenerator;
import org.jfree.chart.labels.XYItemLabelGenerator;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.plot.PlotOrientation;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.LineAndShapeRenderer;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.title.LegendTitle;
import org.jfree.chart.title.TextTitle;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.category.DefaultCategoryDataset;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;
import org.w3c.dom.Document;

/**
 * A diagram as SVG. On a page its colours are variables of the style sheet around it, which knows whether the page is
 * light or dark, and the page has the title. A file has both itself.
 *
 * @param title one line
 * @param x the label of that axis, with its unit in words
 * @param y the same
 */
public record Plot(String title, String x, String y, List<Line> lines, Kind kind) {
    /** How a plot is drawn. */
    public enum Kind {
        /** x and y are numbers on logarithmic scales. */
        CURVES("lower left is better"),
        /** x are values one beside the other, y has a logarithmic scale. */
        STEPS("lower is better"),
        /** One bar for each line, the shortest on top. */
        BARS("shorter is better");

        private final String better;

        Kind(String better) {
            this.better = better;
        }
    }

    /** @param notes what is written at a point, if there is room, or null */
    public record Point(String x, double y, String notes) {}

    /** One subject's points. */
    public record Line(String subject, List<Point> points) {
        /** As readers know it. */
        private String name() {
            String[] parts = subject.split(":");
            String threads = subject.replaceAll(".*threads=(\\d+).*", "$1");
            return NAMES.getOrDefault(parts[0], parts[0]) + (threads.equals(subject) ? "" : ", " + threads
                    + (threads.equals("1") ? " thread" : " threads"));
        }
    }

    /** What an axis is longer than its curves, as a share of their length: where it begins, for labels, and at its end. */
    private static final double BEFORE = 0.12;
    private static final double BEHIND = 0.05;
    private static final Map<String, String> NAMES = Map.ofEntries(Map.entry("PENDULA", "Pendula"),
            Map.entry("PENDULA_POOL", "Pendula's pool"), Map.entry("STPE", "JDK ScheduledThreadPool"),
            Map.entry("STPE_KEEPS", "JDK ScheduledThreadPool, keeps"), Map.entry("FJP", "JDK ForkJoinPool"),
            Map.entry("HWT", "Netty wheel"), Map.entry("HWT_100MS", "Netty wheel, 100 ms"),
            Map.entry("NETTY_EXECUTOR", "Netty event loop"), Map.entry("NETTY_NIO", "Netty NIO loop"),
            Map.entry("NETTY_EPOLL", "Netty epoll loop"), Map.entry("KAFKA", "Kafka timer"),
            Map.entry("PEKKO", "Pekko wheel"), Map.entry("JAVA_TIMER", "java.util.Timer"),
            Map.entry("VERTX", "Vert.x"), Map.entry("GO", "Go itself"),
            Map.entry("GO_1_14", "design of Go 1.14"), Map.entry("GO_1_10", "design of Go 1.10"),
            Map.entry("GO_1_9", "design of Go 1.9"));

    /** Colours of the style sheet by their stand-ins, which are drawn. */
    private static final Color INK = new Color(1, 1, 1);
    private static final Color FAINT = new Color(1, 1, 2);
    private static final int NARROW = 500;
    /** What a file is shown larger by than it is drawn. */
    private static final double LARGER = 1.35;
    /** What axes, title and legend take of a picture's size. */
    private static final int AROUND_X = 100;
    private static final int AROUND_Y = 140;
    private static final Map<Notes.Side, ItemLabelPosition> POSITIONS = Map.of(
            Notes.Side.ABOVE, new ItemLabelPosition(ItemLabelAnchor.OUTSIDE12, TextAnchor.BOTTOM_CENTER),
            Notes.Side.BELOW, new ItemLabelPosition(ItemLabelAnchor.OUTSIDE6, TextAnchor.TOP_CENTER),
            Notes.Side.RIGHT, new ItemLabelPosition(ItemLabelAnchor.OUTSIDE3, TextAnchor.CENTER_LEFT),
            Notes.Side.LEFT, new ItemLabelPosition(ItemLabelAnchor.OUTSIDE9, TextAnchor.CENTER_RIGHT),
            Notes.Side.ABOVE_RIGHT, new ItemLabelPosition(ItemLabelAnchor.OUTSIDE1, TextAnchor.BOTTOM_LEFT),
            Notes.Side.ABOVE_LEFT, new ItemLabelPosition(ItemLabelAnchor.OUTSIDE11, TextAnchor.BOTTOM_RIGHT),
            Notes.Side.BELOW_RIGHT, new ItemLabelPosition(ItemLabelAnchor.OUTSIDE5, TextAnchor.TOP_LEFT),
            Notes.Side.BELOW_LEFT, new ItemLabelPosition(ItemLabelAnchor.OUTSIDE7, TextAnchor.TOP_RIGHT),
            Notes.Side.NOWHERE, new ItemLabelPosition());
    private static final int COLOURS = 8;
    private static final Color[] SERIES = new Color[COLOURS];
    /** So that a subject has one colour on the whole page. */
    private static final Map<String, Integer> COLOUR_OF = Map.of("PENDULA", 0, "STPE", 1, "FJP", 2, "HWT", 3,
            "NETTY_EXECUTOR", 4, "KAFKA", 5, "PENDULA_POOL", 6, "NETTY", 4, "NETTY_EPOLL", 7);
    private static final DecimalFormatSymbols ENGLISH = DecimalFormatSymbols.getInstance(Locale.ROOT);

    static {
        for (int i = 0; i < COLOURS; i++) {
            SERIES[i] = new Color(2, 2, i);
        }
    }

    /** The style sheet's part for plots: the variables for a light page, and for a dark one. */
    public static final String LIGHT = "--ink:#1b1f24;--faint:#c9ced6;--s0:#c44e00;--s1:#0072b2;--s2:#008a65;"
            + "--s3:#b0568c;--s4:#a87400;--s5:#555c66;--s6:#7a1f4d;--s7:#3d8fc4;";
    public static final String DARK = "--ink:#e6e9ee;--faint:#3d444f;--s0:#ff8a3d;--s1:#5ab4f0;--s2:#2fcf9f;"
            + "--s3:#e39cc6;--s4:#f0b429;--s5:#a9b1bd;--s6:#e0709f;--s7:#8fd0ff;";

    /** @param prefix of identifiers, different for each of a page */
    public String svg(int width, int height, String prefix) {
        String svg = drawn(width, height, prefix, false);
        for (Map.Entry<String, String> colour : colours(LIGHT).entrySet()) {
            svg = svg.replace(standIn(colour.getKey()), "var(" + colour.getKey() + ")");
        }
        return svg;
    }

    private String drawn(int width, int height, String prefix, boolean alone) {
        JFreeChart chart = new JFreeChart(null, null, switch (kind) {
            case CURVES -> curves(width - AROUND_X, height - AROUND_Y);
            case STEPS -> steps();
            case BARS -> bars(width < NARROW);
        }, kind != Kind.BARS);
        chart.setBackgroundPaint(null);
        chart.setPadding(new RectangleInsets(4, 0, 0, 14));
        LegendTitle legend = chart.getLegend();
        if (legend != null) {
            legend.setPosition(RectangleEdge.BOTTOM);
            legend.setItemFont(font(12));
            legend.setItemPaint(INK);
            legend.setBackgroundPaint(null);
            legend.setFrame(BlockBorder.NONE);
        }
        if (alone) {
            String[] parts = title.split(", ", 2);
            chart.setTitle(words(parts[0], Font.BOLD, 15));
            chart.addSubtitle(words((parts.length > 1 ? parts[1] + "; " : "") + kind.better, Font.ITALIC, 12));
        }
        SVGGraphics2D g = new SVGGraphics2D(context(prefix), false);
        chart.draw(g, new Rectangle2D.Double(0, 0, width, height));
        String svg = text(g);
        return svg.substring(svg.indexOf("<svg")).replaceFirst("<svg", "<svg viewBox='0 0 " + width + " " + height
                + "' role='img' aria-label='" + escape(title + ": " + kind.better) + "'");
    }

    private static TextTitle words(String text, int style, int size) {
        TextTitle words = new TextTitle(text, new Font(Font.SANS_SERIF, style, size));
        words.setPaint(INK);
        return words;
    }

    /** A theme's colours by the names of their variables. */
    private static Map<String, String> colours(String theme) {
        Map<String, String> colours = new TreeMap<>();
        for (String one : theme.split(";")) {
            colours.put(one.split(":")[0], one.split(":")[1]);
        }
        return colours;
    }

    /** What is drawn in the place of a variable. */
    private static String standIn(String variable) {
        return switch (variable) {
            case "--ink" -> "rgb(1,1,1)";
            case "--faint" -> "rgb(1,1,2)";
            default -> "rgb(2,2," + variable.substring("--s".length()) + ")";
        };
    }

    private static SVGGeneratorContext context(String prefix) {
        Document document;
        try {
            document = DocumentBuilderFactory.newInstance().newDocumentBuilder().getDOMImplementation()
                    .createDocument(SVGGraphics2D.SVG_NAMESPACE_URI, "svg", null);
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException("this JDK makes no documents", e);
        }
        SVGGeneratorContext context = SVGGeneratorContext.createDefault(document);
        context.setPrecision(1);
        context.setComment(null);
        context.setIDGenerator(new SVGIDGenerator() {
            @Override
            public String generateID(String kind) {
                return prefix + super.generateID(kind);
            }
        });
        return context;
    }

    private static String text(SVGGraphics2D g) {
        StringWriter text = new StringWriter();
        try {
            g.stream(text, false);
        } catch (SVGGraphics2DIOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString().replaceAll("\\s*\n\\s*(/?>)", "$1") // it breaks lines inside of tags
                .replace("<defs id=\"genericDefs\"/>", "").trim();
    }

    /**
     * A file of its own, with title. Its colours are attributes, as some programs that show pictures know no style
     * sheets; one that does follows the reader's choice of light or dark. It is shown larger than it is drawn, so that
     * its letters are large enough where there is less room. What follows the title's first comma stands below it.
     *
     * @param about machine, commit and the like
     */
    public String file(int width, int height, Map<String, String> about) {
        String svg = drawn(width, height, "p", true);
        Map<String, String> dark = colours(DARK);
        StringBuilder style = new StringBuilder(darkFor("#ffffff", "#0d1117"));
        for (Map.Entry<String, String> light : colours(LIGHT).entrySet()) {
            svg = svg.replace(standIn(light.getKey()), light.getValue());
            style.append(darkFor(light.getValue(), dark.get(light.getKey())));
        }
        svg = svg.replaceFirst("<svg", "<svg width='" + Math.round(width * LARGER) + "' height='"
                + Math.round(height * LARGER) + "'");
        int end = svg.indexOf('>') + 1;
        StringBuilder words = new StringBuilder();
        about.forEach((key, value) -> words.append(key).append(": ").append(value).append(". "));
        return svg.substring(0, end) + "<desc>" + escape(words.toString().trim()) + "</desc>"
                + "<style>@media(prefers-color-scheme:dark){" + style + "}</style>"
                + "<rect width='100%' height='100%' fill=\"#ffffff\" stroke=\"none\"/>" + svg.substring(end) + "\n";
    }

    private static String darkFor(String light, String dark) {
        return "[fill='" + light + "']{fill:" + dark + "}[stroke='" + light + "']{stroke:" + dark + "}";
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#39;").replace("\"", "&quot;");
    }

    // ---- kinds ----

    /** The size is about that of the field in which the curves are drawn. */
    private XYPlot curves(int width, int height) {
        XYSeriesCollection data = new XYSeriesCollection();
        for (Line line : lines) {
            XYSeries series = new XYSeries(line.name(), false);
            line.points.forEach(p -> series.add(Double.parseDouble(p.x), p.y));
            data.addSeries(series);
        }
        List<List<Notes.Side>> sides = Notes.place(width, height, spots(width, height));
        XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, true) {
            private static final long serialVersionUID = 1;

            @Override
            public ItemLabelPosition getPositiveItemLabelPosition(int row, int column) {
                return POSITIONS.get(sides.get(row).get(column));
            }
        };
        double half = Notes.GAP / 2; // it counts twice outside of a point
        renderer.setItemLabelInsets(new RectangleInsets(half, half, half, half));
        for (int i = 0; i < lines.size(); i++) {
            int line = i;
            List<Point> points = lines.get(i).points;
            renderer.setSeriesPaint(i, SERIES[colour(i)]);
            renderer.setSeriesStroke(i, stroke(i));
            renderer.setSeriesShape(i, shape(i));
            renderer.setSeriesItemLabelGenerator(i, (XYItemLabelGenerator) (d, s, item) ->
                    sides.get(line).get(item) == Notes.Side.NOWHERE ? null : points.get(item).notes);
            renderer.setSeriesItemLabelsVisible(i, true);
            renderer.setSeriesItemLabelFont(i, font(11));
            renderer.setSeriesItemLabelPaint(i, SERIES[colour(i)]);
        }
        ValueAxis horizontal = logAxis(x);
        ValueAxis vertical = logAxis(y);
        horizontal.setLowerMargin(BEFORE);
        vertical.setLowerMargin(BEFORE);
        XYPlot plot = new XYPlot(data, horizontal, vertical, renderer);
        plot.setBackgroundPaint(null);
        plot.setOutlinePaint(FAINT);
        plot.setDomainGridlinePaint(FAINT);
        plot.setRangeGridlinePaint(FAINT);
        return plot;
    }

    private List<List<Notes.Spot>> spots(int width, int height) {
        List<Point> all = lines.stream().flatMap(line -> line.points.stream()).toList();
        double[] xs = all.stream().mapToDouble(p -> Math.log10(Double.parseDouble(p.x))).sorted().toArray();
        double[] ys = all.stream().mapToDouble(p -> Math.log10(p.y)).sorted().toArray();
        return lines.stream().map(line -> line.points.stream().map(p -> new Notes.Spot(
                place(Math.log10(Double.parseDouble(p.x)), xs) * width,
                (1 - place(Math.log10(p.y), ys)) * height,
                p.notes)).toList()).toList();
    }

    /** As a share of the axis, which is longer than what is on it. */
    private static double place(double value, double[] sorted) {
        double least = sorted[0];
        double most = sorted[sorted.length - 1];
        return most == least ? 0.5 : (BEFORE + (value - least) / (most - least)) / (1 + BEFORE + BEHIND);
    }

    private CategoryPlot steps() {
        DefaultCategoryDataset data = new DefaultCategoryDataset();
        lines.forEach(line -> line.points.forEach(p -> data.addValue(p.y, line.name(), p.x)));
        LineAndShapeRenderer renderer = new LineAndShapeRenderer(true, true);
        for (int i = 0; i < lines.size(); i++) {
            renderer.setSeriesPaint(i, SERIES[colour(i)]);
            renderer.setSeriesStroke(i, stroke(i));
            renderer.setSeriesShape(i, shape(i));
        }
        return categories(new CategoryPlot(data, categoryAxis(), logAxis(y), renderer));
    }

    private CategoryPlot bars(boolean narrow) {
        DefaultCategoryDataset data = new DefaultCategoryDataset();
        lines.forEach(line -> data.addValue(line.points.get(0).y, "", line.name()));
        BarRenderer renderer = new BarRenderer() {
            private static final long serialVersionUID = 1;

            @Override
            public Color getItemPaint(int row, int column) {
                return SERIES[colour(column)];
            }
        };
        renderer.setBarPainter(new StandardBarPainter());
        renderer.setShadowVisible(false);
        renderer.setMaximumBarWidth(0.1);
        renderer.setDefaultItemLabelGenerator(new StandardCategoryItemLabelGenerator("{2}", format()));
        renderer.setDefaultItemLabelsVisible(true);
        renderer.setDefaultItemLabelFont(font(12));
        renderer.setDefaultItemLabelPaint(INK);
        renderer.setDefaultPositiveItemLabelPosition(new ItemLabelPosition(ItemLabelAnchor.OUTSIDE3,
                TextAnchor.CENTER_LEFT));
        NumberAxis range = new NumberAxis(y);
        look(range);
        range.setUpperMargin(narrow ? 0.25 : 0.12); // for the labels
        CategoryPlot plot = categories(new CategoryPlot(data, categoryAxis(), range, renderer));
        plot.setOrientation(PlotOrientation.HORIZONTAL);
        plot.setRangeAxisLocation(AxisLocation.BOTTOM_OR_LEFT);
        return plot;
    }

    private static CategoryPlot categories(CategoryPlot plot) {
        plot.setBackgroundPaint(null);
        plot.setOutlinePaint(FAINT);
        plot.setRangeGridlinePaint(FAINT);
        return plot;
    }

    // ---- look ----

    private int colour(int line) {
        String subject = lines.get(line).subject;
        String type = subject.split("[: @]")[0];
        return COLOUR_OF.getOrDefault(type, line % COLOURS);
    }

    /** A second line of one colour is dashed. */
    private BasicStroke stroke(int line) {
        int same = 0;
        for (int i = 0; i < line; i++) {
            same += colour(i) == colour(line) ? 1 : 0;
        }
        float width = lines.get(line).subject.startsWith("PENDULA") ? 2.6f : 1.6f;
        return same == 0 ? new BasicStroke(width, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND)
                : new BasicStroke(width, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1,
                        new float[] {5, 2 + 2 * same}, 0);
    }

    /** Told apart without colours, too. */
    private Shape shape(int line) {
        Path2D path = new Path2D.Double();
        switch (line % 4) {
            case 0:
                return new Ellipse2D.Double(-4, -4, 8, 8);
            case 1:
                return new Rectangle2D.Double(-3.5, -3.5, 7, 7);
            case 2:
                path.moveTo(0, -4.5);
                path.lineTo(4.5, 3.5);
                path.lineTo(-4.5, 3.5);
                break;
            default:
                path.moveTo(0, -5);
                path.lineTo(5, 0);
                path.lineTo(0, 5);
                path.lineTo(-5, 0);
                break;
        }
        path.closePath();
        return path;
    }

    private CategoryAxis categoryAxis() {
        CategoryAxis axis = new CategoryAxis(x);
        look(axis);
        axis.setMaximumCategoryLabelLines(2);
        axis.setMaximumCategoryLabelWidthRatio(kind == Kind.BARS ? 0.5f : 1);
        return axis;
    }

    private ValueAxis logAxis(String label) {
        DecadeAxis axis = new DecadeAxis(label, format());
        axis.setSmallestValue(1e-3);
        look(axis);
        return axis;
    }

    private static void look(Axis axis) {
        axis.setLabelFont(font(12));
        axis.setLabelPaint(INK);
        axis.setTickLabelFont(font(12));
        axis.setTickLabelPaint(INK);
        axis.setAxisLinePaint(FAINT);
        axis.setTickMarkPaint(FAINT);
    }

    private static Font font(int size) {
        return new Font(Font.SANS_SERIF, Font.PLAIN, size);
    }

    /** 0.1, 1, 10, 1,000. */
    private static NumberFormat format() {
        return new NumberFormat() {
            private static final long serialVersionUID = 1;

            @Override
            public StringBuffer format(double number, StringBuffer to, FieldPosition position) {
                return to.append(new DecimalFormat(number >= 10 ? "#,##0" : number >= 1 ? "0.#" : "0.###", ENGLISH)
                        .format(number));
            }

            @Override
            public StringBuffer format(long number, StringBuffer to, FieldPosition position) {
                return format((double) number, to, position);
            }

            @Override
            public Number parse(String source, ParsePosition position) {
                throw new UnsupportedOperationException();
            }
        };
    }
}
