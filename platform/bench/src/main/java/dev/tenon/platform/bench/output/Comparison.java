package dev.tenon.platform.bench.output;

import dev.tenon.platform.bench.measure.Statistics;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;

/// Speeds of another program, measured in turns with ours: after each of our repetitions one of theirs
/// without flash attention and one with. Their better setting counts.
public final class Comparison {
    private final double[] off;
    private final double[] on;
    private final Set<String> builds = new LinkedHashSet<>();

    /// Creates an empty comparison.
    ///
    /// @param rounds how often both will run
    public Comparison(int rounds) {
        off = new double[rounds];
        on = new double[rounds];
    }

    /// Notes a round.
    ///
    /// @param round index
    /// @param without their run without flash attention; null in all rounds where they cannot
    /// @param with their run with it
    public void add(int round, LlamaBench.Sample without, LlamaBench.Sample with) {
        on[round] = with.tokensPerSecond();
        if (without != null) {
            off[round] = without.tokensPerSecond();
            builds.add(without.build());
        }
        builds.add(with.build());
    }

    /// {@return whether flash attention was faster on average}
    boolean flashAttention() {
        return Statistics.mean(on) > Statistics.mean(off);
    }

    /// {@return tokens a second of their better setting, by round}
    double[] samplesPerSecond() {
        return flashAttention() ? on.clone() : off.clone();
    }

    /// {@return our speed over theirs, by round}
    ///
    /// @param ours our tokens a second, by round
    double[] ratios(double[] ours) {
        double[] theirs = samplesPerSecond();
        double[] ratios = new double[theirs.length];
        Arrays.setAll(ratios, i -> ours[i] / theirs[i]);
        return ratios;
    }

    /// {@return commit and number of their build}
    String build() {
        return String.join(", ", builds);
    }
}
