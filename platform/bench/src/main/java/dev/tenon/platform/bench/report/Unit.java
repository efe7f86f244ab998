package dev.tenon.platform.bench.report;

import java.util.Arrays;

/// What a measurement counts, and which direction is better.
public enum Unit {
    /// Tokens a second.
    TOKENS_PER_SECOND("tok/s", true),
    /// 10⁹ bytes a second.
    GIGABYTES_PER_SECOND("GB/s", true),
    /// 10⁹ floating-point operations a second, a multiplication and an addition counted as two.
    GIGAFLOPS("GFLOP/s", true),
    /// Requests a second.
    REQUESTS_PER_SECOND("req/s", true),
    /// Milliseconds.
    MILLIS("ms", false),
    /// Microseconds.
    MICROS("µs", false),
    /// 2²⁰ bytes.
    MEBIBYTES("MiB", false),
    /// Perplexity.
    PERPLEXITY("PPL", false),
    /// Normalised mean squared error.
    ERROR("NMSE", false),
    /// A part of a whole, as percent.
    PERCENT("%", false);

    private final String label;
    private final boolean higherIsBetter;

    Unit(String label, boolean higherIsBetter) {
        this.label = label;
        this.higherIsBetter = higherIsBetter;
    }

    /// {@return how it is written}
    public String label() {
        return label;
    }

    /// {@return whether more is better}
    public boolean higherIsBetter() {
        return higherIsBetter;
    }

    /// {@return the unit that is written so}
    ///
    /// @throws IllegalArgumentException if there is none
    public static Unit of(String label) {
        return Arrays.stream(values())
                .filter(unit -> unit.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown unit '" + label + "'"));
    }
}
