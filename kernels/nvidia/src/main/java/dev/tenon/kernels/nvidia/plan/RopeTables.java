package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Weight;
import java.util.Optional;

/// The frequencies of rotations.
final class RopeTables {
    private RopeTables() {}

    /// What two rotations share if their tables are the same.
    record Key(int ropeDim, float freqBase, float freqScale, Optional<Weight> freqFactors) {}

    static Key key(RopeParams p) {
        return new Key(p.ropeDim(), p.freqBase(), p.freqScale(), p.freqFactors());
    }

    /// {@return the angle of each pair at position 1}
    ///
    /// @param p the rotation
    /// @param factors divisors, one a pair, or null
    static double[] frequencies(RopeParams p, float[] factors) {
        double[] frequencies = new double[p.ropeDim() / 2];
        for (int i = 0; i < frequencies.length; i++) {
            double frequency = p.freqScale() * Math.pow(p.freqBase(), -2.0 * i / p.ropeDim());
            frequencies[i] = factors == null ? frequency : frequency / factors[i];
        }
        return frequencies;
    }
}
