package dev.tenon.platform.cli.text;

import java.util.Locale;

/// Writes sizes and counts for people.
public final class Sizes {
    private Sizes() {}

    /// {@return bytes as B, KiB, MiB or GiB}
    ///
    /// @param bytes a size
    public static String bytes(long bytes) {
        if (bytes < 1024) {
            return bytes + " B";
        }
        double value = bytes / 1024.0;
        String[] units = {"KiB", "MiB", "GiB", "TiB"};
        int unit = 0;
        while (value >= 1024 && unit < units.length - 1) {
            value /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, "%.2f %s", value, units[unit]);
    }

    /// {@return a number of parameters as K, M or B}
    ///
    /// @param n the number
    public static String parameters(long n) {
        if (n < 1_000) {
            return Long.toString(n);
        }
        if (n < 1_000_000) {
            return String.format(Locale.ROOT, "%.2f K", n / 1e3);
        }
        return n < 1_000_000_000
                ? String.format(Locale.ROOT, "%.2f M", n / 1e6)
                : String.format(Locale.ROOT, "%.2f B", n / 1e9);
    }
}
