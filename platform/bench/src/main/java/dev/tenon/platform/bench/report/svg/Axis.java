package dev.tenon.platform.bench.report.svg;

import java.util.ArrayList;
import java.util.List;

/// A scale from values to coordinates, linear or logarithmic.
///
/// @param low value at the start
/// @param high value at the end, larger than `low`
/// @param from coordinate of `low`
/// @param to coordinate of `high`
/// @param log whether it is logarithmic; then `low` is positive
record Axis(double low, double high, double from, double to, boolean log) {
    private static final int TICKS = 5;

    /// {@return an axis from 0 with a round end}
    static Axis fromZero(double most, double from, double to) {
        double step = step(most / TICKS);
        double high = most > 0 ? Math.ceil(most / step - 1e-9) * step : 1;
        return new Axis(0, high, from, to, false);
    }

    /// {@return an axis of powers of ten, or of their neighbours, around positive values}
    static Axis logarithmic(double least, double most, double from, double to) {
        return new Axis(least / 1.3, Math.max(most, least * 1.1) * 1.3, from, to, true);
    }

    /// {@return the coordinate of a value}
    double at(double value) {
        double part = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
        return from + part * (to - from);
    }

    /// {@return round values between the ends}
    List<Double> ticks() {
        List<Double> ticks = new ArrayList<>();
        if (!log) {
            double step = step((high - low) / TICKS);
            for (int i = 0; low + i * step <= high + step / 1000; i++) {
                ticks.add(low + i * step);
            }
            return ticks;
        }
        double[] leads = high / low > 300 ? new double[] {1} : new double[] {1, 2, 5};
        for (double decade = Math.pow(10, Math.floor(Math.log10(low))); decade <= high; decade *= 10) {
            for (double lead : leads) {
                if (lead * decade >= low && lead * decade <= high) {
                    ticks.add(lead * decade);
                }
            }
        }
        return ticks;
    }

    /// {@return the next of 1, 2, 2.5 or 5 times a power of ten}
    private static double step(double least) {
        if (!(least > 0)) {
            return 1;
        }
        double decade = Math.pow(10, Math.floor(Math.log10(least)));
        for (double lead : new double[] {1, 2, 2.5, 5}) {
            if (lead * decade >= least * (1 - 1e-9)) {
                return lead * decade;
            }
        }
        return 10 * decade;
    }
}
