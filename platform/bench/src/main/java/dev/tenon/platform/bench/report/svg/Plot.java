package dev.tenon.platform.bench.report.svg;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Points on two axes: lines of series, or a roofline.
public final class Plot {
    /// A point.
    ///
    /// @param name what a pointer on it shows, and its label where there is space
    /// @param half half of its interval; not finite: not drawn
    public record Point(String name, double x, double y, double half) {}

    /// Points of one colour.
    ///
    /// @param name its name
    /// @param points its points
    public record Series(String name, List<Point> points) {
        public Series {
            points =
                    points.stream().sorted(Comparator.comparingDouble(Point::x)).toList();
        }
    }

    private static final double WIDTH = 820;
    private static final double HEIGHT = 300;
    private static final double LEFT = 70;
    private static final double RIGHT = 24;
    private static final double TOP = 24;
    private static final double BOTTOM = 44;
    private static final double LETTER = 6.2;
    private static final double LINE = 12;

    private Plot() {}

    /// {@return lines}
    ///
    /// @param title what they show
    /// @param xName what the x axis counts
    /// @param yName what the y axis counts
    /// @param series at least one
    public static String lines(String title, String xName, String yName, List<Series> series) {
        Svg svg = new Svg(WIDTH, HEIGHT, title);
        double least = series.stream()
                .flatMap(s -> s.points.stream())
                .mapToDouble(Point::x)
                .min()
                .orElse(0);
        double most = series.stream()
                .flatMap(s -> s.points.stream())
                .mapToDouble(Point::x)
                .max()
                .orElse(1);
        boolean log = least > 0 && most / least >= 8;
        Axis x = log
                ? Axis.logarithmic(least, most, LEFT, WIDTH - RIGHT)
                : Axis.fromZero(most * 1.02, LEFT, WIDTH - RIGHT);
        double highest = series.stream()
                .flatMap(s -> s.points.stream())
                .mapToDouble(p -> p.y + (Double.isFinite(p.half) && p.half < p.y ? p.half : 0))
                .max()
                .orElse(1);
        Axis y = Axis.fromZero(highest, HEIGHT - BOTTOM, TOP);
        grid(svg, x, y, xName, yName);
        for (int i = 0; i < series.size(); i++) {
            List<Point> points = series.get(i).points;
            double[] line = new double[2 * points.size()];
            for (int k = 0; k < points.size(); k++) {
                line[2 * k] = x.at(points.get(k).x);
                line[2 * k + 1] = y.at(points.get(k).y);
            }
            svg.polyline("line " + Svg.stroke(i), line);
            for (Point p : points) {
                if (Double.isFinite(p.half) && p.half < p.y) {
                    svg.line(Svg.stroke(i), x.at(p.x), y.at(p.y - p.half), x.at(p.x), y.at(p.y + p.half));
                }
                svg.circle(Svg.fill(i), x.at(p.x), y.at(p.y), 3.5, told(p, xName, yName));
                svg.text("m small", x.at(p.x), y.at(p.y) - 8, Svg.number(p.y));
            }
        }
        return svg.end() + Legend.of(series.stream().map(Series::name).toList());
    }

    /// {@return a roofline: what arithmetic intensity allows, and what was reached}
    ///
    /// @param title what it shows
    /// @param bandwidth 10⁹ bytes a second of memory; NaN if unknown
    /// @param peak most operations a second that were seen, in 10⁹
    /// @param series points: x in operations a byte, y in 10⁹ operations a second
    public static String roofline(String title, double bandwidth, double peak, List<Series> series) {
        Svg svg = new Svg(WIDTH, HEIGHT + 60, title);
        List<Point> all = series.stream().flatMap(s -> s.points.stream()).toList();
        Axis x = Axis.logarithmic(
                all.stream().mapToDouble(Point::x).min().orElse(1) / 1.5,
                all.stream().mapToDouble(Point::x).max().orElse(10) * 1.5,
                LEFT,
                WIDTH - RIGHT);
        Axis y = Axis.logarithmic(
                all.stream().mapToDouble(Point::y).min().orElse(1) / 1.5,
                Math.max(peak, all.stream().mapToDouble(Point::y).max().orElse(10)) * 1.5,
                HEIGHT + 60 - BOTTOM,
                TOP);
        grid(svg, x, y, "floating-point operations a byte", "GFLOP/s");
        if (bandwidth > 0) {
            double low = Math.max(x.low(), y.low() / bandwidth);
            double knee = Math.clamp(peak / bandwidth, low, x.high());
            svg.polyline(
                    "roof",
                    x.at(low),
                    y.at(low * bandwidth),
                    x.at(knee),
                    y.at(Math.min(peak, knee * bandwidth)),
                    x.at(x.high()),
                    y.at(peak));
            svg.text("v", x.at(low) + 8, y.at(low * bandwidth) - 12, Svg.number(bandwidth) + " GB/s");
            svg.text("e", x.at(x.high()) - 4, y.at(peak) - 6, Svg.number(peak) + " GFLOP/s, the best seen");
        }
        List<double[]> taken = new ArrayList<>();
        for (int i = 0; i < series.size(); i++) {
            for (Point p : series.get(i).points) {
                svg.circle("dot " + Svg.fill(i), x.at(p.x), y.at(p.y), 3.5, told(p, "flop/byte", "GFLOP/s"));
            }
        }
        for (Series one : series) {
            for (Point p : one.points) {
                double[] box = {x.at(p.x) + 6, y.at(p.y) - LINE / 2, LETTER * p.name.length(), LINE};
                if (box[0] + box[2] < WIDTH && taken.stream().noneMatch(other -> overlap(box, other))) {
                    taken.add(box);
                    svg.text("small", box[0], y.at(p.y) + 3.5, p.name);
                }
            }
        }
        return svg.end() + Legend.of(series.stream().map(Series::name).toList());
    }

    private static boolean overlap(double[] a, double[] b) {
        return a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3];
    }

    private static String told(Point p, String xName, String yName) {
        return p.name + ": " + Svg.number(p.y) + " " + yName + " at " + Svg.number(p.x) + " " + xName;
    }

    private static void grid(Svg svg, Axis x, Axis y, String xName, String yName) {
        for (double tick : y.ticks()) {
            svg.line("grid", x.from(), y.at(tick), x.to(), y.at(tick));
            svg.text("e small", x.from() - 6, y.at(tick) + 4, Svg.tick(tick));
        }
        for (double tick : x.ticks()) {
            svg.line("grid", x.at(tick), y.from(), x.at(tick), y.to());
            svg.text("m small", x.at(tick), y.from() + 16, Svg.tick(tick));
        }
        svg.text("m", (x.from() + x.to()) / 2, y.from() + 36, xName);
        svg.text("v", 4, y.to() - 12, yName);
    }
}
