package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.Weight;
import java.util.Optional;

/// The frequencies of rotations.
final class RopeTables {
    private RopeTables() {}

    /// What two rotations share if their tables are the same.
    record Key(
            int ropeDim,
            float freqBase,
            float freqScale,
            Optional<Weight> freqFactors,
            Optional<Yarn> yarn,
            float attentionFactor) {}

    static Key key(RopeParams p) {
        return new Key(p.ropeDim(), p.freqBase(), p.freqScale(), p.freqFactors(), p.yarn(), p.attentionFactor());
    }

    /// {@return the angle of each pair at position 1}
    ///
    /// @param p the rotation
    /// @param factors divisors, one a pair, or null
    static double[] frequencies(RopeParams p, float[] factors) {
        double[] frequencies = new double[p.ropeDim() / 2];
        for (int i = 0; i < frequencies.length; i++) {
            frequencies[i] = factors == null ? p.frequency(i) : p.frequency(i) / factors[i];
        }
        return frequencies;
    }
}
