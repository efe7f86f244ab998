package dev.tenon.platform.bench.report.svg;

import java.util.Arrays;

/// How often values lie where, with the median and two percentiles marked.
public final class Histogram {
    private static final double WIDTH = 368;
    private static final double HEIGHT = 150;
    private static final double LEFT = 8;
    private static final double TOP = 24;
    private static final double BOTTOM = 22;
    private static final double LABEL = 70;
    private static final int BINS = 48;
    private static final double SHOWN = 0.995;

    private Histogram() {}

    /// {@return the diagram}
    ///
    /// @param title what it shows
    /// @param unit of the values
    /// @param samples at least one; those above the 99.5th percentile are not drawn, but counted
    public static String of(String title, String unit, double... samples) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        double low = sorted[0];
        double high = percentile(sorted, SHOWN);
        double width = high > low ? (high - low) / BINS : 1;
        int[] counts = new int[BINS];
        int beyond = 0;
        for (double sample : sorted) {
            int bin = (int) ((sample - low) / width);
            if (sample > high) {
                beyond++;
            } else {
                counts[Math.min(BINS - 1, bin)]++;
            }
        }
        int most = Arrays.stream(counts).max().orElse(1);
        Svg svg = new Svg(WIDTH, HEIGHT, title);
        Axis x = new Axis(low, low + BINS * width, LEFT, WIDTH - LEFT, false);
        Axis y = new Axis(0, Math.max(1, most), HEIGHT - BOTTOM, TOP, false);
        for (int i = 0; i < BINS; i++) {
            if (counts[i] > 0) {
                double from = low + i * width;
                String told = counts[i] + " of " + samples.length + " from " + Svg.number(from) + " " + unit;
                svg.rect(
                        "s0",
                        x.at(from),
                        y.at(counts[i]),
                        x.at(from + width) - x.at(from) - 1,
                        HEIGHT - BOTTOM - y.at(counts[i]),
                        told);
            }
        }
        svg.line("grid", LEFT, HEIGHT - BOTTOM, WIDTH - LEFT, HEIGHT - BOTTOM);
        double free = 0;
        double end = WIDTH - 2 * LABEL;
        for (double part : new double[] {0.5, 0.9, 0.99}) {
            double at = x.at(percentile(sorted, part));
            svg.line("limit", at, TOP - 2, at, HEIGHT - BOTTOM);
            String label = "p" + Math.round(100 * part) + " " + Svg.number(percentile(sorted, part));
            double begin = Math.clamp(at - 20, free, end - LABEL + 4);
            svg.text("small", begin, TOP - 8, label);
            free = begin + LABEL;
            end += LABEL;
        }
        svg.text("small", LEFT, HEIGHT - 6, Svg.number(low) + " " + unit);
        svg.text(
                "e small",
                WIDTH - LEFT,
                HEIGHT - 6,
                Svg.number(high) + " " + unit + (beyond > 0 ? ", " + beyond + " above" : ""));
        return svg.end();
    }

    private static double percentile(double[] sorted, double part) {
        return sorted[Math.max(0, (int) Math.ceil(part * sorted.length) - 1)];
    }
}
