package dev.tenon.platform.bench.report.svg;

import java.util.Locale;

/// Writes an SVG element. Colours are classes of the page's style sheet: `s0` to `s7` fill, `l0` to
/// `l7` stroke. For one thread.
public final class Svg {
    /// How many colours there are.
    static final int COLORS = 8;

    private final StringBuilder text = new StringBuilder();

    /// Begins a drawing.
    ///
    /// @param width of the drawing's coordinates
    /// @param height of the drawing's coordinates
    /// @param label what it shows, for those who do not see it
    Svg(double width, double height, String label) {
        text.append(String.format(
                Locale.ROOT,
                "<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-label=\"%s\">%n",
                width,
                height,
                width,
                height,
                escape(label)));
    }

    /// Draws a rectangle.
    ///
    /// @param title what a pointer on it shows; empty for nothing
    Svg rect(String css, double x, double y, double width, double height, String title) {
        return add(
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1.5\">%s</rect>%n",
                css, x, y, Math.max(0, width), Math.max(0, height), title(title));
    }

    /// Draws a line.
    Svg line(String css, double x1, double y1, double x2, double y2) {
        return add("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>%n", css, x1, y1, x2, y2);
    }

    /// Draws a circle.
    Svg circle(String css, double x, double y, double radius, String title) {
        return add(
                "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">%s</circle>%n",
                css, x, y, radius, title(title));
    }

    /// Draws lines from point to point.
    ///
    /// @param points x and y in turns
    Svg polyline(String css, double... points) {
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < points.length; i += 2) {
            list.append(String.format(Locale.ROOT, "%.1f,%.1f ", points[i], points[i + 1]));
        }
        return add(
                "<polyline class=\"%s\" points=\"%s\"/>%n", css, list.toString().strip());
    }

    /// Writes text.
    ///
    /// @param css its classes: `e` ends at x, `m` has its middle there
    Svg text(String css, double x, double y, String what) {
        return add("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>%n", css, x, y, escape(what));
    }

    private Svg add(String format, Object... arguments) {
        text.append(String.format(Locale.ROOT, format, arguments));
        return this;
    }

    private static String title(String title) {
        return title.isEmpty() ? "" : "<title>" + escape(title) + "</title>";
    }

    /// {@return the drawing}
    String end() {
        return text.append("</svg>\n").toString();
    }

    /// {@return text as it may stand in an element or attribute}
    public static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /// {@return the class of a colour that fills}
    static String fill(int color) {
        return "s" + color % COLORS;
    }

    /// {@return the class of a colour of lines}
    static String stroke(int color) {
        return "l" + color % COLORS;
    }

    /// {@return a number as a diagram shows it: three significant digits, thousands apart}
    public static String number(double value) {
        double size = Math.abs(value);
        String format = size >= 100 || size == 0 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 0.01 ? "%.2f" : "%.1e";
        return String.format(Locale.ROOT, format, value);
    }

    /// {@return a round number as an axis shows it}
    static String tick(double value) {
        String text = number(value);
        return text.contains("e") || !text.contains(".") ? text : text.replaceAll("\\.?0+$", "");
    }
}
