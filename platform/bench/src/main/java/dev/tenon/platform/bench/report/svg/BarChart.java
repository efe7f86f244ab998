package dev.tenon.platform.bench.report.svg;

import java.util.List;

/// Horizontal bars, one below the other, in groups; with intervals, and the limit as a mark.
public final class BarChart {
    /// A bar.
    ///
    /// @param group what it belongs to; bars of a group stand together
    /// @param name its name in the group, which gives its colour
    /// @param value its length
    /// @param half half of its interval; not finite: not drawn
    /// @param limit its limit; NaN for none
    public record Bar(String group, String name, double value, double half, double limit) {}

    private static final double WIDTH = 820;
    private static final double LABELS = 300;
    private static final double VALUES = 190;
    private static final double ROW = 19;
    private static final double BAR = 13;
    private static final double GAP = 7;
    private static final double TOP = 6;
    /// A limit farther away than this many of the longest bar is not shown, but told.
    private static final double FAR = 4;

    private BarChart() {}

    /// {@return the diagram}
    ///
    /// @param title what it shows
    /// @param unit of the values
    /// @param bars at least one
    /// @param names names in the order of their colours
    public static String of(String title, String unit, List<Bar> bars, List<String> names) {
        double longest = bars.stream().mapToDouble(Bar::value).max().orElse(1);
        double most = bars.stream()
                .mapToDouble(bar -> bar.limit <= FAR * longest ? Math.max(bar.value, bar.limit) : bar.value)
                .max()
                .orElse(1);
        long groups = bars.stream().map(Bar::group).distinct().count();
        double height = TOP + bars.size() * ROW + groups * GAP;
        Svg svg = new Svg(WIDTH, height, title);
        Axis axis = new Axis(0, most > 0 ? most : 1, LABELS, WIDTH - VALUES, false);
        double y = TOP;
        String group = null;
        boolean many = names.size() > 1;
        for (Bar bar : bars) {
            boolean first = !bar.group.equals(group);
            y += first && group != null ? GAP : 0;
            group = bar.group;
            double middle = y + ROW / 2;
            String label = first ? bar.group : "";
            svg.text("e", LABELS - 8, middle + 4, label);
            String told = bar.group + ", " + bar.name + ": " + Svg.number(bar.value) + " " + unit;
            svg.rect(
                    Svg.fill(Math.max(0, names.indexOf(bar.name))),
                    LABELS,
                    middle - BAR / 2,
                    axis.at(bar.value) - LABELS,
                    BAR,
                    told);
            double end = axis.at(bar.value);
            if (Double.isFinite(bar.half) && bar.half > 0) {
                double low = axis.at(Math.max(0, bar.value - bar.half));
                double high = Math.min(axis.at(bar.value + bar.half), WIDTH - VALUES + 20);
                svg.line("i", low, middle, high, middle);
                svg.line("i", low, middle - 3, low, middle + 3);
                svg.line("i", high, middle - 3, high, middle + 3);
                end = Math.max(end, high);
            }
            String value = Svg.number(bar.value) + " " + unit;
            if (bar.limit > 0) {
                value += String.format(java.util.Locale.ROOT, "  %.0f %% of limit", 100 * bar.value / bar.limit);
                if (bar.limit <= most) {
                    double x = axis.at(bar.limit);
                    svg.line("limit", x, middle - ROW / 2 + 1, x, middle + ROW / 2 - 1);
                    end = Math.abs(x - end) < 90 ? Math.max(end, x) : end;
                }
            }
            svg.text("v", end + 6, middle + 4, value);
            y += ROW;
        }
        return svg.end() + (many ? Legend.of(names) : "");
    }
}
