package dev.tenon.platform.bench.report;

import dev.tenon.platform.bench.measure.Interval;
import java.util.Locale;

/// Numbers as reports show them.
final class Numbers {
    private static final int DIGITS = 4;

    private Numbers() {}

    /// {@return a value with about four significant digits}
    static String plain(double value) {
        return String.format(Locale.ROOT, format(value), value);
    }

    /// {@return a mean with half of its 95 % interval, where it has one; of single events the
    ///     median and others}
    static String withInterval(Measurement m) {
        String format = format(m.mean());
        if (m.isDistribution()) {
            return String.format(
                    Locale.ROOT,
                    format + " (p50 " + format + ", p90 " + format + ", p99 " + format + ")",
                    m.mean(),
                    m.percentile(50),
                    m.percentile(90),
                    m.percentile(99));
        }
        Interval interval = m.interval();
        return Double.isFinite(interval.half())
                ? String.format(Locale.ROOT, format + " ± " + format, m.mean(), interval.half())
                : plain(m.mean());
    }

    private static String format(double value) {
        double size = Math.abs(value);
        if (size != 0 && size < 0.001) {
            return "%.2e";
        }
        int before = size < 1 ? 1 : 1 + (int) Math.log10(size);
        return "%." + Math.clamp(DIGITS - before, 0, 3) + "f";
    }
}
